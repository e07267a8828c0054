import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import {
  ANSWERS_KEPT_MS,
  RETAINED_KINDS,
  type RetainedKind,
  type RetentionAges,
  type RetentionLimits,
  shortestAges,
} from '../../core/model/retention.ts';
import type { EventCursor } from '../../core/ports/event-store.ts';
import type { RetainedJob } from '../../core/ports/retention-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { decideRetention, type NewerJobs, NO_NEWER_JOBS, type RetentionStep } from './decide.ts';

export interface RetentionParts {
  readonly store: Pick<
    Store,
    | 'clock'
    | 'deleteJob'
    | 'deleteEndedSignIns'
    | 'deleteEvents'
    | 'deleteOldAnswers'
    | 'deleteOldExports'
    | 'deleteOldRobots'
    | 'expireLedger'
    | 'expirePages'
    | 'expireSnapshots'
    | 'listAccountIds'
    | 'listRetained'
    | 'purge'
    | 'webhookCursor'
  >;
  /** What holds for the jobs of an account. */
  readonly limitsOf: (account: AccountId) => RetentionLimits | Promise<RetentionLimits>;
  /** How long events are kept. */
  readonly eventsMs: number;
}

export interface RetentionOptions {
  /** Only counts what would be deleted. */
  readonly isDryRun?: boolean;
  /** Ends early; what was deleted by then is in the report, and the next time goes on with the rest. */
  readonly signal?: AbortSignal | undefined;
}

export interface RetentionAmount {
  /** Pages of bodies, artifacts and records; jobs of ledgers and jobs; files of exports; rows of the others. */
  readonly items: number;
  /** Before compression, and for each page that shares them. */
  readonly bytes: number;
}

/** `answers`: those under an Idempotency-Key. */
const OTHER_KINDS = ['events', 'answers', 'robots'] as const;

export type RetentionReport = Readonly<Record<RetainedKind | (typeof OTHER_KINDS)[number], RetentionAmount>>;

const ACCOUNTS_AT_ONCE = 100;
const JOBS_AT_ONCE = 200;
const PAGES_AT_ONCE = 500;
const ROWS_AT_ONCE = 1_000;
/** An expired robots.txt is of use only while its host is not reachable. */
const ROBOTS_KEPT_MS = 30 * 86_400_000;

/**
 * Deletes what need not be kept any more: goes through the jobs of all accounts, and does what `decideRetention` says in
 * steps of a bounded size. Several may run at once, and each may end at any moment: every step is a transaction that
 * changes nothing when it is repeated.
 */
export async function applyRetention(
  { store, limitsOf, eventsMs }: RetentionParts,
  { isDryRun = false, signal }: RetentionOptions = {},
): Promise<RetentionReport> {
  const now = await store.clock();
  const counts = Object.fromEntries(
    [...RETAINED_KINDS, ...OTHER_KINDS].map((kind) => [kind, { items: 0, bytes: 0 }]),
  ) as Record<keyof RetentionReport, { items: number; bytes: number }>;
  const isStopped = () => signal?.aborted === true;
  const count = (kind: keyof RetentionReport, items: number, bytes: number) => {
    counts[kind].items += items;
    counts[kind].bytes += bytes;
  };

  async function expireParts({ jobSeq, kind, fetchedBefore }: RetentionStep, from: number): Promise<void> {
    if (kind === 'jobs' || kind === 'ledger') return;
    for (let next: number | null = from; next !== null && !isStopped(); ) {
      const dryFrom = isDryRun ? next : undefined;
      const done = await store.expirePages({
        jobSeq,
        part: kind,
        fetchedBefore,
        limit: PAGES_AT_ONCE,
        dryFrom,
      });
      count(kind, done.pages, done.bytes);
      next = done.next;
    }
  }

  async function take(step: RetentionStep, job: RetainedJob): Promise<void> {
    if (step.kind === 'jobs') {
      if (isDryRun || (await isDeleted(job))) count('jobs', 1, job.bytes);
    } else if (step.kind === 'ledger') {
      if (isDryRun || (await store.expireLedger(job.seq))) count('ledger', 1, job.bytes);
    } else await expireParts(step, job.expired[step.kind]);
  }

  /** False for a job that was resumed, or deleted, since it was listed. */
  async function isDeleted({ id }: RetainedJob): Promise<boolean> {
    try {
      return await store.deleteJob(id);
    } catch (error) {
      if (isScrapifieError(error) && error.code === 'CONFLICT') return false;
      throw error;
    }
  }

  async function deleteAll(deleteSome: (limit: number) => Promise<number>): Promise<number> {
    let rows = 0;
    for (let deleted = ROWS_AT_ONCE; deleted === ROWS_AT_ONCE && !isStopped(); rows += deleted) {
      deleted = await deleteSome(ROWS_AT_ONCE);
    }
    return rows;
  }

  /** The age of an export counts from when it was written. */
  async function deleteExports(
    accountId: AccountId,
    ages: readonly RetentionAges[],
    jobId?: JobId,
  ): Promise<void> {
    const ageMs = shortestAges(...ages).exports;
    if (!Number.isFinite(ageMs)) return;
    const query = { accountId, jobId, endedBefore: now - ageMs, limit: ROWS_AT_ONCE, isDryRun };
    for (let isMore = true; isMore && !isStopped(); ) {
      const { exports, bytes } = await store.deleteOldExports(query);
      count('exports', exports, bytes);
      isMore = !isDryRun && exports === ROWS_AT_ONCE;
    }
  }

  /** The age of a snapshot counts from when its content was last seen. */
  async function deleteSnapshots(accountId: AccountId, ages: RetentionAges): Promise<void> {
    const ageMs = ages.snapshotsMs ?? null;
    if (ageMs === null) return;
    const query = { accountId, lastSeenBefore: now - ageMs, limit: ROWS_AT_ONCE, isDryRun };
    for (let isMore = true; isMore && !isStopped(); ) {
      const expired = await store.expireSnapshots(query);
      count('snapshots', expired.snapshots, expired.bytes);
      isMore = expired.isMore;
    }
  }

  async function goThroughAccount(accountId: AccountId): Promise<void> {
    const limits = await limitsOf(accountId);
    await deleteExports(accountId, [limits.ages]);
    await deleteSnapshots(accountId, limits.ages);
    let newer: NewerJobs = NO_NEWER_JOBS;
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listRetained({ accountId, cursor, limit: JOBS_AT_ONCE });
      for (const job of items) {
        const decision = decideRetention(job, limits, newer, now);
        newer = decision.newer;
        for (const step of decision.steps) if (!isStopped()) await take(step, job);
        // Only a job with times of its own can ask for less than its account.
        const hasOwnAges = Object.keys(job.ages).length > 0;
        if (hasOwnAges && !isDryRun && !isStopped())
          await deleteExports(accountId, [limits.ages, job.ages], job.id);
      }
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined && !isStopped());
  }

  for (let after: AccountId | null = null; !isStopped(); ) {
    const ids: AccountId[] = await store.listAccountIds({ after, limit: ACCOUNTS_AT_ONCE });
    for (const id of ids) await goThroughAccount(id);
    after = ids.at(-1) ?? null;
    if (ids.length < ACCOUNTS_AT_ONCE) break;
  }
  if (!isDryRun) {
    await purgeAll(store, signal);
    count('robots', await deleteAll((limit) => store.deleteOldRobots(now - ROBOTS_KEPT_MS, limit)), 0);
    count('answers', await deleteAll((limit) => store.deleteOldAnswers(ANSWERS_KEPT_MS, limit)), 0);
    await deleteAll((limit) => store.deleteEndedSignIns(limit));
    const through = (await store.webhookCursor()) as EventCursor | null;
    // Without a cursor, webhooks have read none yet.
    if (through !== null) {
      const before = now - eventsMs;
      count('events', await deleteAll((limit) => store.deleteEvents({ before, through, limit })), 0);
    }
  }
  return counts;
}

/** Deletes the rows of everything that is marked as deleted, and tells how many. */
export async function purgeAll(
  store: Pick<Store, 'purge'>,
  signal?: AbortSignal,
  mostSteps = Number.POSITIVE_INFINITY,
): Promise<number> {
  let rows = 0;
  for (let steps = 0; steps < mostSteps && signal?.aborted !== true; steps += 1) {
    const deleted = await store.purge(ROWS_AT_ONCE);
    rows += deleted;
    if (deleted === 0) break;
  }
  return rows;
}

type DeletionStore = Pick<
  Store,
  'cancelJob' | 'deleteJob' | 'listAccountDeletions' | 'listJobs' | 'purgeAccount'
>;

const DELETIONS_AT_ONCE = 10;
const CANCELLED_AT_ONCE = 100;

/**
 * Goes on with the deletion of accounts that are marked: cancels their jobs, deletes those that have ended, then all else.
 * Each step is a transaction over a bounded number of rows; pages that are being fetched end first, so an account may
 * take several calls. Returns the accounts that are gone. Blobs go with the sweep, when nothing refers to them.
 */
export async function deleteAccounts(
  store: DeletionStore,
  { signal, mostSteps = Number.POSITIVE_INFINITY }: { signal?: AbortSignal; mostSteps?: number } = {},
): Promise<AccountId[]> {
  const gone: AccountId[] = [];
  let steps = 0;
  const isOver = () => signal?.aborted === true || steps >= mostSteps;
  for (const { id } of await store.listAccountDeletions(DELETIONS_AT_ONCE)) {
    while (!isOver()) {
      steps += 1;
      const hasJobs = await deleteJobs(store, id);
      if (hasJobs === 'going on') break;
      if (hasJobs === 'deleted') continue;
      const { isGone } = await store.purgeAccount(id, ROWS_AT_ONCE);
      if (!isGone) continue;
      gone.push(id);
      break;
    }
  }
  return gone;
}

/** Deletes some of the jobs; `going on` when the account has only jobs with pages under way. */
async function deleteJobs(
  store: DeletionStore,
  accountId: AccountId,
): Promise<'none' | 'deleted' | 'going on'> {
  const { items } = await store.listJobs({ accountId, limit: CANCELLED_AT_ONCE });
  if (items.length === 0) return 'none';
  let deleted = 0;
  for (const job of items) {
    const ended = job.finishedAt === null ? await store.cancelJob(job.id) : job;
    if (ended === null || ended.finishedAt === null) continue;
    try {
      if (await store.deleteJob(job.id)) deleted += 1;
    } catch (error) {
      if (!isScrapifieError(error) || error.code !== 'CONFLICT') throw error;
    }
  }
  return deleted === 0 ? 'going on' : 'deleted';
}
