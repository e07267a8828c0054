import type { ErrorCode } from '../errors/registry.ts';
import type { ContentHash, JobSeq, TaskId } from './ids.ts';

export interface PageLink {
  readonly url: string;
  /** The anchor text, or the alt text of the image in it. */
  readonly text: string;
  readonly rel: string;
  /** Where it stood: a, area, link, frame, iframe, form, refresh, srcset, canonical, next, prev … */
  readonly from: string;
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
  readonly openGraph: Readonly<Record<string, string | readonly string[]>>;
  readonly twitter: Readonly<Record<string, string>>;
  readonly hreflang: readonly { readonly lang: string; readonly url: string }[];
  readonly jsonLd: readonly unknown[];
  readonly microdata: readonly unknown[];
  readonly rdfa: readonly unknown[];
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
  /** zstd of the JSON of a PageRecord. */
  readonly record: Uint8Array | null;
}

export interface Page extends NewPage {
  readonly taskId: TaskId;
  readonly jobSeq: JobSeq;
}
