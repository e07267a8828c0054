import type { Incarnation, JobSeq, UrlKey } from '../../core/model/ids.ts';
import { RecentKeys } from './recent-keys.ts';

/**
 * Remembers URLs that the store has for sure, so that a link seen on every page of a site is asked about once.
 * Forgetting is harmless (the store sorts it out), remembering too early is not: only what was committed goes in.
 *
 * What one incarnation of the store has says nothing about another, so the question names the incarnation, and all that
 * is remembered is of the one that was added to last.
 */
export interface KnownUrls {
  has(incarnation: Incarnation, job: JobSeq, key: UrlKey): boolean;
  add(incarnation: Incarnation, job: JobSeq, key: UrlKey): void;
}

export function createKnownUrls({ maxJobs = 16, maxPerGeneration = 10_000 } = {}): KnownUrls {
  const jobs = new Map<JobSeq, RecentKeys<UrlKey>>();
  let learnedIn: Incarnation | null = null;
  return {
    has: (incarnation, job, key) => incarnation === learnedIn && (jobs.get(job)?.has(key) ?? false),
    add(incarnation, job, key) {
      if (incarnation !== learnedIn) jobs.clear();
      learnedIn = incarnation;
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
