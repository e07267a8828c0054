import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults.ts';
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
  /** Chooses at random, for as long as nobody stops it. Rejects when something cannot be brought back. */
  rage(): Promise<void>;
  /** One of each kind on each sort of target, in random order. */
  doEachOnce(): Promise<void>;
  /** This one, now; resolves when it is made good. */
  doNow(fault: Fault, durationMs: number): Promise<void>;
  /** Begins nothing more; resolves when all that was done is made good. */
  stop(): Promise<void>;
}

/** `http-worker-2` and `http-worker-3` are of one sort. */
const sortOf = (target: string) => target.replace(/-\d+$/, '');

export function createNemesis(options: NemesisOptions): Nemesis {
  const { faults, random, now, everyMs, longestMs, say } = options;
  const actions: ActionRecord[] = [];
  const underWay = new Set<Promise<void>>();
  /** Targets that are not as before. Of the workers one at a time: the others have to show that they take over. */
  const hurt = new Set<string>();
  const stopping = new AbortController();
  const failures: unknown[] = [];

  const lockOf = ({ target }: Fault) => (target.startsWith('http-worker') ? 'http-worker' : target);
  const canBegin = (fault: Fault) => !hurt.has(lockOf(fault)) && fault.isPossible();

  function lengthOf({ leastMs, mostMs }: Fault): number {
    return Math.round(leastMs + random() * Math.max(0, Math.min(mostMs, longestMs) - leastMs));
  }

  function begin(fault: Fault, durationMs = lengthOf(fault)): Promise<void> {
    const { kind, target } = fault;
    const from = now();
    hurt.add(lockOf(fault));
    const done = fault
      .run(durationMs)
      .then(() => {
        const until = now();
        actions.push({ kind, target, from, until });
        say(`${kind} ${target} (${((until - from) / 1_000).toFixed(1)} s)`);
      })
      .catch((error: unknown) => void failures.push(error))
      .finally(() => {
        hurt.delete(lockOf(fault));
        underWay.delete(done);
      });
    underWay.add(done);
    return done;
  }

  const pause = (ms: number) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const isOver = () => stopping.signal.aborted || failures.length > 0;

  return {
    actions,
    async rage() {
      while (!isOver()) {
        await pause(everyMs * (0.5 + random()));
        const fault = isOver() ? null : weighted(faults.filter(canBegin), random);
        if (fault !== null) void begin(fault);
      }
    },
    async doEachOnce() {
      const left = shuffled(faults, random).filter(
        ({ kind, target }, at, all) =>
          all.findIndex((other) => other.kind === kind && sortOf(other.target) === sortOf(target)) === at,
      );
      while (left.length > 0 && !isOver()) {
        await pause(everyMs * (0.5 + random()));
        // A pause may outlast the job, and nothing else can be done to its target meanwhile: it comes last there.
        const isLast = ({ kind, target }: Fault) =>
          kind !== 'pause' ||
          left.every((other) => other.kind === 'pause' || sortOf(other.target) !== sortOf(target));
        const at = left.findIndex((fault) => canBegin(fault) && isLast(fault));
        const [fault] = at < 0 ? [] : left.splice(at, 1);
        if (fault !== undefined && !isOver()) void begin(fault);
      }
    },
    doNow: begin,
    async stop() {
      stopping.abort();
      await Promise.all(underWay);
      if (failures.length > 0) throw failures[0];
    },
  };
}

function weighted(faults: readonly Fault[], random: () => number): Fault | null {
  const total = faults.reduce((sum, { weight }) => sum + weight, 0);
  let at = random() * total;
  for (const fault of faults) {
    at -= fault.weight;
    if (at < 0) return fault;
  }
  return null;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
