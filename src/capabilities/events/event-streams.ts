import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { Store } from '../../core/ports/store.ts';
import { type DropReason, EventListener, type EventSink } from './event-listener.ts';
import { EventTail } from './event-tail.ts';
import type { EventLinks, StreamPosition } from './stream-frames.ts';
import type { StreamScope } from './stream-slice.ts';

export interface StreamRequest extends StreamScope {
  /** The last event that the client has; null: it has none and gets all that are kept. */
  readonly after: StreamPosition | null;
  /** Whether pages are shown of jobs that could read stored credentials. */
  readonly mayReadPrivate: boolean;
  readonly sink: EventSink;
  /** Whether the client may still listen; asked every few seconds. */
  readonly isAllowed: () => Promise<boolean>;
}

/** The streams of live events that this process serves. All listeners of one stream share one reader of the store. */
export interface EventStreams {
  /** Resolves when the stream has ended. Throws TOO_MANY_STREAMS. */
  listen(request: StreamRequest): Promise<void>;
  count(): number;
  /** Ends all streams: clients come back, and find another process or this one after its start. */
  close(): void;
}

export interface EventStreamsOptions {
  readonly store: Pick<Store, 'listEvents' | 'listEventPages' | 'getJob' | 'listWaits'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly links: EventLinks;
  readonly now: () => number;
  readonly maxStreams: number;
  readonly maxPerAccount: number;
  readonly onDropped?: (why: DropReason) => void;
  readonly pollMs?: number;
  readonly heartbeatMs?: number;
  readonly checkMs?: number;
  readonly drainMs?: number;
}

/** Between two looks at the store for one stream: events are sent at most four times a second. */
const JOB_PACE_MS = 250;
const ACCOUNT_PACE_MS = 500;
const POLL_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const CHECK_MS = 5_000;
const DRAIN_MS = 10_000;
/** Jobs whose privacy a stream remembers. */
const MOST_REMEMBERED = 1_000;

interface Open {
  readonly listener: EventListener;
  readonly isAllowed: () => Promise<boolean>;
}

export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { store, pollMs = POLL_MS, heartbeatMs = HEARTBEAT_MS, drainMs = DRAIN_MS } = options;
  const tails = new Map<string, EventTail>();
  const open = new Set<Open>();
  const perAccount = new Map<AccountId, number>();
  let isClosed = false;

  const unsubscribe = options.bus.subscribe('job.changed', ({ jobs, finished }) => {
    if (tails.size === 0) return;
    const changed = new Set<string>([...jobs, ...finished]);
    for (const tail of tails.values()) {
      if (tail.scope.jobId === null || changed.has(tail.scope.jobId)) tail.wake();
    }
  });
  const beats = setInterval(() => {
    for (const { listener } of open) listener.beat(performance.now(), heartbeatMs);
  }, heartbeatMs / 3).unref();
  const checks = setInterval(() => void checkAll(), options.checkMs ?? CHECK_MS).unref();

  async function checkAll(): Promise<void> {
    for (const { listener, isAllowed } of [...open]) {
      // While the store is away, nothing is known against the client.
      if (!(await isAllowed().catch(() => true))) listener.end();
    }
  }

  /** Whether pages of a job may be shown to listeners that may not read what credentials give access to. */
  function publicPages(): (jobId: JobId) => Promise<boolean> {
    const known = new Map<JobId, boolean>();
    return async (jobId) => {
      const remembered = known.get(jobId);
      if (remembered !== undefined) return remembered;
      const job = await store.getJob(jobId);
      const isPublic =
        job !== null && !(job.options.credentials === 'read' && job.options.page.session !== null);
      if (known.size >= MOST_REMEMBERED) known.clear();
      known.set(jobId, isPublic);
      return isPublic;
    };
  }

  function tailOf({ accountId, jobId, types, mayReadPrivate }: StreamRequest) {
    const key = JSON.stringify([accountId, jobId, types?.toSorted() ?? null, mayReadPrivate]);
    const known = tails.get(key);
    if (known !== undefined) return { key, tail: known };
    const tail = new EventTail(
      {
        store,
        links: options.links,
        now: options.now,
        mayShowPages: mayReadPrivate ? async () => true : publicPages(),
        paceMs: jobId === null ? ACCOUNT_PACE_MS : JOB_PACE_MS,
        pollMs,
      },
      { accountId, jobId, types },
    );
    tails.set(key, tail);
    return { key, tail };
  }

  function admit(accountId: AccountId): void {
    if (isClosed)
      throw new ScrapifieError('SHUTTING_DOWN', 'The server is stopping.', { retryAfterMs: 1_000 });
    const ofAccount = perAccount.get(accountId) ?? 0;
    const refuse = (message: string) => {
      throw new ScrapifieError('TOO_MANY_STREAMS', message, { retryAfterMs: 10_000 });
    };
    if (ofAccount >= options.maxPerAccount) {
      refuse(`This account has ${ofAccount} streams of events open here; close one of them first.`);
    }
    if (open.size >= options.maxStreams) refuse(`${open.size} streams of events are open on this server.`);
    perAccount.set(accountId, ofAccount + 1);
  }

  function leave(accountId: AccountId): void {
    const left = (perAccount.get(accountId) ?? 1) - 1;
    if (left > 0) perAccount.set(accountId, left);
    else perAccount.delete(accountId);
  }

  return {
    async listen(request) {
      const { accountId, after, sink, isAllowed } = request;
      admit(accountId);
      const { key, tail } = tailOf(request);
      tail.listeners += 1;
      const { onDropped = () => undefined } = options;
      const listener = new EventListener({ tail, after, sink, drainMs, onDropped });
      const entry: Open = { listener, isAllowed };
      open.add(entry);
      try {
        await listener.run();
      } finally {
        open.delete(entry);
        leave(accountId);
        tail.listeners -= 1;
        if (tail.listeners === 0) {
          tails.delete(key);
          tail.close();
        }
      }
    },
    count: () => open.size,
    close() {
      isClosed = true;
      unsubscribe();
      clearInterval(beats);
      clearInterval(checks);
      for (const { listener } of open) listener.end();
      for (const tail of tails.values()) tail.close();
    },
  };
}
