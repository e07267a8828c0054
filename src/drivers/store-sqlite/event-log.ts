import type { JobEventType } from '../../core/model/event-types.ts';
import type { JobSeq } from '../../core/model/ids.ts';
import { jobEventDataOf } from '../store-rows/event-rows.ts';
import { JOB_COLUMNS } from '../store-rows/job-rows.ts';
import type { EventToWrite } from '../store-sql/steps.ts';
import type { SqliteDatabase } from './database.ts';

/** Writes an event within the transaction under way. Its time is not before that of the job's last event. */
export function writeEvent(database: SqliteDatabase, event: EventToWrite, now: number): void {
  const { era, last_seq: seq } = nextPlace(database, now);
  database.run(
    'INSERT INTO events (era, tx, seq, type, account_id, job_id, at, data) VALUES (?, 0, ?, ?, ?, ?, ?, ?)',
    Number(era),
    Number(seq),
    event.type,
    event.accountId,
    event.jobId,
    event.jobId === null ? Math.floor(now) : Math.max(Math.floor(now), lastTimeOf(database, event.jobId)),
    JSON.stringify(event.data),
  );
}

/** The time of the job's last event; 0 for its first one. */
function lastTimeOf(database: SqliteDatabase, jobId: string): number {
  const last = database.get(
    'SELECT at FROM events WHERE job_id = ? ORDER BY era DESC, tx DESC, seq DESC LIMIT 1',
    jobId,
  );
  return Number(last?.at ?? 0);
}

/** The first event of an opening begins an era. */
function nextPlace(database: SqliteDatabase, now: number) {
  const place =
    database.get(
      'UPDATE event_log SET last_seq = last_seq + 1 WHERE incarnation = ? RETURNING era, last_seq',
      database.incarnation,
    ) ??
    database.get(
      `UPDATE event_log SET last_seq = last_seq + 1, era = max(era + 1, ?), incarnation = ?
       RETURNING era, last_seq`,
      Math.floor(now),
      database.incarnation,
    );
  if (place === undefined) throw new Error('The table event_log has no row.');
  return place;
}

/** Writes what became of a job, with its status and counters as they are in its row now. */
export function writeJobEvent(database: SqliteDatabase, type: JobEventType, seq: JobSeq, now: number): void {
  const job = database.get(`SELECT ${JOB_COLUMNS} FROM jobs j WHERE seq = ?`, seq);
  if (job === undefined) return;
  const [accountId, jobId] = [String(job.account_id), String(job.id)];
  writeEvent(database, { type, accountId, jobId, data: { ...jobEventDataOf(job) } }, now);
}

/** Writes which pages of which jobs the transaction has stored. */
export function writePagesEvents(
  database: SqliteDatabase,
  stored: ReadonlyMap<JobSeq, readonly number[]>,
  now: number,
): void {
  for (const [seq, pages] of stored) {
    const job = database.get('SELECT id, account_id FROM jobs WHERE seq = ?', seq);
    if (job === undefined) continue;
    const [accountId, jobId] = [String(job.account_id), String(job.id)];
    writeEvent(database, { type: 'pages.committed', accountId, jobId, data: { pages } }, now);
  }
}
