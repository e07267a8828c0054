import { comparePlaces, type EventStore, eventCursorOf, eventPlaceOf } from '../../core/ports/event-store.ts';
import { eventPageOf, eventPlaceFromRow } from '../store-rows/event-rows.ts';
import type { EventViewStore } from '../store-sql/event-views.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeEvent } from './event-log.ts';
import type { Synchronous } from './synchronous.ts';

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
