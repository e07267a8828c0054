import type { ErrorCode } from '../errors/registry.ts';
import type { OutcomeKind } from './attempt.ts';
import type { DeepRecord } from './extraction.ts';
import type { ContentHash, JobSeq, TaskId } from './ids.ts';
import type { RenderAction } from './render.ts';
import type { PagePart } from './retention.ts';

export interface PageLink {
  readonly url: string;
  /** The anchor text, or the alt text of the image in it. */
  readonly text: string;
  readonly rel: string;
  /** Where it stood: a, area, frame, iframe, form, refresh, canonical, next, prev, link (an element), header (`Link:`). */
  readonly from: string;
}

/** An item of microdata or RDFa, in the JSON shape of the HTML standard: every property holds a list of values. */
export interface StructuredItem {
  readonly type: readonly string[];
  readonly id?: string;
  readonly properties: Readonly<Record<string, readonly (string | StructuredItem)[]>>;
}

export interface PageImage {
  readonly url: string;
  readonly alt: string;
}

export interface PageMetadata {
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly canonical: string | null;
  readonly robots: string | null;
  readonly charset: string | null;
  readonly headings: readonly { readonly level: number; readonly text: string }[];
  /** Every other named meta tag, first value wins. */
  readonly meta: Readonly<Record<string, string>>;
  /** Keys without their `og:`; related ones (`article:author` …) whole. A list where a property is repeated. */
  readonly openGraph: Readonly<Record<string, string | readonly string[]>>;
  /** Keys without their `twitter:`. */
  readonly twitter: Readonly<Record<string, string>>;
  readonly hreflang: readonly { readonly lang: string; readonly url: string }[];
  readonly jsonLd: readonly unknown[];
  readonly microdata: readonly StructuredItem[];
  readonly rdfa: readonly StructuredItem[];
  readonly feeds: readonly { readonly url: string; readonly type: string; readonly title: string }[];
  readonly pagination: { readonly next: string | null; readonly prev: string | null };
  readonly images: readonly PageImage[];
}

/** Bytes that belong to a page and lie in the blob store beside its body. */
export interface ArtifactRef {
  readonly contentHash: ContentHash;
  readonly contentType: string;
  readonly bytes: number;
}

/** What the page's scripts asked for and got. */
export interface XhrRecord {
  readonly url: string;
  readonly method: string;
  readonly statusCode: number;
  readonly contentType: string | null;
  readonly isTooLarge: boolean;
  /** The answer, when it is short and text. */
  readonly text?: string;
  /** An answer that is long or no text, stored apart. */
  readonly body?: ArtifactRef;
}

export interface ActionRecord {
  readonly type: RenderAction['type'];
  readonly ms: number;
  readonly value?: unknown;
  readonly picture?: ArtifactRef;
}

/** The results of rendering the page in a browser, besides its document. Present exactly when it was rendered. */
export interface RenderedRecord {
  readonly screenshot?: ArtifactRef;
  readonly pdf?: ArtifactRef;
  readonly xhr?: readonly XhrRecord[];
  readonly actions?: readonly ActionRecord[];
  readonly consoleErrors?: readonly string[];
  /**
   * The document as the server sent it; null when that is not known. Missing when it was not requested, or when the
   * page's body is what was sent.
   */
  readonly raw?: { readonly contentHash: ContentHash; readonly charset: string } | null;
  /** The step that failed on the page; everything else is what there was by then. */
  readonly failure?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly step: string | null;
    /** The page at that moment, and its HTML. */
    readonly screenshot?: ArtifactRef;
    readonly html?: ArtifactRef;
  };
}

/** A cookie that the response set, with its attributes as far as the site stated them. */
export interface SetCookie {
  readonly name: string;
  /** `[hidden]` where the page was fetched with stored credentials that its reader may not see. */
  readonly value: string;
  readonly domain: string | null;
  readonly path: string | null;
  /** ISO 8601; null: until the browser is closed. */
  readonly expiresAt: string | null;
  readonly isSecure: boolean;
  readonly isHttpOnly: boolean;
  readonly sameSite: 'strict' | 'lax' | 'none' | null;
}

/** A URL that answered with a redirect. */
export interface PageRedirect {
  readonly url: string;
  readonly statusCode: number;
}

/** What the response was, besides its body. Missing in records of earlier versions. */
export interface ResponseRecord {
  readonly outcome: OutcomeKind;
  /** What decided the outcome; missing for a page that is plainly ok. */
  readonly evidence?: string;
  /** Headers of the last response, with names in lower case. Cookies are in `cookies`. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly cookies?: readonly SetCookie[];
  /** In the order they were followed, over all hosts; missing when there was none. */
  readonly redirects?: readonly PageRedirect[];
}

/** What extraction found; kept compressed beside the page's row. */
export interface PageRecord extends DeepRecord, Partial<ResponseRecord> {
  /** Comes first, so that its presence can be read from the beginning of the JSON text. */
  readonly rendered?: RenderedRecord;
  /** The body was not requested but taken from an earlier page of the account, as `maxAge` allows. */
  readonly cache?: { readonly hit: true; readonly storedAt: string };
  /** The host said that the page has not changed since the crawl before; the body is that of then. */
  readonly notModified?: true;
  readonly metadata: PageMetadata | null;
  readonly links: readonly PageLink[];
  /** Only when the job asked for the format. */
  readonly html?: string;
  /** The visible text, as earlier versions kept it for jobs with `search`; now it is read from the body. */
  readonly searchText?: string;
}

/** One stored page, at most one per task. A failed task may have one too: what the host answered. */
export interface NewPage {
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly contentType: string | null;
  readonly charset: string | null;
  readonly fetchedAt: number;
  readonly depth: number;
  readonly contentHash: ContentHash | null;
  readonly textHash: string | null;
  readonly bytes: number;
  readonly title: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The URL whose page this one repeats: by rel=canonical, or because an earlier page of the job has the same body. */
  readonly duplicateOf: string | null;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  /** A PageRecord as `packRecord` packs it. */
  readonly record: Uint8Array | null;
}

/** What a page has of which no content was read. */
export const WITHOUT_CONTENT = {
  contentType: null,
  charset: null,
  contentHash: null,
  textHash: null,
  bytes: 0,
  title: null,
  etag: null,
  lastModified: null,
  duplicateOf: null,
  errorCode: null,
  errorMessage: null,
  record: null,
} as const satisfies Partial<NewPage>;

export interface Page extends NewPage {
  /** Parts that were deleted because their time was over; missing when all are there. */
  readonly expired?: readonly PagePart[];
  readonly taskId: TaskId;
  readonly jobSeq: JobSeq;
}
