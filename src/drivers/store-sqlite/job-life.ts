import { spentBudget } from '../../core/model/credits.ts';
import type { JobId, JobSeq } from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import type { StopReason } from '../../core/model/task-reasons.ts';
import { returnHold } from './credit-holds.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeJobEvent } from './event-log.ts';
import type { JobTally } from './tally.ts';

export interface Settled {
  readonly changed: JobId[];
  readonly finished: JobId[];
  readonly stopped: JobId[];
}

/** Writes the counters, stops jobs whose budget is spent and ends those with nothing open. Same transaction. */
export function settleJob(database: SqliteDatabase, tally: JobTally, now: number): Settled {
  tally.apply(database);
  const settled: Settled = { changed: [], finished: [], stopped: [] };
  for (const seq of tally.jobs()) {
    let job = database.get('SELECT * FROM jobs WHERE seq = ?', seq);
    if (job === undefined) continue;
    settled.changed.push(job.id as JobId);
    const spent = spentBudgetOf(job);
    if (spent !== null) {
      stopJob(database, seq, spent, now);
      settled.stopped.push(job.id as JobId);
      job = database.get('SELECT * FROM jobs WHERE seq = ?', seq);
    }
    if (job !== undefined && endIfOver(database, job, now)) settled.finished.push(job.id as JobId);
  }
  return settled;
}

/** The budget that the job has spent; null when there is none, or when the job is stopping or has nothing open. */
function spentBudgetOf(job: SqliteRow): StopReason | null {
  if (job.stop_reason !== null || job.status === 'cancelled' || Number(job.open) === 0) return null;
  const counters = {
    pages: Number(job.pages),
    failed: Number(job.failed),
    bytes: Number(job.bytes),
    browserMs: Number(job.browser_ms),
    proxyBytes: Number(job.proxy_bytes),
  };
  const spent = { counters, microcredits: Number(job.microcredits) };
  const { browserMs, proxyBytes } = counters;
  // These have columns; the options are only parsed where one of the other budgets could be spent.
  const columns = { maxPages: job.max_pages as number | null, maxBytes: job.max_bytes as number | null };
  if (browserMs === 0 && proxyBytes === 0 && spent.microcredits === 0) return spentBudget(spent, columns);
  const { budgets } = JSON.parse(String(job.options)) as JobOptions;
  return spentBudget(spent, { ...budgets, ...columns });
}

/** Removes the tasks that are not under way from the job, with the reason as the deciding rule of each URL. */
export function stopJob(database: SqliteDatabase, seq: JobSeq, reason: StopReason, now: number): void {
  const dropped = dropOpen(database, seq, 'skipped', reason, now);
  database.run(
    'UPDATE jobs SET stop_reason = ?, open = open - ?, skipped = skipped + ? WHERE seq = ?',
    reason,
    dropped,
    dropped,
    seq,
  );
  writeJobEvent(database, 'job.stopping', seq, now);
}

export function dropOpen(
  database: SqliteDatabase,
  seq: JobSeq,
  state: 'skipped' | 'cancelled',
  rule: string | null,
  now: number,
): number {
  return database.run(
    `UPDATE tasks SET state = ?, rule = ?, finished_at = ? WHERE job_seq = ? AND state IN ('ready', 'waiting')`,
    state,
    rule,
    now,
    seq,
  );
}

function endIfOver(database: SqliteDatabase, job: SqliteRow, now: number): boolean {
  if (Number(job.open) > 0 || job.finished_at !== null) return false;
  const status = job.status === 'cancelled' ? 'cancelled' : finalStatus(job);
  const seq = Number(job.seq) as JobSeq;
  database.run('UPDATE jobs SET status = ?, finished_at = ? WHERE seq = ?', status, now, seq);
  writeJobEvent(database, `job.${status}`, seq, now);
  returnHold(database, seq, now);
  return true;
}

/** Status is derived from outcomes: what was refused by a rule is no failure unless nothing else came of the job. */
function finalStatus(job: SqliteRow): 'failed' | 'partially_completed' | 'completed' {
  const failures = Number(job.failed);
  if (Number(job.done) === 0 && failures + Number(job.denied) > 0) return 'failed';
  return failures > 0 ? 'partially_completed' : 'completed';
}
