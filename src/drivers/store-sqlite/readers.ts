import type { ReaderName } from '../../core/model/derived.ts';
import { eventPlaceOf } from '../../core/model/event-types.ts';
import type { ReaderRange, ReaderStore } from '../../core/ports/reader-store.ts';
import { readerBatchOf, readerCursorOf } from '../store-rows/reader-rows.ts';
import type { SqliteDatabase } from './database.ts';
import type { Synchronous } from './synchronous.ts';

/** Moves the cursor of a reader within the transaction under way; false when it is another one by now. */
export function moveSqliteReader(
  database: SqliteDatabase,
  name: ReaderName,
  { after, next }: ReaderRange,
): boolean {
  const [from, to] = [eventPlaceOf(after), eventPlaceOf(next)];
  const changed = database.run(
    'UPDATE readers SET era = ?, tx = ?, seq = ? WHERE name = ? AND era = ? AND tx = ? AND seq = ?',
    ...[to.era, to.tx, to.seq, name, from.era, from.tx, from.seq],
  );
  return changed > 0;
}

export function createSqliteReaderStore(database: SqliteDatabase): Synchronous<ReaderStore> {
  const find = (name: ReaderName) => database.get('SELECT * FROM readers WHERE name = ?', name);

  return {
    readEvents(name, limit) {
      const reader = find(name);
      if (reader === undefined || reader.era === null) return null;
      const rows = database.all(
        `SELECT e.*, EXISTS (
           SELECT 1 FROM jobs j WHERE j.id = e.job_id AND json_type(j.options, '$.' || ?) IS NOT NULL
         ) AS is_wanted
         FROM events e WHERE (e.era, e.tx, e.seq) > (?, ?, ?) ORDER BY e.era, e.tx, e.seq LIMIT ?`,
        ...[String(reader.option), Number(reader.era), Number(reader.tx), Number(reader.seq), limit],
      );
      return readerBatchOf(reader, rows);
    },

    readerCursor: (name) => readerCursorOf(find(name)),

    advanceReader: (name, range) => moveSqliteReader(database, name, range),

    restReader(name, cursor) {
      const { era, tx, seq } = eventPlaceOf(cursor);
      const changed = database.run(
        `UPDATE readers SET era = NULL, tx = NULL, seq = NULL
         WHERE name = ? AND era = ? AND tx = ? AND seq = ? AND NOT EXISTS (
           SELECT 1 FROM jobs j WHERE j.finished_at IS NULL AND json_type(j.options, '$.' || option) IS NOT NULL
         ) AND NOT EXISTS (
           SELECT 1 FROM events e JOIN jobs j ON j.id = e.job_id
           WHERE (e.era, e.tx, e.seq) > (?, ?, ?) AND json_type(j.options, '$.' || option) IS NOT NULL
         )`,
        ...[name, era, tx, seq, era, tx, seq],
      );
      return changed > 0;
    },
  };
}
