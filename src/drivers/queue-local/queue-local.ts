import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { CallName, Consumer, Entry, Queue, QueueName, TimerName } from '../../core/ports/queue.ts';
import { Lane } from './lane.ts';
import { createLocalCalls, type LocalCalls } from './local-calls.ts';

interface QueueLocalOptions {
  /** Told of every handler that rejected; timers have no entry. */
  readonly onHandlerError: (
    error: unknown,
    name: QueueName | CallName | TimerName,
    entry: Entry | null,
  ) => void;
  /** Entries kept waiting per queue; beyond it the less urgent one is forgotten and left to the sweep. */
  readonly maxWaiting?: number;
}

/** A queue within one process. Offers after `close` are forgotten, as everything that waited is. */
export function createQueueLocal(options: QueueLocalOptions): Queue {
  const lanes = new Map<QueueName | CallName, Lane>();
  const calls = new Map<CallName, LocalCalls>();
  const timers = createLocalTimers((error, name) => options.onHandlerError(error, name, null));
  let isClosed = false;

  function lane(name: QueueName | CallName): Lane {
    let found = lanes.get(name);
    if (found === undefined) {
      found = new Lane(options.maxWaiting ?? 100_000, (error, entry) =>
        options.onHandlerError(error, name, entry),
      );
      lanes.set(name, found);
    }
    return found;
  }

  function callsOf(name: CallName): LocalCalls {
    let found = calls.get(name);
    if (found === undefined) {
      found = createLocalCalls(name, lane(name));
      calls.set(name, found);
    }
    return found;
  }

  return {
    async offer(name, entries) {
      if (isClosed) return;
      const those = lane(name);
      for (const entry of entries) those.offer(entry);
    },
    consume: async (name, concurrency, handler) => lane(name).consume(concurrency, handler),
    depth: async (name) => lanes.get(name)?.depth() ?? { waiting: 0, active: 0 },
    oldestCallMs: async (name) => lanes.get(name)?.oldestMs() ?? 0,
    call: async (name, request, how) => callsOf(name).call(request, how),
    answer: async (name, concurrency, handler) => callsOf(name).answer(concurrency, handler),
    countAnswerers: async (name) => (lanes.get(name)?.hasWorkers === true ? 1 : 0),
    every: async (name, everyMs, action) => timers.every(name, everyMs, action),
    async check() {
      if (isClosed) throw new ScrapifieError('QUEUE_UNAVAILABLE', 'The queue is closed.');
    },
    degradation: () => null,
    async close() {
      isClosed = true;
      for (const each of calls.values()) each.close();
      await Promise.all([timers.close(), ...[...lanes.values()].map((each) => each.close())]);
    },
  };
}

interface LocalTimers {
  every(name: TimerName, everyMs: number, action: () => Promise<void>): Consumer;
  /** Stops them all; resolves when the running actions are done. */
  close(): Promise<void>;
}

interface Timer {
  /** Registrations in order; the action of the first one runs. */
  readonly actions: Set<object>;
  running: Promise<void> | null;
}

function createLocalTimers(onError: (error: unknown, name: TimerName) => void): LocalTimers {
  const timers = new Map<TimerName, Timer>();
  const stops = new Set<() => Promise<void>>();

  return {
    every(name, everyMs, action) {
      const timer = timers.get(name) ?? { actions: new Set(), running: null };
      timers.set(name, timer);
      const own = {};
      timer.actions.add(own);
      let last: Promise<void> = Promise.resolve();
      const tick = setInterval(() => {
        const [first] = timer.actions;
        if (first !== own || timer.running !== null) return;
        last = (async () => action())()
          .catch((error: unknown) => onError(error, name))
          .finally(() => {
            timer.running = null;
          });
        timer.running = last;
      }, everyMs);
      const stop = async (): Promise<void> => {
        clearInterval(tick);
        timer.actions.delete(own);
        stops.delete(stop);
        await last;
      };
      stops.add(stop);
      return { stop };
    },
    async close() {
      await Promise.all([...stops].map((stop) => stop()));
    },
  };
}
