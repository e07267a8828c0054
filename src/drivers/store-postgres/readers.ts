import type { ReaderName } from '../../core/model/derived.ts';
import { eventPlaceOf } from '../../core/model/event-types.ts';
import type { ReaderRange, ReaderStore } from '../../core/ports/reader-store.ts';
import { readerBatchOf, readerCursorOf } from '../store-rows/reader-rows.ts';
import type { PostgresDatabase, Query } from './database.ts';

/** Moves the cursor of a reader within a transaction; false when it is another one by now. */
export async function movePostgresReader(
  query: Query,
  name: ReaderName,
  { after, next }: ReaderRange,
): Promise<boolean> {
  const [from, to] = [eventPlaceOf(after), eventPlaceOf(next)];
  const rows = await query(
    `UPDATE readers SET era = $2, tx = $3, seq = $4
     WHERE name = $1 AND era = $5 AND tx = $6 AND seq = $7 RETURNING name`,
    [name, to.era, to.tx, to.seq, from.era, from.tx, from.seq],
  );
  return rows.length > 0;
}

export function createPostgresReaderStore(database: PostgresDatabase): ReaderStore {
  const find = async (name: ReaderName) => {
    const [row] = await database.query('SELECT * FROM readers WHERE name = $1', [name]);
    return row;
  };

  return {
    async readEvents(name, limit) {
      const reader = await find(name);
      if (reader === undefined || reader.era === null) return null;
      const rows = await database.query(
        `SELECT e.*, coalesce(j.options ? $5, false) AS is_wanted
         FROM (SELECT event_era() AS era OFFSET 0) now CROSS JOIN LATERAL (
           SELECT * FROM events WHERE (era, tx, seq) > ($1, $2, $3) AND (era < now.era OR tx < settled_tx())
           ORDER BY era, tx, seq LIMIT $4
         ) e LEFT JOIN jobs j ON j.id = e.job_id ORDER BY e.era, e.tx, e.seq`,
        [reader.era, reader.tx, reader.seq, limit, reader.option],
      );
      return readerBatchOf(reader, rows);
    },

    readerCursor: async (name) => readerCursorOf(await find(name)),

    advanceReader: (name, range) => movePostgresReader(database.query, name, range),

    async restReader(name, cursor) {
      const { era, tx, seq } = eventPlaceOf(cursor);
      const [row] = await database.query('SELECT rest_reader($1, $2, $3, $4) AS rests', [name, era, tx, seq]);
      return row?.rests === true;
    },
  };
}
