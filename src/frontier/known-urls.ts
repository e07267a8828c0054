import type { JobSeq, UrlKey } from '../model/ids.ts';
import { RecentKeys } from './recent-keys.ts';

/**
 * Remembers URLs that the store has for sure, so that a link seen on every page of a site is asked about once.
 * Forgetting is harmless (the store sorts it out), remembering too early is not: only what was committed goes in.
 */
export interface KnownUrls {
  has(job: JobSeq, key: UrlKey): boolean;
  add(job: JobSeq, key: UrlKey): void;
}

export function createKnownUrls({ maxJobs = 16, maxPerGeneration = 10_000 } = {}): KnownUrls {
  const jobs = new Map<JobSeq, RecentKeys<UrlKey>>();
  return {
    has: (job, key) => jobs.get(job)?.has(key) ?? false,
    add(job, key) {
      let known = jobs.get(job);
      if (known === undefined) {
        const [oldest] = jobs.keys();
        if (jobs.size >= maxJobs && oldest !== undefined) jobs.delete(oldest);
        known = new RecentKeys(maxPerGeneration);
        jobs.set(job, known);
      }
      known.add(key);
    },
  };
}
