import type { Incarnation, JobSeq, UrlKey } from '../../core/model/ids.ts';
import { ownString } from '../../lib/own-memory.ts';

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

/**
 * A set of strings that forgets the entries not used lately. Two generations: when the young one is full it
 * becomes the old one, and entries used in the old one move back.
 * It keeps copies: keys may be parts of pages, which must not be held by them.
 */
export class RecentKeys<Key extends string> {
  readonly #maxPerGeneration: number;
  #young = new Set<Key>();
  #old = new Set<Key>();

  constructor(maxPerGeneration = 10_000) {
    this.#maxPerGeneration = maxPerGeneration;
  }

  add(key: Key): void {
    if (!this.#young.has(key)) this.#keep(ownString(key));
  }

  has(key: Key): boolean {
    if (this.#young.has(key)) return true;
    if (!this.#old.has(key)) return false;
    this.#keep(ownString(key));
    return true;
  }

  #keep(key: Key): void {
    if (this.#young.size >= this.#maxPerGeneration) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    this.#young.add(key);
  }
}
