import type { HostId, HostKey, Incarnation, JobSeq, TaskId } from '../../core/model/ids.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import type { NewPage } from '../../core/model/page.ts';
import type { StopReason } from '../../core/model/task-reasons.ts';
import type { LeaseRef } from '../../core/ports/host-store.ts';
import type { Completion, LedgerStore } from '../../core/ports/ledger-store.ts';
import { charge } from './credit-holds.ts';
import type { SqliteDatabase } from './database.ts';
import { writePagesEvents } from './event-log.ts';
import { createTally, type JobTally, settleJob } from './job-life.ts';
import { createMailboxes, type JobRef, type Mailboxes, reopen } from './mailboxes.ts';
import type { Synchronous } from './sql-methods.ts';
import { createUsageTally } from './usage.ts';

interface LedgerJob extends JobRef {
  readonly isCancelled: boolean;
  readonly stopReason: StopReason | null;
}

export function createSqliteLedgerStore(
  database: SqliteDatabase,
  hostIds: Map<HostKey, HostId>,
  incarnation: Incarnation,
  clock: () => number,
): Synchronous<LedgerStore> {
  return {
    commit(completions) {
      const now = clock();
      const jobs = new Map<JobSeq, LedgerJob | null>();
      const leases = new Map<HostId, number>();
      const tally = createTally();
      const usage = createUsageTally();
      const mailboxes = createMailboxes(database, hostIds);
      const rejected: TaskId[] = [];
      const stored = new Map<JobSeq, number[]>();
      const duplicates: { taskId: TaskId; url: string }[] = [];
      for (const completion of completions) {
        const job = jobs.get(completion.jobSeq) ?? readJob(database, completion.jobSeq);
        jobs.set(completion.jobSeq, job);
        if (
          job === null ||
          !holds(database, incarnation, completion.lease, leases) ||
          !end(database, completion, job, tally, mailboxes, now)
        ) {
          rejected.push(completion.taskId);
          continue;
        }
        usage.add(completion);
        if (completion.page !== null) {
          const page = withOriginal(database, completion, completion.page);
          const pageSeq = insertPage(database, completion, page);
          const ofJob = stored.get(job.seq);
          if (ofJob === undefined) stored.set(job.seq, [pageSeq]);
          else ofJob.push(pageSeq);
          if (page !== completion.page) {
            duplicates.push({ taskId: completion.taskId, url: page.duplicateOf ?? '' });
          }
        }
        mailboxes.add(job, completion.discovered, tally, now);
      }
      const readyHosts = mailboxes.flush(now);
      writePagesEvents(database, stored, now);
      for (const [seq, microcredits] of usage.write(database, now)) {
        tally.of(seq).microcredits += microcredits;
        if (microcredits !== 0) charge(database, seq, jobs.get(seq)?.accountId ?? '', microcredits, now);
      }
      const { changed, finished, stopped } = settleJob(database, tally, now);
      return {
        rejected,
        readyHosts,
        changedJobs: changed,
        finishedJobs: finished,
        stoppedJobs: stopped,
        duplicates,
      };
    },

    reserveUrl(lease, task, target) {
      const now = clock();
      if (!holds(database, incarnation, lease)) return false;
      const claimed = database.get(
        `SELECT job_seq, url_key FROM tasks WHERE id = ? AND state = 'claimed'`,
        task,
      );
      if (claimed === undefined) return false;
      if (claimed.url_key === target.urlKey) return true;
      const job = readJob(database, Number(claimed.job_seq) as JobSeq);
      if (job === null) return false;
      const known = database.get(
        'SELECT found_by, found_on FROM tasks WHERE job_seq = ? AND url_key = ?',
        job.seq,
        target.urlKey,
      );
      if (known !== undefined) return known.found_by === 'redirect' && Number(known.found_on) === task;
      const tally = createTally();
      createMailboxes(database, hostIds).add(
        job,
        [{ ...target, foundBy: 'redirect', foundOn: task }],
        tally,
        now,
      );
      settleJob(database, tally, now);
      return true;
    },
  };
}

function readJob(database: SqliteDatabase, seq: JobSeq): LedgerJob | null {
  const row = database.get(
    'SELECT id, account_id, kind, status, stop_reason, known FROM jobs WHERE seq = ?',
    seq,
  );
  if (row === undefined) return null;
  const isCancelled = row.status === 'cancelled';
  const stopReason = row.stop_reason as StopReason | null;
  const intake = isCancelled ? 'cancelled' : stopReason === null ? 'open' : { stopReason };
  return {
    seq,
    kind: row.kind as JobKind,
    size: Number(row.known),
    intake,
    isCancelled,
    stopReason,
    accountId: String(row.account_id),
  };
}

/** Whether the lease is still the host's newest. An expired lease that no other owner has taken over still counts. */
export function holds(
  database: SqliteDatabase,
  incarnation: Incarnation,
  lease: LeaseRef,
  leases = new Map<HostId, number>(),
): boolean {
  if (lease.incarnation !== incarnation) return false;
  let epoch = leases.get(lease.hostId);
  if (epoch === undefined) {
    const row = database.get('SELECT epoch FROM hosts WHERE id = ? AND owner IS NOT NULL', lease.hostId);
    epoch = row === undefined ? -1 : Number(row.epoch);
    leases.set(lease.hostId, epoch);
  }
  return epoch === lease.epoch;
}

/** Moves the task out of `claimed`. False when this lease does not hold the claim. */
function end(
  database: SqliteDatabase,
  completion: Completion,
  job: LedgerJob,
  tally: JobTally,
  mailboxes: Mailboxes,
  now: number,
): boolean {
  const claimed = database.get(
    `SELECT kind, rank FROM tasks WHERE id = ? AND job_seq = ? AND host_id = ? AND state = 'claimed' AND epoch = ?`,
    completion.taskId,
    completion.jobSeq,
    completion.lease.hostId,
    completion.lease.epoch,
  );
  if (claimed === undefined) return false;
  const isPage = claimed.kind === 'page';
  const delta = tally.of(completion.jobSeq);
  delta.claimed -= 1;
  if (isPage) delta.claimedPages -= 1;
  delta.bytes += completion.bytes;
  delta.browserMs += Math.floor(completion.spent?.browserMs ?? 0);
  delta.proxyBytes += completion.spent?.proxyBytes ?? 0;
  const { end: outcome, taskId } = completion;
  const trace = completion.trace.length === 0 ? null : JSON.stringify(completion.trace);

  switch (outcome.state) {
    case 'ready':
      reopen(database, taskId, job.isCancelled, job.stopReason, delta, now);
      break;
    case 'waiting':
    case 'moved': {
      database.run(
        'UPDATE tasks SET attempts = ?, trace = ? WHERE id = ?',
        completion.trace.length,
        trace,
        taskId,
      );
      if (!reopen(database, taskId, job.isCancelled, job.stopReason, delta, now)) break;
      if (outcome.state === 'waiting') {
        database.run(
          `UPDATE tasks SET state = 'waiting', ready_at = ?, rule = ? WHERE id = ?`,
          outcome.readyAt,
          outcome.rule,
          taskId,
        );
        break;
      }
      const host = mailboxes.hostIdOf(outcome.hostKey);
      database.run(
        'UPDATE tasks SET host_id = ?, at_url = ?, hops = ? WHERE id = ?',
        host,
        outcome.atUrl,
        outcome.hops,
        taskId,
      );
      mailboxes.wake(host, Number(claimed.rank));
      break;
    }
    default: {
      delta.open -= 1;
      delta[outcome.state] += 1;
      if (outcome.state === 'done' && isPage) delta.pages += 1;
      database.run(
        `UPDATE tasks SET state = ?, rule = ?, error_code = ?, attempts = ?, trace = ?, finished_at = ? WHERE id = ?`,
        outcome.state,
        outcome.rule,
        outcome.state === 'failed' ? outcome.errorCode : null,
        completion.trace.length,
        trace,
        now,
        taskId,
      );
    }
  }
  return true;
}

/** Names the first page of the job that has the same body, unless the page itself names another one. */
function withOriginal(database: SqliteDatabase, { jobSeq, taskId }: Completion, page: NewPage): NewPage {
  const { contentHash, duplicateOf, errorCode } = page;
  if (contentHash === null || duplicateOf !== null || errorCode !== null) return page;
  const first = database.get(
    `SELECT url FROM pages WHERE job_seq = ? AND substr(content_hash, 1, 16) = ? AND content_hash = ?
       AND error_code IS NULL AND task_id <> ? ORDER BY seq LIMIT 1`,
    jobSeq,
    contentHash.slice(0, 16),
    contentHash,
    taskId,
  );
  return first === undefined ? page : { ...page, duplicateOf: String(first.url) };
}

function insertPage(database: SqliteDatabase, completion: Completion, page: NewPage): number {
  return database.insert(
    `INSERT OR REPLACE INTO pages (task_id, job_seq, url, final_url, status_code, content_type, charset, fetched_at,
       depth, content_hash, text_hash, bytes, title, etag, last_modified, duplicate_of, error_code, error_message, record)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    completion.taskId,
    completion.jobSeq,
    page.url,
    page.finalUrl,
    page.statusCode,
    page.contentType,
    page.charset,
    page.fetchedAt,
    page.depth,
    page.contentHash,
    page.textHash,
    page.bytes,
    page.title,
    page.etag,
    page.lastModified,
    page.duplicateOf,
    page.errorCode,
    page.errorMessage,
    page.record,
  );
}
