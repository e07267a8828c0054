import type { PageLink } from '../../core/model/page.ts';
import { BaseUrl } from '../html/links.ts';
import { collapse } from '../html/page-text.ts';
import { parseDate, statedMoment } from '../values/date/date.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import type { XmlElement } from './xml-tree.ts';

/** Kinds of bodies other than web pages. `binary` has no readable text. */
type DocumentKind = 'json' | 'xml' | 'feed' | 'csv' | 'text' | 'pdf' | 'binary';

/** Reasons why a body was not read completely. The body is stored in any case. */
type DocumentProblemCode =
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

export interface DocumentProblem {
  readonly code: DocumentProblemCode;
  /** A sentence for people. */
  readonly message: string;
}

export interface FeedItem {
  readonly id: string | null;
  /** The absolute address of the item. */
  readonly url: string | null;
  readonly title: string | null;
  /** As plain text, whatever the markup of the feed. */
  readonly summary: string | null;
  /** The full content as written in the feed; null without one. */
  readonly html: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly categories: readonly string[];
  readonly image: string | null;
  readonly enclosures: readonly FeedEnclosure[];
}

interface FeedEnclosure {
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
  /** True when the names are those of the first row; else they are generated. */
  readonly hasHeader: boolean;
  readonly rows: readonly Readonly<Record<string, string>>[];
}

/**
 * The content of a body that is no web page. Dates are ISO 8601 in UTC, or a day alone when the zone is unknown. Parts
 * that could not be read are listed in `problems`; they are never an error.
 */
export interface DocumentContent {
  readonly kind: DocumentKind;
  readonly title: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly language: string | null;
  /** The charset that the body was decoded with; null for `pdf` and `binary`. */
  readonly charset: string | null;
  readonly text: string;
  readonly markdown: string;
  /** The rows of a `csv` document. */
  readonly table?: Table;
  readonly feed?: Feed;
  /** The value, for JSONPath; a list of the lines' values when there is one per line. Missing when it could not be read. */
  readonly json?: unknown;
  /** The root of an `xml` or `feed` document, for selectors. */
  readonly xml?: XmlElement;
  /** The number of pages of a `pdf` document. */
  readonly pageCount?: number;
  /** How many of them were read. */
  readonly pagesRead?: number;
  /** Absolute, in the order they stand, each once. `from` is the kind. */
  readonly links: readonly PageLink[];
  readonly problems: readonly DocumentProblem[];
}

/** What a reader of one kind returns; missing fields get defaults. */
export type DocumentReading = Partial<Omit<DocumentContent, 'kind' | 'charset'>> & {
  readonly kind: DocumentKind;
};

export interface DateContext {
  /** When the body was fetched, in milliseconds. */
  readonly fetchedAt: number;
  readonly locale?: string | undefined;
}

const ANCHOR_CHARS = 500;
const URL_IN_TEXT = /https?:\/\/[^\s<>"'`|\\^{}\u3000-\u303f\uff00-\uffef]{3,4000}/gi;
/** A sentence goes on behind a URL; a bracket that the URL did not open is not its own. */
const SENTENCE_END = '.,;:!?*_~';

/** A date as a value: the moment with the stated offset where the text names a zone, else the day alone. Null for any other text. */
export function isoDateOf(text: string | null | undefined, hints: DateContext): string | null {
  if (text === null || text === undefined) return null;
  const parsed = parseDate(text, hints);
  if (parsed === null) return null;
  return statedMoment(parsed) ?? parsed.iso.slice(0, 10);
}

/** The URLs in a document: absolute, each once, in order. */
export class LinkList {
  readonly #from: string;
  readonly #base: BaseUrl;
  readonly #links = new Map<string, PageLink>();

  constructor(url: string, from: string) {
    this.#from = from;
    this.#base = BaseUrl.parse(url) ?? BaseUrl.NOWHERE;
  }

  get all(): readonly PageLink[] {
    return [...this.#links.values()];
  }

  get isFull(): boolean {
    return this.#links.size >= DOCUMENT_LIMITS.links;
  }

  /** The absolute URL; null when it cannot be fetched. */
  resolve(reference: string | null | undefined): string | null {
    return reference === null || reference === undefined ? null : this.#base.resolve(reference.trim());
  }

  add(reference: string | null | undefined, text = '', rel = ''): string | null {
    const url = this.resolve(reference);
    if (url !== null && !this.isFull && !this.#links.has(url)) {
      this.#links.set(url, { url, text: collapse(text, ANCHOR_CHARS), rel, from: this.#from });
    }
    return url;
  }

  /** Adds every URL in running text. */
  addFrom(text: string): void {
    for (const [found] of text.matchAll(URL_IN_TEXT)) {
      if (this.isFull) return;
      this.add(withoutEnd(found));
    }
  }
}

function withoutEnd(found: string): string {
  const open = { ')': count(found, '('), ']': count(found, '[') };
  const closed = { ')': count(found, ')'), ']': count(found, ']') };
  let end = found.length;
  for (; end > 0; end--) {
    const last = found[end - 1] ?? '';
    if (last === ')' || last === ']') {
      if (closed[last] <= open[last]) break;
      closed[last]--;
    } else if (!SENTENCE_END.includes(last)) break;
  }
  return found.slice(0, end);
}

function count(text: string, sign: string): number {
  let found = 0;
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) found++;
  return found;
}
