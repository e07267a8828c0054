import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { CallName, Entry, Queue, QueueName, TimerName } from '../../core/ports/queue.ts';
import { Lane } from './lane.ts';
import { createLocalCalls, type LocalCalls } from './local-calls.ts';
import { createLocalTimers } from './local-timers.ts';

export interface QueueLocalOptions {
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
