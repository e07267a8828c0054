import { parseStoredSeed } from '../frontier/canonical.ts';
import type { Job } from '../model/job.ts';
import type { JobQuery, JobStore, ListPage } from '../ports/store.ts';

export interface JobListQuery extends JobQuery {
  /** Only jobs that start on this domain or a subdomain of it. */
  readonly domain?: string | undefined;
}

/** Jobs looked at for one page of the list; the next page goes on behind them. */
const MOST_READ = 2_000;
const STEP = 200;

/** Jobs, newest first. Those of a domain are found by their start URLs, of which a batch keeps the first 100. */
export async function listJobs(
  store: Pick<JobStore, 'listJobs'>,
  { domain, ...query }: JobListQuery,
): Promise<ListPage<Job>> {
  if (domain === undefined) return store.listJobs(query);
  const wanted = domain.toLowerCase().replace(/^\.|\.$/g, '');
  const items: Job[] = [];
  let { cursor } = query;
  for (let read = 0; read < MOST_READ; ) {
    const limit = Math.min(STEP, query.limit - items.length);
    const slice = await store.listJobs({ ...query, cursor, limit });
    items.push(...slice.items.filter(({ seeds }) => seeds.some((seed) => isOn(seed, wanted))));
    if (slice.nextCursor === null) return { items, nextCursor: null };
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
