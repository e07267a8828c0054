import type { ErrorCode } from '../errors/registry.ts';
import type { ContentHash, JobSeq, TaskId } from './ids.ts';

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

/** What extraction found; kept compressed beside the page's row. */
export interface PageRecord {
  readonly metadata: PageMetadata | null;
  readonly links: readonly PageLink[];
  /** Only when the job asked for the format. */
  readonly html?: string;
  readonly text?: string;
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
  /** The URL whose page this one repeats, by rel=canonical. */
  readonly duplicateOf: string | null;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
  /** A PageRecord as `packRecord` packs it. */
  readonly record: Uint8Array | null;
}

export interface Page extends NewPage {
  readonly taskId: TaskId;
  readonly jobSeq: JobSeq;
}
