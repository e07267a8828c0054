import type { UrlKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { requireLedger } from '../../core/model/retention.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { SiteCompareStore, SiteStep } from './compare-sites.ts';
import { createDiffLane } from './diff-lane.ts';
import { findMovedPages, type MovedPages } from './moved-pages.ts';
import {
  createPageComparer,
  type DiffMode,
  diffVersions,
  type PageComparer,
  type VersionDiff,
} from './page-comparer.ts';
import {
  createEarlierVersions,
  type EarlierStore,
  type PageVersion,
  type StoredBytes,
} from './page-version.ts';
import { type ChangeCounts, type ChangeType, noCounts, type SiteChange } from './site-change.ts';

export interface ComparisonDeps {
  /** Snapshots in it tell which pages have changed back, and what they were before a crawl that failed. */
  readonly store: SiteCompareStore & EarlierStore;
  readonly blobs: StoredBytes;
  /** A clock that never goes back. */
  readonly clock?: () => number;
}

/** Two crawls of one site, the earlier one first, and what counts as a change. */
export interface SitePair {
  readonly previous: Job;
  readonly current: Job;
  readonly rules: DiffRules;
}

export interface ChangeSlice {
  readonly items: readonly SiteChange[];
  /** Where the next slice begins; null at the end. */
  readonly nextCursor: string | null;
}

export interface ChangeSummary {
  readonly counts: ChangeCounts;
  /** False when there are more URLs than a summary looks at, or has time for: the counts are those of the first ones. */
  readonly isWhole: boolean;
}

/** Compares what is stored. Every method but `versions` throws EXPIRED for a job of which only the summary is kept. */
export interface Comparisons {
  readonly comparer: PageComparer;
  /** What became of each URL of the two crawls, in an order that is always the same; a few pages are in memory. */
  changes(pair: SitePair): AsyncGenerator<SiteChange>;
  /** A part of them: what can be compared in some seconds. It may be shorter than its limit, and empty, although another follows. */
  slice(
    pair: SitePair,
    query: {
      readonly types: readonly ChangeType[];
      readonly cursor?: string | undefined;
      readonly limit: number;
    },
    signal?: AbortSignal,
  ): Promise<ChangeSlice>;
  summary(pair: SitePair, signal?: AbortSignal): Promise<ChangeSummary>;
  versions(a: PageVersion, b: PageVersion, mode: DiffMode, rules: DiffRules): Promise<VersionDiff>;
  close(): Promise<void>;
}

/** URLs that one slice looks at. */
const LOOKED_AT = 1_000;
/** URLs that a summary looks at. */
const SUMMED = 10_000;
/** After this a slice, or a summary, begins with no other URL: comparing one may take half a minute by itself. */
const SLICE_MS = 10_000;
const SUMMARY_MS = 30_000;
const MOST_KEPT = 8;

export function createComparisons({
  store,
  blobs,
  clock = () => performance.now(),
}: ComparisonDeps): Comparisons {
  const earlier = createEarlierVersions(store);
  const lane = createDiffLane();
  const comparer = createPageComparer(blobs, lane);
  const movedPages = new BoundedMap<string, MovedPages>(MOST_KEPT);
  const summaries = new BoundedMap<string, ChangeSummary>(MOST_KEPT);

  /** Null while one of the jobs goes on: nothing of such a pair is kept. */
  function keyOf({ previous, current }: SitePair): string | null {
    const ends = [previous, current].map(({ id, finishedAt }) =>
      finishedAt === null ? null : `${id}@${finishedAt}`,
    );
    return ends.includes(null) ? null : ends.join(' ');
  }

  async function movedOf(pair: SitePair): Promise<MovedPages> {
    const key = keyOf(pair);
    const known = key === null ? undefined : movedPages.get(key);
    if (known !== undefined) return known;
    const found = await findMovedPages(store, pair.previous.id, pair.current.id);
    if (key !== null) movedPages.set(key, found);
    return found;
  }

  async function* steps(pair: SitePair, after?: UrlKey): AsyncGenerator<SiteStep> {
    requireLedger(pair.previous);
    requireLedger(pair.current);
    // Reading prices takes much of the extraction with it, which a server that compares nothing does not load.
    const { compareSites } = await import('./compare-sites.ts');
    yield* compareSites(store, comparer, earlier, { ...pair, moved: await movedOf(pair), after });
  }

  return {
    comparer,
    async *changes(pair) {
      for await (const { change } of steps(pair)) if (change !== null) yield change;
    },
    async slice(pair, { types, cursor, limit }, signal) {
      const items: SiteChange[] = [];
      const until = clock() + SLICE_MS;
      let looked = 0;
      for await (const { urlKey, change } of steps(pair, cursor as UrlKey | undefined)) {
        signal?.throwIfAborted();
        looked += 1;
        if (change !== null && types.includes(change.type)) items.push(change);
        if (items.length >= limit || looked >= LOOKED_AT || clock() >= until)
          return { items, nextCursor: urlKey };
      }
      return { items, nextCursor: null };
    },
    async summary(pair, signal) {
      const pairKey = keyOf(pair);
      const key = `${pairKey} ${JSON.stringify(pair.rules)}`;
      const known = pairKey === null ? undefined : summaries.get(key);
      if (known !== undefined) return known;
      const counts = noCounts();
      const until = clock() + SUMMARY_MS;
      let looked = 0;
      let [isWhole, isLate] = [true, false];
      for await (const { change } of steps(pair)) {
        signal?.throwIfAborted();
        looked += 1;
        if (change !== null) counts[change.type] += 1;
        isLate = clock() >= until;
        if (looked < SUMMED && !isLate) continue;
        isWhole = false;
        break;
      }
      const summary = { counts, isWhole };
      if (pairKey !== null && !isLate) summaries.set(key, summary);
      return summary;
    },
    versions: (a, b, mode, rules) => diffVersions({ blobs, lane, comparer }, a, b, mode, rules),
    close: () => lane.close(),
  };
}
