import type { ExportSpec } from './export.ts';

/** What a job may ask for besides its pages: made of what was committed, by readers of the events, after the crawl. */
export interface DerivedOptions {
  /** Each distinct content of a page is kept in the history of its URL. Missing: none is. */
  readonly snapshots?: true | undefined;
  /** Its pages can be found by full-text search. Missing: they cannot. */
  readonly search?: true | undefined;
  /** Its pages, links and records are written to the lake. Missing: none are. */
  readonly lake?: true | undefined;
  /** Files that are written when the job has ended. Missing: none are. */
  readonly exports?: readonly ExportWish[] | undefined;
  /** The monitor that the job is for; set by the program alone. Missing: it is for none. */
  readonly monitorId?: string | undefined;
}

export type ExportWish = Pick<ExportSpec, 'type' | 'format'>;

/**
 * The readers of events, each with the option of a job without which the job is none of its business: a reader is only
 * at work while jobs with its option are, and events of other jobs do not reach it. `exports`, for one, reads the ends of
 * jobs that have exports.
 */
export const READER_OPTIONS = {
  snapshots: 'snapshots',
  search: 'search',
  lake: 'lake',
  exports: 'exports',
  monitors: 'monitorId',
} as const satisfies Readonly<Record<string, keyof DerivedOptions>>;

export type ReaderName = keyof typeof READER_OPTIONS;
