import type { ErrorCode } from '../errors/registry.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { ReaderName } from '../model/derived.ts';
import type { EventType } from '../model/event-types.ts';
import type { AccountId, JobId, TaskId } from '../model/ids.ts';
import type { JobStatus } from '../model/job.ts';
import type { JobKind } from '../model/job-kinds.ts';
import type { ListPage } from './store.ts';

/**
 * A part of the store: what happened, in one order. An event is written in the transaction that makes it true, so there
 * is an event exactly where there is a change, whatever crashes. Readers (webhooks, live events, …) keep a cursor of their
 * own and follow at their own pace; nothing in the way of a URL waits for a reader.
 *
 * The order: no event that is committed later ever sorts before one that `listEvents` has returned, however transactions
 * overtake each other. Within a job the order is that of the commits, so the end of a job comes after its last pages.
 * Their times follow that order: no event of a job is older than the one before it, whatever clocks say.
 * The events of a shared store become readable when every transaction that was under way before them has ended; so a
 * transaction that is kept open, by any user of the database server, delays the readers. It delays nothing else.
 *
 * A cursor stays valid across restarts. In a store that went back in time (see `Store`) it leads to everything that is
 * committed after that, also where numbers are given out again.
 */
export interface EventStore {
  /** Events after the cursor, oldest first, at most `limit`. */
  listEvents(query: EventQuery): Promise<EventPage>;
  /**
   * Events of an account without those of pages, newest first, as far as they are committed: other than `listEvents` it
   * does not wait for transactions that began before. A call looks at `EVENTS_PER_LOOK` events at most, so a page of the
   * list may be short, and empty, although `nextCursor` leads on.
   */
  listRecentEvents(query: RecentEventQuery): Promise<ListPage<StoredEvent>>;
  /** The cursor of now: after it come the events that cannot be read yet, and only those. */
  eventHead(): Promise<EventCursor>;
  /**
   * Writes events that belong to no other transaction, in this order. Events of a job that the ledger writes at the same
   * time may come before or after them.
   */
  appendEvents(events: readonly NewEvent[]): Promise<void>;
  /** The pages that `pages.committed` events of the job name. Pages that were stored again or deleted since are missing. */
  listEventPages(jobId: JobId, pageSeqs: readonly number[]): Promise<readonly EventPageSummary[]>;
  /**
   * Removes the oldest events, at most `limit`: those from before `before`, and of these only up to the first that is
   * younger, that a reader has not read yet (see `ReaderStore`), or that comes after `through` where that is given
   * (where webhooks are). Returns how many.
   * Readers whose cursor lies before the last removed event are told by `hasGap`.
   */
  deleteEvents(query: EventDeletion): Promise<number>;
}

export interface EventQuery {
  /** Left out: of all accounts. */
  readonly accountId?: AccountId | undefined;
  readonly jobId?: JobId | undefined;
  /** When null, events are listed from the oldest that is kept. Throws VALIDATION_FAILED when the text is no cursor. */
  readonly after: EventCursor | null;
  readonly limit: number;
}

/** Events that a list of recent ones looks at for one answer: a crawl writes one for each commit of its pages. */
export const EVENTS_PER_LOOK = 5_000;

export interface RecentEventQuery {
  readonly accountId: AccountId;
  /** Only events before this one; null: from the newest. Throws VALIDATION_FAILED when the text is no cursor. */
  readonly before: EventCursor | null;
  readonly limit: number;
}

export interface EventPage {
  readonly items: readonly StoredEvent[];
  /** Where to go on: that of the last item, or the cursor that was asked for when there is none. */
  readonly next: EventCursor;
  /** Events after the cursor that was asked for have been removed, maybe some that the query would have found. */
  readonly hasGap: boolean;
}

export interface EventDeletion {
  readonly before: number;
  readonly through?: EventCursor | undefined;
  readonly limit: number;
}

export interface NewEvent {
  readonly type: EventType;
  readonly accountId: AccountId;
  readonly jobId: JobId | null;
  readonly data: EventData;
}

export interface StoredEvent extends NewEvent {
  /** Unique for good, also in a store that went back in time. */
  readonly id: string;
  readonly cursor: EventCursor;
  /** When the event was stored, by the store's clock. */
  readonly at: number;
}

/** `JobEventData` for job.*, `PagesEventData` for pages.committed, and as their writers say for the others. */
export type EventData = Readonly<Record<string, unknown>>;

export interface JobEventData {
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly stopReason: string | null;
  readonly counters: JobEventCounters;
}

/** As `JobCounters` has them. Those of `job.created` are zeros. */
export interface JobEventCounters {
  readonly known: number;
  readonly open: number;
  readonly pages: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly denied: number;
  readonly cancelled: number;
  readonly bytes: number;
}

export interface PagesEventData {
  /** Numbers of the pages, in the order in which they were stored. */
  readonly pages: readonly number[];
}

/** A page without its contents. */
export interface EventPageSummary {
  readonly seq: number;
  readonly taskId: TaskId;
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly contentType: string | null;
  readonly title: string | null;
  readonly bytes: number;
  readonly depth: number;
  readonly fetchedAt: number;
  readonly duplicateOf: string | null;
  readonly errorCode: ErrorCode | null;
  readonly errorMessage: string | null;
}

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
