import { isDeepStrictEqual } from 'node:util';
import type { AccountId, JobId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { JobQuery, JobStore } from '../../../core/ports/job-store.ts';
import type { ListPage } from '../../../core/ports/store.ts';
import { parseStoredSeed } from '../../../crawl/frontier/canonical.ts';

export interface JobListQuery extends JobQuery {
  /** Only jobs that start on this domain or a subdomain of it. */
  readonly domain?: string | undefined;
  /** Only jobs with this text in their id or one of their start URLs, whichever case its letters have. */
  readonly text?: string | undefined;
  /** Only jobs that were made at this time or later. */
  readonly since?: number | undefined;
  /** Only jobs that were made before. */
  readonly until?: number | undefined;
}

/** Jobs looked at for one page of the list; the next page goes on behind them. */
const MOST_READ = 2_000;
const STEP = 200;

/** Jobs, newest first. Those of a domain or a text are found by their start URLs, of which a batch keeps the first 100. */
export async function listJobs(
  store: Pick<JobStore, 'listJobs'>,
  { domain, text, since, until, ...query }: JobListQuery,
): Promise<ListPage<Job>> {
  if ([domain, text, since, until].every((each) => each === undefined)) return store.listJobs(query);
  const ofDomain = domain?.toLowerCase().replace(/^\.|\.$/g, '');
  const part = text?.toLowerCase();
  const isWanted = ({ id, seeds, createdAt }: Job): boolean =>
    (until === undefined || createdAt < until) &&
    (ofDomain === undefined || seeds.some((seed) => isOn(seed, ofDomain))) &&
    (part === undefined || [id, ...seeds].some((each) => each.toLowerCase().includes(part)));
  const items: Job[] = [];
  let { cursor } = query;
  for (let read = 0; read < MOST_READ; ) {
    const limit = Math.min(STEP, query.limit - items.length);
    const slice = await store.listJobs({ ...query, cursor, limit });
    const young = slice.items.filter(({ createdAt }) => since === undefined || createdAt >= since);
    items.push(...young.filter(isWanted));
    // Older ones follow only.
    if (slice.nextCursor === null || young.length < slice.items.length) return { items, nextCursor: null };
    cursor = slice.nextCursor;
    read += slice.items.length;
    if (items.length >= query.limit) break;
  }
  return { items, nextCursor: cursor ?? null };
}

function isOn(seed: string, domain: string): boolean {
  const host = hostOf(seed);
  return host === domain || host.endsWith(`.${domain}`);
}

/** The host without its port. Seeds are kept as they were submitted. */
const hostOf = (seed: string): string => parseStoredSeed(seed)?.hostname ?? '';

/** Crawls that are looked at for one of the same start URLs. */
const MOST_LOOKED_AT = 1_000;
const LOOK_STEP = 100;

/** The newest finished crawl of the account with the same start URLs; null when there is none. */
export async function lastCrawl(
  store: Pick<JobStore, 'listJobs'>,
  accountId: AccountId,
  seeds: readonly string[],
): Promise<JobId | null> {
  let cursor: string | undefined;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += LOOK_STEP) {
    const { items, nextCursor } = await store.listJobs({
      accountId,
      kind: 'crawl',
      cursor,
      limit: LOOK_STEP,
    });
    const found = items.find((job) => job.finishedAt !== null && isDeepStrictEqual(job.seeds, seeds));
    if (found !== undefined) return found.id;
    if (nextCursor === null) return null;
    cursor = nextCursor;
  }
  return null;
}
