/** The extraction options of a job, beyond formats. Plain JSON: stored with the job. */
export interface ExtractOptions {
  /** The name of a type of the registry, or `auto`. */
  readonly type: string | null;
  /** As the caller wrote them; they were compiled once to see that they can be. */
  readonly rules: unknown;
  /** JSON Schema that what the rules find is checked against. */
  readonly schema: unknown;
  /** Ask a language model for required fields that the rules left empty. */
  readonly llm: boolean | LlmOptions;
}

export interface LlmOptions {
  /** Fields whose values need not stand on the page word for word; `all` for every one. */
  readonly derived: readonly string[] | 'all';
}

/** Which part of a web page is its content. Plain JSON: stored with the job. */
export interface PartOptions {
  /** False: the whole page, navigation included. */
  readonly onlyMain: boolean;
  /** CSS selectors. With any, the content is the matching elements, and nothing else decides. */
  readonly includeTags: readonly string[];
  /** CSS selectors of elements that are removed first. */
  readonly excludeTags: readonly string[];
}

/** The main content of a page. */
export interface ContentRecord {
  /** The main content as HTML; null for documents other than web pages. */
  readonly html: string | null;
  readonly text: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly siteName: string | null;
  readonly language: string | null;
  readonly excerpt: string | null;
  readonly wordCount: number;
  readonly readingMinutes: number;
  /** What kind of page it looks like; of other bodies, what they are. */
  readonly pageType: string | null;
}

/** Where a value came from, and how much it can be relied on (0 to 1). */
export interface ValueOrigin {
  readonly source: string;
  readonly confidence: number;
}

export interface ExtractProblem {
  /** Empty: the whole record. */
  readonly path: string;
  readonly message: string;
  /** The code of an error that was thrown; missing for a value that is missing or wrong. */
  readonly code?: 'PLUGIN_FAILED';
}

/** Content of a page that is not in its results, because it lies beyond a limit of reading or could not be read. */
export interface PageWarning {
  readonly code: string;
  /** A sentence for people. */
  readonly message: string;
}

/** Pages of a PDF. */
export interface PdfPages {
  readonly read: number;
  readonly total: number;
}

/** Required fields that the rules left empty; a language model may find them in the text. */
export interface Unanswered {
  /** JSON Schema by field. */
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly text: string;
}

/** What was read beyond links and metadata; each only where it was asked for. */
export interface DeepRecord {
  /** The page without scripts, of the parts that were asked for; only when the request names parts. */
  readonly html?: string;
  readonly text?: string;
  readonly markdown?: string;
  readonly content?: ContentRecord;
  readonly structured?: unknown;
  readonly extracted?: Readonly<Record<string, unknown>> | null;
  /** The type that was read; null when `auto` found none. */
  readonly extractedType?: string | null;
  /** How likely the page is of that type (0 to 1), by evidence on the page; 0 without a type. */
  readonly extractedProbability?: number;
  readonly extractedBy?: Readonly<Record<string, ValueOrigin>>;
  readonly extractProblems?: readonly ExtractProblem[];
  /** The call of a language model, where one was made for the page. */
  readonly llm?: LlmCall;
  /** Missing when all of the page was read. */
  readonly warnings?: readonly PageWarning[];
  readonly pdfPages?: PdfPages;
}

/** What a call of a language model has cost. */
export interface LlmCall {
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The server did not count: the numbers are estimates. */
  readonly isEstimated: boolean;
  /** The answer was known already, and cost nothing. */
  readonly isCached: boolean;
}
