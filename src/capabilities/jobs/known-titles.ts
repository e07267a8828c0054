import type { Job } from '../../core/model/job.ts';
import type { JobStore } from '../../core/ports/store.ts';
import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';
import { isLoggedIn } from '../../crawl/frontier/log-out.ts';

/** Crawls that are looked at, pages of each, and how many are read at once. */
const JOBS_LOOKED_AT = 20;
const CRAWLS_READ = 3;
const PAGES_READ = 1_000;
const PAGES_AT_ONCE = 200;

/**
 * The titles of these URLs by the last crawls that the account made of the same host. Crawls that were logged in give
 * none: their titles may be personal.
 */
export async function knownTitles(
  store: Pick<JobStore, 'listJobs' | 'listPages'>,
  { accountId, seeds }: Pick<Job, 'accountId' | 'seeds'>,
  urls: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  if (urls.size === 0) return titles;
  const hosts = hostsOf(seeds);
  const { items } = await store.listJobs({ accountId, kind: 'crawl', limit: JOBS_LOOKED_AT });
  const crawls = items.filter(
    (job) => !isLoggedIn(job.options.page) && [...hostsOf(job.seeds)].some((host) => hosts.has(host)),
  );
  for (const { id: jobId } of crawls.slice(0, CRAWLS_READ)) {
    let cursor: string | undefined;
    for (let read = 0; read < PAGES_READ && titles.size < urls.size; read += PAGES_AT_ONCE) {
      const pages = await store.listPages({ jobId, state: 'done', limit: PAGES_AT_ONCE, cursor });
      for (const { url, title } of pages.items) {
        const text = title?.replace(/\s+/g, ' ').trim() ?? '';
        if (text !== '' && urls.has(url) && !titles.has(url)) titles.set(url, text);
      }
      cursor = pages.nextCursor ?? undefined;
      if (cursor === undefined) break;
    }
  }
  return titles;
}

const hostsOf = (seeds: readonly string[]): ReadonlySet<string> =>
  new Set(seeds.flatMap((seed) => parseStoredSeed(seed)?.host ?? []));
