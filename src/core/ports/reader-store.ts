import type { ReaderName } from '../model/derived.ts';
import type { EventCursor } from '../model/event-types.ts';
import type { StoredEvent } from './event-store.ts';

/**
 * A part of the store: how far the readers of events have come (`core/model/derived.ts` names them). Each has a cursor of its
 * own, so that one that is broken or slow holds up no other.
 *
 * A reader rests while no job has its option: it has no cursor then, nothing is kept for it, and it begins with the next
 * job that has the option, at the first event of that job. `createJob`, `resumeJob` and `retryJob` see to that within
 * their transactions. So a reader that no job ever asked for costs nothing, and none ever begins with the whole past.
 *
 * While a reader has a cursor, `deleteEvents` removes no event behind it.
 *
 * What a reader does in the store it does in one transaction with the move of its cursor, where it can: by a method of
 * its own part that takes the range as `advanceReader` does. Such a method moves the cursor before it does anything else,
 * and locks no row of a job after that.
 */
export interface ReaderStore {
  /**
   * The next events for the reader: of the first `limit` behind its cursor, those of jobs that have its option and are
   * not deleted. Null while it rests.
   */
  readEvents(name: ReaderName, limit: number): Promise<ReaderBatch | null>;
  /** Up to where it has read; null while it rests, when it has read all that is there for it. */
  readerCursor(name: ReaderName): Promise<EventCursor | null>;
  /** Moves the cursor on. False when it is no longer `after`, and nothing has happened then: another process was first. */
  advanceReader(name: ReaderName, range: ReaderRange): Promise<boolean>;
  /**
   * Lets the reader rest, if its cursor is still this one, every job with its option has ended, and none of them has an
   * event behind the cursor, be it one that cannot be read yet. Returns whether it rests now.
   */
  restReader(name: ReaderName, cursor: EventCursor): Promise<boolean>;
}

export interface ReaderRange {
  readonly after: EventCursor;
  readonly next: EventCursor;
}

export interface ReaderBatch extends ReaderRange {
  /** The events of the batch, in the order of their cursors. */
  readonly events: readonly StoredEvent[];
  /** Events behind the cursor that were looked at, those of other jobs included; `limit` when there may be more. */
  readonly looked: number;
}
