import type { JobSeq } from '../../core/model/ids.ts';
import { PAGE_PARTS, type PagePart, type RetentionLimits, shortestAges } from '../../core/model/retention.ts';
import type { RetainedJob } from '../../core/ports/retention-store.ts';

/** What is decided job by job. */
type DecidedKind = PagePart | 'ledger' | 'jobs';

/** One thing that may be deleted, and why. */
export interface RetentionStep {
  readonly jobSeq: JobSeq;
  readonly kind: DecidedKind;
  readonly reason: 'age' | 'count' | 'bytes';
  /** For parts of pages, only pages that were fetched before this time lose the part. */
  readonly fetchedBefore: number;
}

/** What the newer jobs of the account amount to. */
export interface NewerJobs {
  /** How many of the jobs have ended. */
  readonly jobs: number;
  /** The bytes of those jobs whose bodies are kept. */
  readonly bytes: number;
}

export interface RetentionDecision {
  readonly steps: readonly RetentionStep[];
  /** For the decision about the next older job. */
  readonly newer: NewerJobs;
}

export const NO_NEWER_JOBS: NewerJobs = { jobs: 0, bytes: 0 };
const ALL_PAGES = Number.MAX_SAFE_INTEGER;

/**
 * Decides what of a job may be deleted. Jobs of an account are decided from the newest to the oldest. The age of a page
 * counts from its fetch, so that a crawl that never ends loses old bodies too; the age of a job and its ledger counts
 * from its end. Of a job that is going on, nothing but parts of old pages may be deleted.
 */
export function decideRetention(
  job: RetainedJob,
  limits: RetentionLimits,
  newer: NewerJobs,
  now: number,
): RetentionDecision {
  const ages = shortestAges(limits.ages, job.ages);
  const { seq: jobSeq, finishedAt, createdAt, pagesEnd, expired } = job;
  const hasEnded = finishedAt !== null;
  const isOver = (kind: DecidedKind) => hasEnded && finishedAt <= now - ages[kind];
  const hasBodies = !job.isLedgerExpired && expired.bodies < pagesEnd;
  const jobs = newer.jobs + (hasEnded ? 1 : 0);
  const bytes = newer.bytes + (hasBodies ? job.bytes : 0);
  const step = (kind: DecidedKind, reason: RetentionStep['reason'], fetchedBefore = ALL_PAGES) => ({
    jobSeq,
    kind,
    reason,
    fetchedBefore,
  });

  if (isOver('jobs')) return { steps: [step('jobs', 'age')], newer };
  if (hasEnded && limits.maxJobs !== null && jobs > limits.maxJobs) {
    return { steps: [step('jobs', 'count')], newer };
  }
  if (job.isLedgerExpired) return { steps: [], newer: { jobs, bytes } };
  if (isOver('ledger')) return { steps: [step('ledger', 'age')], newer: { jobs, bytes: newer.bytes } };

  const isTooMuch = hasEnded && limits.maxBytes !== null && hasBodies && bytes > limits.maxBytes;
  const steps: RetentionStep[] = [];
  for (const part of PAGE_PARTS) {
    if (expired[part] >= pagesEnd) continue;
    const cutoff = now - ages[part];
    if (isOver(part)) steps.push(step(part, 'age'));
    else if (isTooMuch && part !== 'records') steps.push(step(part, 'bytes'));
    // A page is fetched after its job was created.
    else if (createdAt < cutoff) steps.push(step(part, 'age', cutoff));
  }
  const losesBodies = steps.some(
    ({ kind, fetchedBefore }) => kind === 'bodies' && fetchedBefore === ALL_PAGES,
  );
  return { steps, newer: { jobs, bytes: losesBodies ? newer.bytes : bytes } };
}
