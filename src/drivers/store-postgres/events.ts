import type { EventStore } from '../../core/ports/event-store.ts';
import { eventCursorOf, eventPlaceOf } from '../../core/ports/event-store.ts';
import type { EventViewStore } from '../store-sql/event-views.ts';
import { eventPageOf, eventPlaceFromRow } from '../store-sql/event-views.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** How the log is written and followed; the rest of the port is shared with the other database. */
type EventLogStore = Omit<EventStore, keyof EventViewStore>;

export function createPostgresEventStore(database: PostgresDatabase): EventLogStore {
  return {
    async listEvents({ accountId, jobId, after, limit }) {
      const place = after === null ? null : eventPlaceOf(after);
      const values: unknown[] = [place?.era ?? 0, place?.tx ?? 0, place?.seq ?? 0, limit];
      const condition = (column: string, value: string | undefined) => {
        if (value === undefined) return '';
        values.push(value);
        return `AND ${column} = $${values.length}`;
      };
      // The index of the job serves for a job, which has one account.
      const conditions =
        jobId === undefined
          ? condition('account_id', accountId)
          : `${condition('job_id', jobId)} ${condition("account_id || ''", accountId)}`;
      const rows = await database.query(
        `SELECT l.removed_era, l.removed_tx, l.removed_seq, e.*
         FROM (SELECT event_era() AS era OFFSET 0) now CROSS JOIN event_log l LEFT JOIN LATERAL (
           SELECT * FROM events WHERE (era, tx, seq) > ($1, $2, $3) AND (era < now.era OR tx < settled_tx())
             ${conditions}
           ORDER BY era, tx, seq LIMIT $4
         ) e ON true ORDER BY e.era, e.tx, e.seq`,
        values,
      );
      return eventPageOf(
        rows.filter(({ seq }) => seq !== null),
        place,
        rows[0] ?? {},
      );
    },

    async eventHead() {
      const [row] = await database.query('SELECT event_era() AS era, settled_tx() AS tx, 0 AS seq');
      return eventCursorOf(eventPlaceFromRow(row ?? {}));
    },

    async appendEvents(events) {
      if (events.length === 0) return;
      await database.query(
        `SELECT write_event(type, account_id, job_id, ${NOW}, data) FROM (
           SELECT * FROM ROWS FROM (
             json_to_recordset($1) AS (type text, account_id text, job_id text, data jsonb)
           ) WITH ORDINALITY AS e (type, account_id, job_id, data, ord) ORDER BY ord
         ) ordered`,
        [
          jsonParameter(
            events.map(({ type, accountId, jobId, data }) => ({
              type,
              account_id: accountId,
              job_id: jobId,
              data,
            })),
          ),
        ],
      );
    },

    async deleteEvents({ before, through, limit }) {
      const last = through === undefined ? null : eventPlaceOf(through);
      const [row] = await database.query(
        // A reader that rests has no place, and there may be no bound.
        `SELECT remove_events($1, b.era, b.tx, b.seq, $5) AS removed
         FROM (SELECT) here LEFT JOIN LATERAL (
           SELECT era, tx, seq FROM (
             SELECT era, tx, seq FROM readers UNION ALL VALUES ($2::bigint, $3::bigint, $4::bigint)
           ) bounds WHERE era IS NOT NULL ORDER BY era, tx, seq LIMIT 1
         ) b ON true`,
        [Math.floor(before), last?.era ?? null, last?.tx ?? null, last?.seq ?? null, limit],
      );
      return Number(row?.removed);
    },
  };
}
