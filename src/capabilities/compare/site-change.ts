import type { TaskId } from '../../core/model/ids.ts';
import type { PageComparison } from '../../extract/diff/compare-pages.ts';
import type { PictureSummary } from '../../extract/diff/picture-diff.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';

/**
 * ADDED        only the current crawl has the page, and the one before would have found it
 * REMOVED      only the crawl before has the page, and the current one would have found it
 * MODIFIED     what is watched has changed
 * UNCHANGED    it has not, or by less than the threshold
 * MOVED        the same content under another URL
 * REVERTED     it has changed back to what it was before the crawl before
 * NOT_COVERED  one of the crawls says nothing about the URL: `reason` has why
 */
export const CHANGE_TYPES = [
  'ADDED',
  'REMOVED',
  'MODIFIED',
  'UNCHANGED',
  'MOVED',
  'REVERTED',
  'NOT_COVERED',
] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** A page in one of two crawls. */
export interface ChangeSide {
  readonly taskId: TaskId;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  /** When the page was fetched, in epoch milliseconds. */
  readonly fetchedAt: number;
  readonly title: string | null;
  readonly price: number | null;
  readonly currency: string | null;
  readonly availability: string | null;
}

/** Why a URL is missing in a crawl, or why that is not known. */
export interface MissingReason {
  /** Which of the two crawls it is about. */
  readonly crawl: 'previous' | 'current';
  /** Stable, as `http-404`, `limit`, `failed:CONNECT_FAILED`. */
  readonly code: string;
  readonly message: string;
}

/** A comparison without the bytes of its picture. */
export type ShownComparison = Omit<PageComparison, 'picture'> & { readonly picture: PictureSummary | null };

/** What became of one URL between two crawls. */
export interface SiteChange {
  readonly type: ChangeType;
  readonly url: string;
  /** For a page that has moved, the URL where it was before. */
  readonly previousUrl: string | null;
  readonly previous: ChangeSide | null;
  readonly current: ChangeSide | null;
  /** Epoch milliseconds: when the page was fetched, else when the crawl ended. Null: the crawl before does not know it. */
  readonly previousAt: number | null;
  readonly currentAt: number;
  /** For ADDED and REMOVED, what proves the change; for NOT_COVERED, what prevents a proof; else null. */
  readonly reason: MissingReason | null;
  /** Names of what changed: fields, `text`, `markdown`, selectors, `screenshot`. */
  readonly changed: readonly string[];
  /** Null when the two pages were not compared. */
  readonly comparison: ShownComparison | null;
}

/** The columns of a diff export, the fixed ones first. */
export const DIFF_COLUMNS = [
  'url',
  'prev_crawl_at',
  'curr_crawl_at',
  'change_type',
  'fields_changed',
  'price_prev',
  'price_curr',
  'availability_prev',
  'availability_curr',
  'title_prev',
  'title_curr',
  'url_prev',
  'currency_prev',
  'currency_curr',
  'share_changed',
  'reason',
  'message',
] as const;

export type DiffRow = Readonly<Record<(typeof DIFF_COLUMNS)[number], string | number | null>>;

export function diffRow(change: SiteChange): DiffRow {
  const { previous, current, reason, comparison } = change;
  const text = comparison?.texts.find(({ name }) => name === 'text') ?? comparison?.texts[0];
  return {
    url: change.url,
    prev_crawl_at: isoTimeOrNull(change.previousAt),
    curr_crawl_at: isoTime(change.currentAt),
    change_type: change.type,
    fields_changed: change.changed.length === 0 ? null : change.changed.join(';'),
    price_prev: previous?.price ?? null,
    price_curr: current?.price ?? null,
    availability_prev: previous?.availability ?? null,
    availability_curr: current?.availability ?? null,
    title_prev: previous?.title ?? null,
    title_curr: current?.title ?? null,
    url_prev: change.previousUrl,
    currency_prev: previous?.currency ?? null,
    currency_curr: current?.currency ?? null,
    share_changed: text === undefined ? null : Math.round(text.diff.share * 10_000) / 10_000,
    reason: reason === null ? null : `${reason.crawl}:${reason.code}`,
    message: reason?.message ?? null,
  };
}

/** How many URLs of each type there are. */
export type ChangeCounts = Readonly<Record<ChangeType, number>>;

export const noCounts = (): Record<ChangeType, number> => ({
  ADDED: 0,
  REMOVED: 0,
  MODIFIED: 0,
  UNCHANGED: 0,
  MOVED: 0,
  REVERTED: 0,
  NOT_COVERED: 0,
});
