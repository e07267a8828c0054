import type { Consumer, TimerName } from '../../core/ports/queue.ts';

export interface LocalTimers {
  every(name: TimerName, everyMs: number, action: () => Promise<void>): Consumer;
  /** Stops them all; resolves when the running actions are done. */
  close(): Promise<void>;
}

interface Timer {
  /** Registrations in order; the action of the first one runs. */
  readonly actions: Set<object>;
  running: Promise<void> | null;
}

export function createLocalTimers(onError: (error: unknown, name: TimerName) => void): LocalTimers {
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
