import type { JobId, JobSeq } from '../../model/ids.ts';
import type { JobOptions } from '../../model/job.ts';
import { returnHold } from './credit-holds.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeJobEvent } from './event-log.ts';
import { createTally, type JobTally } from './tally.ts';

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
    const spent = spentBudget(job);
    if (spent !== null) {
      stopJob(database, seq, spent, now);
      settled.stopped.push(job.id as JobId);
      job = database.get('SELECT * FROM jobs WHERE seq = ?', seq);
    }
    if (job !== undefined && endIfOver(database, job, now)) settled.finished.push(job.id as JobId);
  }
  return settled;
}

function spentBudget(job: SqliteRow): string | null {
  if (job.stop_reason !== null || job.status === 'cancelled' || Number(job.open) === 0) return null;
  if (job.max_pages !== null && Number(job.pages) + Number(job.failed) >= Number(job.max_pages))
    return 'budget.pages';
  if (job.max_bytes !== null && Number(job.bytes) >= Number(job.max_bytes)) return 'budget.bytes';
  const [browserMs, proxyBytes] = [Number(job.browser_ms), Number(job.proxy_bytes)];
  const microcredits = Number(job.microcredits);
  if (browserMs === 0 && proxyBytes === 0 && microcredits === 0) return null;
  const { budgets } = JSON.parse(String(job.options)) as JobOptions;
  if (browserMs >= (budgets.maxBrowserMs ?? Number.POSITIVE_INFINITY)) return 'budget.browser';
  if (proxyBytes >= (budgets.maxProxyBytes ?? Number.POSITIVE_INFINITY)) return 'budget.proxy';
  return microcredits >= (budgets.maxMicrocredits ?? Number.POSITIVE_INFINITY) ? 'budget.credits' : null;
}

/** Removes the tasks that are not under way from the job, with the reason as the deciding rule of each URL. */
export function stopJob(database: SqliteDatabase, seq: JobSeq, reason: string, now: number): void {
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

/** Puts ended tasks of a job back to work. The caller has written their new state. */
export function reopenJob(
  database: SqliteDatabase,
  seq: JobSeq,
  opened: number,
  from: 'failed' | 'cancelled' | 'skipped',
) {
  const tally = createTally();
  const delta = tally.of(seq);
  delta.open += opened;
  delta[from] -= opened;
  tally.apply(database);
}
