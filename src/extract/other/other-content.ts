import type { PageLink } from '../../model/page.ts';

/** What a body is that is no web page. `binary`: nothing in it is for reading. */
export type OtherKind = 'json' | 'xml' | 'feed' | 'csv' | 'text' | 'pdf' | 'binary';

/** What kept a body from being read whole. It never keeps it from being stored. */
export type OtherProblemCode =
  | 'json-broken'
  | 'json-too-large'
  | 'xml-broken'
  | 'xml-too-large'
  | 'csv-open-quote'
  | 'csv-ragged'
  | 'csv-too-large'
  | 'feed-too-large'
  | 'text-cut'
  | 'pdf-broken'
  | 'pdf-encrypted'
  | 'pdf-no-text'
  | 'pdf-page-limit'
  | 'pdf-time-limit'
  | 'pdf-memory-limit';

export interface OtherProblem {
  readonly code: OtherProblemCode;
  /** A sentence for people. */
  readonly message: string;
}

export interface FeedItem {
  readonly id: string | null;
  /** Absolute. */
  readonly url: string | null;
  readonly title: string | null;
  /** As text, whatever the feed wrote it in. */
  readonly summary: string | null;
  /** The whole content as the feed has it, where it has it. */
  readonly html: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly categories: readonly string[];
  readonly image: string | null;
  readonly enclosures: readonly FeedEnclosure[];
}

export interface FeedEnclosure {
  readonly url: string;
  readonly type: string | null;
  readonly bytes: number | null;
}

export interface Feed {
  readonly format: 'rss' | 'rdf' | 'atom' | 'json';
  readonly version: string | null;
  readonly title: string | null;
  readonly description: string | null;
  /** The site that the feed is about. */
  readonly url: string | null;
  /** The next part of a feed that comes in parts. */
  readonly nextUrl: string | null;
  readonly language: string | null;
  readonly author: string | null;
  readonly image: string | null;
  readonly modifiedAt: string | null;
  readonly items: readonly FeedItem[];
}

/** Rows of a table by the names of its columns. A cell that a row lacks is empty. */
export interface Table {
  readonly columns: readonly string[];
  readonly delimiter: string;
  /** Whether the names stood in the first row; else they are made up. */
  readonly hasHeader: boolean;
  readonly rows: readonly Readonly<Record<string, string>>[];
}

/**
 * What a body that is no web page says. Dates are ISO 8601 in UTC, or a day alone where the zone is not known. Nothing
 * here is ever an error: what could not be read is named in `problems`, and the rest is there.
 */
export interface OtherContent {
  readonly kind: OtherKind;
  readonly title: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly language: string | null;
  /** Of what was decoded; null for `pdf` and `binary`. */
  readonly charset: string | null;
  readonly text: string;
  readonly markdown: string;
  /** Of `csv`. */
  readonly table?: Table;
  readonly feed?: Feed;
  /** The value, for JSONPath; a list of the lines' values when there is one per line. Missing when it could not be read. */
  readonly json?: unknown;
  /** Of `pdf`: how many pages the document has. */
  readonly pageCount?: number;
  /** Absolute, in the order they stand, each once. `from` is the kind. */
  readonly links: readonly PageLink[];
  readonly problems: readonly OtherProblem[];
}

/** What the readers of the kinds find; the rest is filled in for all alike. */
export type Reading = Partial<Omit<OtherContent, 'kind' | 'charset'>> & { readonly kind: OtherKind };
