import { ERRORS } from '../../core/errors/registry.ts';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ReaderName } from '../../core/model/derived.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Bus } from '../../core/ports/bus.ts';
import {
  compareCursors,
  type PagesEventData,
  type ReaderBatch,
  type ReaderRange,
  type StoredEvent,
} from '../../core/ports/event-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { createNotifier, type Notifier, waitAtMost } from '../../lib/waits.ts';

/** Follows the events of the jobs that have its option, in each process that has the duty; one of them at a time reads. */
export interface EventReader {
  readonly name: ReaderName;
  start(): void;
  /** Reads nothing more and waits for the batch under way, up to `limitMs`. */
  stop(limitMs: number): Promise<void>;
  /** Resolves when everything was read that could be read when this was called, or it was stopped. */
  settle(): Promise<void>;
  /** How long ago this process learned of the first event that it has not read, or longer; 0: it has read all. */
  lagMs(): number;
}

export interface EventReaderDeps {
  readonly name: ReaderName;
  readonly store: Pick<
    Store,
    'readEvents' | 'readerCursor' | 'advanceReader' | 'restReader' | 'leaseWork' | 'endWork'
  >;
  readonly bus: Bus;
  readonly logger: Logger;
  /** A clock that never goes back. */
  readonly clock: () => number;
  /** Names this process among others that share the store; null: there are no others. */
  readonly owner: string | null;
  /** The reader whose effects this one needs: an event is handed over when that one has read it. */
  readonly follows?: ReaderName;
  /** This process has more urgent work: events wait then, LONGEST_WAIT_MS at most. Missing: events never wait. */
  readonly isBusy?: () => boolean;
  /**
   * Does what the events ask for and moves the cursor from `after` to `next`: in the same transaction where it can,
   * otherwise by `advanceReader` afterwards, and then all of it must be harmless when it is repeated. Returns whether the
   * cursor was moved; false: another process was first. There may be no event among them.
   */
  readonly apply: (events: readonly StoredEvent[], range: ReaderRange) => Promise<boolean>;
}

/** Events read at once. */
const BATCH = 500;
/** How often to look when nothing happens. */
const IDLE_MS = 1_000;
/** A crawl tells of every commit: some of them are read together. */
const READ_PAUSE_MS = 500;
const ERROR_MS = 5_000;
/** How long events may wait for more urgent work. After that they are read beside it, all that there are by then. */
export const LONGEST_WAIT_MS = 30_000;
const WAIT_STEP_MS = 100;
/** In place of longer pauses while a command waits for the end. */
const SETTLE_PAUSE_MS = 50;
const LEASE_MS = 30_000;
/** How often to try to rest: it looks at all jobs that go on. */
const REST_EVERY_MS = 10_000;
/** Tries of an event that fails by itself, before it is passed over. */
const MOST_TRIES = 3;

/** Pages of one step of a reader: more would hold up the store, or take much memory, in one transaction. */
const MOST_PAGES = 1_000;

/**
 * A reader is woken by the bus, and looks once a second without it. When `apply` fails because a server is away, it is
 * tried again for as long as that takes. After any other error the events of the batch are handed over one by one, and
 * one that fails three times is logged and passed over: it must not stop those behind it for good.
 */
export function createEventReader(deps: EventReaderDeps): EventReader {
  const { name, store, bus, logger, clock, owner, follows, isBusy = () => false, apply } = deps;
  const notifier = createNotifier();
  let isStopping = false;
  let loop: Promise<void> = Promise.resolve();
  let unsubscribe: () => void = () => undefined;
  let leasedAt = Number.NEGATIVE_INFINITY;
  let triedRestAt = Number.NEGATIVE_INFINITY;
  /** The event that failed last. */
  let tried = { id: '', times: 0 };
  let isResting = true;
  /** When this process learned of the first event that is not read yet, and when of the last one; null: all is read. */
  let heard: { readonly first: number; readonly last: number } | null = null;
  let settling: (() => void)[] = [];

  /** Whether this process is the one that reads. */
  async function isOurs(): Promise<boolean> {
    if (owner === null) return true;
    if (clock() - leasedAt < LEASE_MS / 3) return true;
    const asked = clock();
    const isLeased = await store.leaseWork(`reader:${name}`, owner, LEASE_MS);
    leasedAt = isLeased ? asked : Number.NEGATIVE_INFINITY;
    return isLeased;
  }

  /** What the followed reader has read as well. */
  async function readable(batch: ReaderBatch): Promise<ReaderBatch> {
    if (follows === undefined || batch.looked === 0) return batch;
    const bound = await store.readerCursor(follows);
    if (bound === null || compareCursors(batch.next, bound) <= 0) return batch;
    const events = batch.events.filter(({ cursor }) => compareCursors(cursor, bound) <= 0);
    const next = compareCursors(bound, batch.after) < 0 ? batch.after : bound;
    return { ...batch, events, next, looked: 0 };
  }

  async function handOver({ events, after, next }: ReaderBatch): Promise<void> {
    try {
      if (events.length === 0) await store.advanceReader(name, { after, next });
      else await apply(events, { after, next });
    } catch (error) {
      if (isStopping || isAway(error)) throw error;
      const [first] = events;
      if (first === undefined) throw error;
      if (events.length === 1) return failed(first, { after, next }, error);
      await handOver({ events: [first], after, next: first.cursor, looked: 1 });
      const isPast = (await store.readerCursor(name)) === first.cursor;
      if (isPast) await handOver({ events: events.slice(1), after: first.cursor, next, looked: 1 });
    }
  }

  async function failed(event: StoredEvent, range: ReaderRange, error: unknown): Promise<void> {
    tried = { id: event.id, times: tried.id === event.id ? tried.times + 1 : 1 };
    const details = { err: error, reader: name, eventId: event.id, jobId: event.jobId, tries: tried.times };
    if (tried.times < MOST_TRIES) {
      logger.warn(details, 'reader: an event could not be applied');
      await pauseUnlessStopping(IDLE_MS);
      return;
    }
    logger.error(details, 'reader: an event was passed over');
    await store.advanceReader(name, range);
  }

  /** True when there may be more to read at once. */
  async function step(): Promise<boolean> {
    if (!(await isOurs())) return false;
    const waiting = [...settling];
    const askedAt = clock();
    const batch = await store.readEvents(name, BATCH);
    const wasResting = isResting;
    isResting = batch === null;
    // A job has just asked for this reader: it may keep the process busy, and its first events wait like later ones.
    if (wasResting && batch !== null && batch.looked > 0 && isBusy()) return true;
    if ((batch?.looked ?? 0) === 0 && heard !== null) {
      heard = heard.last < askedAt ? null : { first: askedAt, last: heard.last };
    }
    if (batch !== null && batch.looked > 0) {
      const some = await readable(batch);
      if (some.next !== some.after) await handOver(some);
      return some.looked > 0;
    }
    if (batch !== null && (waiting.length > 0 || clock() - triedRestAt >= REST_EVERY_MS)) {
      triedRestAt = clock();
      isResting = await store.restReader(name, batch.after);
    }
    settling = settling.filter((each) => !waiting.includes(each));
    for (const settled of waiting) settled();
    return false;
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        // A reader that rests has no events that could wait: the step finds out whether a job wants it.
        if (!isResting) await giveWay();
        if (await step()) continue;
        await notifier.wait(IDLE_MS);
        await pauseUnlessStopping(READ_PAUSE_MS);
      } catch (error) {
        if (isStopping) return;
        logger.warn({ err: error, reader: name }, 'reader: events were not read');
        await pauseUnlessStopping(ERROR_MS);
      }
    }
  }

  /** Waits for more urgent work, unless a command waits for the end. */
  async function giveWay(): Promise<void> {
    const since = clock();
    while (!isStopping && settling.length === 0 && isBusy()) {
      if (clock() - (heard?.first ?? since) >= LONGEST_WAIT_MS) return;
      await pauseUnlessStopping(WAIT_STEP_MS);
    }
  }

  const stopped: Notifier = createNotifier();
  async function pauseUnlessStopping(ms: number): Promise<void> {
    if (!isStopping) await stopped.wait(settling.length === 0 ? ms : SETTLE_PAUSE_MS);
  }

  return {
    name,
    start() {
      unsubscribe = bus.subscribe('job.changed', () => {
        heard = { first: heard?.first ?? clock(), last: clock() };
        if (!isResting) notifier.notify();
      });
      loop = run();
    },
    settle() {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (isStopping) resolve();
      else settling.push(resolve);
      notifier.notify();
      stopped.notify();
      return promise;
    },
    lagMs: () => (isResting || heard === null ? 0 : clock() - heard.first),
    async stop(limitMs) {
      isStopping = true;
      unsubscribe();
      notifier.notify();
      stopped.notify();
      for (const settled of settling.splice(0)) settled();
      await waitAtMost(limitMs, loop);
      if (owner !== null && leasedAt > 0) {
        await waitAtMost(
          limitMs,
          store.endWork(`reader:${name}`, owner).catch(() => undefined),
        );
      }
    },
  };
}

/** A server that is away, or a disk that is full: the same may work later. */
const isAway = (error: unknown): boolean => isScrapifieError(error) && ERRORS[error.code].retry === 'later';

/** The first events, one at least, as far as they tell of so many pages that one step can take them. */
export function firstEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  let pages = 0;
  const end = events.findIndex(({ type, data }) => {
    if (type === 'pages.committed') pages += (data as unknown as PagesEventData).pages.length;
    return pages > MOST_PAGES;
  });
  return end === -1 ? events : events.slice(0, Math.max(1, end));
}
