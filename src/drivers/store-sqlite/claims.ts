import { CREDITS_EXHAUSTED } from '../../core/model/credits.ts';
import type { JobId, JobSeq } from '../../core/model/ids.ts';
import type { Task } from '../../core/model/task.ts';
import type { Turns } from '../../core/model/turns.ts';
import type { LeaseRef } from '../../core/ports/host-store.ts';
import { spareFor } from '../store-rows/credit-rows.ts';
import { taskOf } from '../store-rows/rows.ts';
import { placesOf } from './account-places.ts';
import { hold, type Purse, purseOf } from './credit-holds.ts';
import type { SqliteDatabase } from './database.ts';
import { dueTasks } from './due-tasks.ts';
import { writeJobEvent } from './event-log.ts';
import { createTally, settleJob, stopJob } from './job-life.ts';

interface JobBudget {
  readonly id: JobId;
  readonly pagesLeft: number;
  readonly accountId: string;
  readonly claimed: number;
  readonly reserve: number;
  /** Null when nothing has to be reserved. */
  readonly purse: Purse | null;
}

/** Claims due tasks of the host, within what their jobs may fetch and what their accounts can pay for. */
export function claimTasks(
  database: SqliteDatabase,
  lease: LeaseRef,
  limit: number,
  exceptJobs: readonly JobSeq[],
  turns: Turns,
  now: number,
): readonly Task[] {
  const claimed: Task[] = [];
  const jobs = new Map<JobSeq, JobBudget>();
  /** What accounts have left for other claims. */
  const free = new Map<string, number>();
  const places = placesOf(database, lease.hostId, now);
  const tally = createTally();
  /** Jobs of which a task was left for want of credits; others were left for other reasons, and wait. */
  const unpaid = new Set<JobSeq>();
  const due = dueTasks(database, lease.hostId, turns);
  const passedOver = new Set<JobSeq>(exceptJobs);
  // A job at its page budget is found out by its surplus; then the host is asked again without that job.
  for (let isOver = false; !isOver && claimed.length < limit; ) {
    const { rows, isAll } = due.next(limit - claimed.length, passedOver);
    isOver = isAll;
    for (const row of rows) {
      const seq = Number(row.job_seq) as JobSeq;
      const job = jobs.get(seq) ?? budgetOf(database, seq, now);
      jobs.set(seq, job);
      const delta = tally.of(seq);
      const isPage = row.kind === 'page';
      const isOverBudget = isPage && delta.claimedPages >= job.pagesLeft;
      if (!isOverBudget && !places.has(job.accountId)) {
        // All jobs of the account have to wait, so that the others of the host do not.
        for (const one of places.jobsOf(job.accountId)) passedOver.add(one);
        isOver = false;
        continue;
      }
      const isUnpaid = !isOverBudget && !canPay(job, delta.claimed + 1, free);
      if (isUnpaid) unpaid.add(seq);
      if (isOverBudget || isUnpaid) {
        passedOver.add(seq);
        isOver = false;
        continue;
      }
      places.take(job.accountId);
      delta.claimed += 1;
      if (isPage) delta.claimedPages += 1;
      database.run(`UPDATE tasks SET state = 'claimed', epoch = ? WHERE id = ?`, lease.epoch, Number(row.id));
      due.served(row);
      const task = taskOf(row, job.id);
      claimed.push(places.isBounded(job.accountId) ? { ...task, isBounded: true } : task);
    }
  }
  places.note();
  tally.apply(database);
  for (const [seq, job] of jobs) {
    if (job.purse === null) continue;
    const { claimed: more } = tally.of(seq);
    payFor(database, seq, job, more, free, now);
    if (unpaid.has(seq) && job.claimed + more === 0) stopUnpaid(database, seq, now);
  }
  for (const job of tally.jobs()) {
    if (tally.of(job).claimed === 0) continue;
    const started = database.run(
      `UPDATE jobs SET status = 'running', started_at = coalesce(started_at, ?) WHERE seq = ? AND started_at IS NULL`,
      now,
      job,
    );
    if (started > 0) writeJobEvent(database, 'job.started', job, now);
  }
  return claimed;
}

/** How many more pages and tasks of the job may be claimed. */
function budgetOf(database: SqliteDatabase, seq: JobSeq, now: number): JobBudget {
  const row = database.get(
    `SELECT id, account_id, max_pages, pages, failed, claimed, claimed_pages, reserve_microcredits FROM jobs
     WHERE seq = ?`,
    seq,
  );
  const spoken = Number(row?.pages) + Number(row?.failed) + Number(row?.claimed_pages);
  const most = (row?.max_pages ?? null) as number | null;
  const [accountId, claimed, reserve] = [
    String(row?.account_id),
    Number(row?.claimed),
    Number(row?.reserve_microcredits),
  ];
  return {
    id: row?.id as JobId,
    pagesLeft: most === null ? Number.POSITIVE_INFINITY : most - spoken,
    accountId,
    claimed,
    reserve,
    purse: purseOf(database, seq, accountId, reserve, now),
  };
}

/** Holds credits for the claimed tasks of a job. */
function payFor(
  database: SqliteDatabase,
  seq: JobSeq,
  { accountId, claimed, reserve }: JobBudget,
  more: number,
  free: Map<string, number>,
  now: number,
): void {
  if (more === 0) return;
  const left = free.get(accountId) ?? 0;
  const spare = spareFor(left, reserve);
  free.set(accountId, left - spare);
  hold(database, seq, accountId, (claimed + more) * reserve, spare, now);
}

/** A job that has nothing under way and cannot pay for a task. */
function stopUnpaid(database: SqliteDatabase, seq: JobSeq, now: number): void {
  stopJob(database, seq, CREDITS_EXHAUSTED, now);
  const tally = createTally();
  tally.of(seq);
  settleJob(database, tally, now);
}

/** Whether credits can be held for `more` tasks of the job; what they need is then taken from `free`. */
function canPay({ accountId, claimed, reserve, purse }: JobBudget, more: number, free: Map<string, number>) {
  if (purse === null) return true;
  const left = free.get(accountId) ?? purse.free;
  const missing = Math.max(0, (claimed + more) * reserve - purse.held);
  if (missing > left) return false;
  purse.held += missing;
  free.set(accountId, left - missing);
  return true;
}
