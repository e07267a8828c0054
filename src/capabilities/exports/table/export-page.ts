import type { PageFormat } from '../../../core/model/export-registry.ts';
import type { ContentHash } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { Page, PageRecord } from '../../../core/model/page.ts';
import type { FileBytes } from './table.ts';

/** A stored page with everything that belongs to it, as writers of whole pages get it. */
export interface ExportPage {
  readonly page: Page;
  readonly record: PageRecord;
  /** The body as it is stored; null when there is none, or it was deleted. */
  body(): Promise<Uint8Array | null>;
  /** Bytes that the record names by their hash; null when they were deleted. */
  blob(hash: ContentHash): Promise<Uint8Array | null>;
}

/**
 * Pages in the order of their URLs, read one after the other each time they are asked for. A page is not kept once the
 * next one was taken.
 */
export type PageSource = () => AsyncIterable<ExportPage>;

/** Turns the pages of a job into the bytes of a file. */
export type PageWriter = (pages: PageSource, options: PageWriterOptions) => FileBytes;

/** The formats of pages that a file of `writers/` writes. */
export type PageWriters = Readonly<Partial<Record<PageFormat, PageWriter>>>;

export interface PageWriterOptions {
  readonly job: Job;
  readonly onRows: (rows: number) => void;
  /** When the export was asked for, by the store's clock. */
  readonly createdAt: number;
}
