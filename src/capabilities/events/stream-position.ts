import { type EventCursor, eventPlaceOf, parseEventCursor } from '../../core/ports/event-store.ts';

/**
 * Where a listener of a stream stands, as the id of the last event that it got: the cursor of a stored event, and how many
 * of its pages the listener has where the event is about several.
 */
export interface StreamPosition {
  readonly cursor: EventCursor;
  /** 0: the whole event. */
  readonly taken: number;
}

const POSITION = /^([0-9a-z-]{5,35})(?:\.([1-9]\d{0,5}))?$/;

/** Null when the text is no position that a stream gave out. */
export function parsePosition(text: string): StreamPosition | null {
  const [, cursor = '', taken] = POSITION.exec(text) ?? [];
  if (parseEventCursor(cursor) === null) return null;
  return { cursor: cursor as EventCursor, taken: taken === undefined ? 0 : Number(taken) };
}

export const positionText = ({ cursor, taken }: StreamPosition): string =>
  taken === 0 ? cursor : `${cursor}.${taken}`;

/** The cursor after which the event of the position itself is listed again. */
export function cursorBefore({ cursor }: StreamPosition): EventCursor {
  const { era, tx, seq } = eventPlaceOf(cursor);
  return seq === 0 ? cursor : ([era, tx, seq - 1].map((part) => part.toString(36)).join('-') as EventCursor);
}
