import { ScrapifieError } from '../errors/scrapifie-error.ts';

/** A place between two events of the store, as text that clients keep. Two are compared by `compareCursors` only. */
export type EventCursor = string & { readonly eventCursor: true };

/**
 * Where an event stands. `era` grows with every incarnation of the store, by the clock, so that events of a store that
 * went back in time come after all that was read before. `tx` is the number of a transaction where transactions overtake
 * each other, else 0.
 */
export interface EventPlace {
  readonly era: number;
  readonly tx: number;
  readonly seq: number;
}

const CURSOR = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-z]{1,11})$/;

/** The place before the first event: a reader that begins here gets every event. */
export const FIRST_CURSOR = '0-0-0' as EventCursor;

export const eventCursorOf = ({ era, tx, seq }: EventPlace): EventCursor =>
  [era, tx, seq].map((part) => part.toString(36)).join('-') as EventCursor;

/** Null when the text is no cursor. */
export function parseEventCursor(text: string): EventPlace | null {
  const [era, tx, seq] = (CURSOR.exec(text) ?? []).slice(1).map((part) => Number.parseInt(part, 36));
  if (era === undefined || tx === undefined || seq === undefined) return null;
  return [era, tx, seq].every(Number.isSafeInteger) ? { era, tx, seq } : null;
}

export function eventPlaceOf(cursor: string): EventPlace {
  const place = parseEventCursor(cursor);
  if (place !== null) return place;
  throw new ScrapifieError('VALIDATION_FAILED', 'The cursor is not one this server gave out.', {
    details: [{ field: 'after', message: 'unknown cursor' }],
  });
}

export const comparePlaces = (a: EventPlace, b: EventPlace): number =>
  a.era - b.era || a.tx - b.tx || a.seq - b.seq;

/** Negative when the first lies before the second. */
export const compareCursors = (a: EventCursor, b: EventCursor): number =>
  comparePlaces(eventPlaceOf(a), eventPlaceOf(b));
