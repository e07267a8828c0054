import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults/fault.ts';
import { kindOf } from './faults/faults.ts';
import type { ActionRecord } from './history.ts';

export interface NemesisOptions {
  readonly faults: readonly Fault[];
  readonly random: () => number;
  readonly now: () => number;
  /** Between the beginnings of two faults, on average. */
  readonly everyMs: number;
  /** The longest that a fault may last; shorter than its own limit where time is short. */
  readonly longestMs: number;
  readonly say: (line: string) => void;
}

/** Hurts the fleet until it is told to stop. */
export interface Nemesis {
  /** What it did, in order of its end. */
  readonly actions: readonly ActionRecord[];
  /** Every kind once, in random order and on a target chosen by chance; then again, until it is stopped. */
  rage(): Promise<void>;
  /** This one, now; resolves when it is made good. */
  doNow(fault: Fault, durationMs: number): Promise<void>;
  /** Begins nothing more; resolves when all that was done is made good. Throws when something could not be. */
  stop(): Promise<void>;
}

const MOST_AT_ONCE = 4;

export function createNemesis(options: NemesisOptions): Nemesis {
  const { faults, random, now, everyMs, longestMs, say } = options;
  const actions: ActionRecord[] = [];
  const underWay = new Set<Promise<void>>();
  const locked = new Set<string>();
  const stopping = new AbortController();
  const failures: unknown[] = [];

  const canBegin = (fault: Fault) =>
    underWay.size < MOST_AT_ONCE && fault.locks.every((lock) => !locked.has(lock)) && fault.isPossible();

  function lengthOf({ leastMs, mostMs }: Fault): number {
    // Short ones more often than long ones: most of what a fault can break it breaks at its beginning and its end.
    return Math.round(leastMs + random() ** 2 * Math.max(0, Math.min(mostMs, longestMs) - leastMs));
  }

  function begin(fault: Fault, durationMs = lengthOf(fault)): Promise<void> {
    const { kind, target, locks, forgets } = fault;
    const from = now();
    for (const lock of locks) locked.add(lock);
    say(`begins: ${kindOf(fault)} (${target})`);
    const done = fault
      .run(durationMs)
      .then(() => {
        const until = now();
        actions.push({ kind, target, from, until, ...(forgets ? { forgets } : {}) });
        say(`over: ${kindOf(fault)} (${target}), ${((until - from) / 1_000).toFixed(1)} s`);
      })
      .catch((error: unknown) => {
        failures.push(new Error(`${kindOf(fault)} (${target}) could not be made good: ${String(error)}`));
        say(String(failures.at(-1)));
      })
      .finally(() => {
        for (const lock of locks) locked.delete(lock);
        underWay.delete(done);
      });
    underWay.add(done);
    return done;
  }

  const pause = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const isOver = () => stopping.signal.aborted || failures.length > 0;

  /** A target by chance among those that can be hurt now. */
  function choose(kind: string): Fault | undefined {
    const possible = faults.filter((fault) => kindOf(fault) === kind && canBegin(fault));
    return possible[Math.floor(random() * possible.length)];
  }

  async function round(): Promise<void> {
    const left = shuffled([...new Set(faults.map(kindOf))], random);
    while (left.length > 0 && !isOver()) {
      await pause(everyMs * (0.5 + random()));
      if (isOver()) return;
      const at = left.findIndex((kind) => choose(kind) !== undefined);
      if (at < 0 && underWay.size === 0) return;
      const fault = at < 0 ? undefined : choose(left[at] ?? '');
      if (fault === undefined) continue;
      left.splice(at, 1);
      void begin(fault);
    }
  }

  return {
    actions,
    async rage() {
      while (!isOver()) await round();
      if (failures.length > 0) throw failures[0];
    },
    doNow: begin,
    async stop() {
      stopping.abort();
      await Promise.all(underWay);
      if (failures.length > 0) throw failures[0];
    },
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
