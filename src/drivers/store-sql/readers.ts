import type { ReaderName } from '../../core/model/derived.ts';
import type { ReaderBatch, ReaderRange, ReaderStore } from '../../core/ports/event-store.ts';
import { eventCursorOf, eventPlaceOf } from '../../core/ports/event-store.ts';
import type { Row } from '../store-rows/rows.ts';
import { eventOf, eventPlaceFromRow } from './event-views.ts';
import { change, type Methods, read } from './methods.ts';
import { either, raw, sql } from './sql.ts';
import { all, changed, get, type Steps } from './steps.ts';

const readerCursorOf = (reader: Row | undefined) =>
  reader === undefined || reader.era === null ? null : eventCursorOf(eventPlaceFromRow(reader));

/** Moves the cursor of a reader; false when it is another one by now. */
export function* moveReader(name: ReaderName, { after, next }: ReaderRange): Steps<boolean> {
  const [from, to] = [eventPlaceOf(after), eventPlaceOf(next)];
  return yield* changed(
    sql`UPDATE readers SET era = ${to.era}, tx = ${to.tx}, seq = ${to.seq}
      WHERE name = ${name} AND era = ${from.era} AND tx = ${from.tx} AND seq = ${from.seq}`,
  );
}

const selectReader = (name: ReaderName) => sql`SELECT * FROM readers WHERE name = ${name}`;

/** The job (j) asks for what the reader makes, by the name of its option, in SQLite. */
const IS_WANTED = raw(`json_type(j.options, '$.' || option) IS NOT NULL`);

export const readerStore: Methods<ReaderStore> = {
  readEvents: read(function* (name, limit) {
    const reader = yield* get(selectReader(name));
    if (reader === undefined || reader.era === null) return null;
    const after = sql`(${Number(reader.era)}, ${Number(reader.tx)}, ${Number(reader.seq)})`;
    const option = String(reader.option);
    // PostgreSQL shows no event before every transaction that may still write an earlier one has ended.
    const rows = yield* all(
      either(
        sql`SELECT e.*, EXISTS (
            SELECT 1 FROM jobs j WHERE j.id = e.job_id AND json_type(j.options, '$.' || ${option}) IS NOT NULL
          ) AS is_wanted
          FROM events e WHERE (e.era, e.tx, e.seq) > ${after} ORDER BY e.era, e.tx, e.seq LIMIT ${limit}`,
        sql`SELECT e.*, coalesce(j.options ? ${option}, false) AS is_wanted
          FROM (SELECT event_era() AS era OFFSET 0) now CROSS JOIN LATERAL (
            SELECT * FROM events WHERE (era, tx, seq) > ${after} AND (era < now.era OR tx < settled_tx())
            ORDER BY era, tx, seq LIMIT ${limit}
          ) e LEFT JOIN jobs j ON j.id = e.job_id ORDER BY e.era, e.tx, e.seq`,
      ),
    );
    return readerBatchOf(reader, rows);
  }),

  readerCursor: read(function* (name) {
    return readerCursorOf(yield* get(selectReader(name)));
  }),

  // Events that were read are read again, and bring nothing twice.
  advanceReader: change(moveReader, { isUnsynced: true }),

  restReader: change(
    function* (name, cursor) {
      const { era, tx, seq } = eventPlaceOf(cursor);
      const rested = yield* get(
        either(
          sql`UPDATE readers SET era = NULL, tx = NULL, seq = NULL
            WHERE name = ${name} AND era = ${era} AND tx = ${tx} AND seq = ${seq} AND NOT EXISTS (
              SELECT 1 FROM jobs j WHERE j.finished_at IS NULL AND ${IS_WANTED}
            ) AND NOT EXISTS (
              SELECT 1 FROM events e JOIN jobs j ON j.id = e.job_id
              WHERE (e.era, e.tx, e.seq) > (${era}, ${tx}, ${seq}) AND ${IS_WANTED}
            ) RETURNING 1 AS rests`,
          sql`SELECT rest_reader(${name}, ${era}, ${tx}, ${seq}) AS rests`,
        ),
      );
      return Boolean(rested?.rests);
    },
    { isUnsynced: true },
  ),
};

/** `rows` are the events behind the cursor of the reader; those of jobs that have its option are marked as wanted. */
function readerBatchOf(reader: Row, rows: readonly Row[]): ReaderBatch {
  const after = eventCursorOf(eventPlaceFromRow(reader));
  const last = rows.at(-1);
  return {
    after,
    next: last === undefined ? after : eventCursorOf(eventPlaceFromRow(last)),
    events: rows.filter(({ is_wanted: isWanted }) => Boolean(isWanted)).map(eventOf),
    looked: rows.length,
  };
}
