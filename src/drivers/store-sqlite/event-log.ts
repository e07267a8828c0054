import type { JobEventType } from '../../core/model/event-types.ts';
import type { JobSeq } from '../../core/model/ids.ts';
import type { EventStore } from '../../core/ports/event-store.ts';
import { comparePlaces, eventCursorOf, eventPlaceOf } from '../../core/ports/event-store.ts';
import { JOB_COLUMNS } from '../store-rows/job-rows.ts';
import {
  type EventViewStore,
  eventPageOf,
  eventPlaceFromRow,
  jobEventDataOf,
} from '../store-sql/event-views.ts';
import type { EventToWrite } from '../store-sql/steps.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import type { Synchronous } from './sql-methods.ts';

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

/** How the log is written and followed; the rest of the port is shared with the other database. */
type EventLogStore = Omit<EventStore, keyof EventViewStore>;

export function createSqliteEventStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<EventLogStore> {
  const log = (): SqliteRow => database.get('SELECT * FROM event_log') ?? {};

  return {
    listEvents({ accountId, jobId, after, limit }) {
      const place = after === null ? null : eventPlaceOf(after);
      // The index of the job serves for a job, which has one account.
      const conditions = [
        ...(jobId === undefined ? [] : ['job_id = ?']),
        ...(accountId === undefined ? [] : [jobId === undefined ? 'account_id = ?' : '+account_id = ?']),
        '(era, tx, seq) > (?, ?, ?)',
      ];
      const rows = database.all(
        `SELECT * FROM events WHERE ${conditions.join(' AND ')} ORDER BY era, tx, seq LIMIT ?`,
        ...[jobId, accountId].filter((each) => each !== undefined),
        ...[place?.era ?? 0, place?.tx ?? 0, place?.seq ?? 0, limit],
      );
      return eventPageOf(rows, place, log());
    },

    eventHead() {
      const { era, last_seq: seq } = log();
      return eventCursorOf({ era: Number(era), tx: 0, seq: Number(seq) });
    },

    appendEvents(events) {
      for (const event of events) writeEvent(database, event, clock());
    },

    deleteEvents({ before, through, limit }) {
      // A reader that rests has no place.
      const furthestBehind = database.get(
        'SELECT era, tx, seq FROM readers WHERE era IS NOT NULL ORDER BY era, tx, seq LIMIT 1',
      );
      const [last = null] = [
        ...(through === undefined ? [] : [eventPlaceOf(through)]),
        ...(furthestBehind === undefined ? [] : [eventPlaceFromRow(furthestBehind)]),
      ].sort(comparePlaces);
      const bound = last === null ? '' : 'WHERE (era, tx, seq) <= (?, ?, ?)';
      const removed = database.all(
        `SELECT era, tx, seq FROM (
           SELECT era, tx, seq, min(at < ?) OVER (ORDER BY era, tx, seq) AS is_old
           FROM (SELECT era, tx, seq, at FROM events ${bound} ORDER BY era, tx, seq LIMIT ?)
         ) WHERE is_old ORDER BY era, tx, seq`,
        ...[before, ...(last === null ? [] : [last.era, last.tx, last.seq]), limit],
      );
      const newest = removed.at(-1);
      if (newest === undefined) return 0;
      const { era, tx, seq } = eventPlaceFromRow(newest);
      database.run('DELETE FROM events WHERE (era, tx, seq) <= (?, ?, ?)', era, tx, seq);
      database.run('UPDATE event_log SET removed_era = ?, removed_tx = ?, removed_seq = ?', era, tx, seq);
      return removed.length;
    },
  };
}
