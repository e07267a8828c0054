import { eventCursorOf, type ReaderBatch } from '../../core/ports/event-store.ts';
import { eventOf, eventPlaceFromRow } from './event-rows.ts';
import type { Row } from './rows.ts';

/** `rows` are the events behind the cursor of the reader; those of jobs that have its option are marked as wanted. */
export function readerBatchOf(reader: Row, rows: readonly Row[]): ReaderBatch {
  const after = eventCursorOf(eventPlaceFromRow(reader));
  const last = rows.at(-1);
  return {
    after,
    next: last === undefined ? after : eventCursorOf(eventPlaceFromRow(last)),
    events: rows.filter(({ is_wanted: isWanted }) => Boolean(isWanted)).map(eventOf),
    looked: rows.length,
  };
}

export const readerCursorOf = (reader: Row | undefined) =>
  reader === undefined || reader.era === null ? null : eventCursorOf(eventPlaceFromRow(reader));
