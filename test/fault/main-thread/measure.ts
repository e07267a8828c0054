import { randomFrom } from '../../site/random.ts';
import { hostileCall } from './hostile-calls.ts';

/** Upper ends, in milliseconds of the machine on which the yardstick takes YARDSTICK_MS. */
const BUCKETS_MS = [1, 5, 10, 25, 50, 100, 250, 1_000, Number.POSITIVE_INFINITY] as const;
/** CPU time of the yardstick, measured on the development machine; all figures are given as if on that one. */
const YARDSTICK_MS = 5.6;
/** A call may hold the event loop for this long. */
export const BOUND_MS = 100;

export interface Measured {
  /** Calls up to each length. */
  readonly histogram: Readonly<Record<string, number>>;
  /** Calls that were above the bound at first, with that first figure. */
  readonly repeated: readonly { readonly name: string; readonly ms: number; readonly index: number }[];
  /** The longest call of each kind, the longest first. */
  readonly worst: readonly { readonly name: string; readonly ms: number; readonly index: number }[];
}

/**
 * Makes hostile calls and measures the CPU time that each takes on this thread, in milliseconds of a reference machine:
 * a fixed piece of work is measured around each call, so neither a slow machine nor a busy one changes the figures much.
 */
export function measureCalls(options: { calls: number; seed: number; first?: number }): Measured {
  const { calls, seed, first = 0 } = options;
  const counts = new Map<number, number>(BUCKETS_MS.map((ms) => [ms, 0]));
  const worst = new Map<string, { name: string; ms: number; index: number }>();
  const repeated: { name: string; ms: number; index: number }[] = [];
  for (let n = 0; n < 20; n++) yardstick();
  for (let index = first; index < first + calls; index++) {
    const measured = measureOnce(index, seed);
    const { name } = measured;
    let { ms } = measured;
    // Garbage of earlier calls is collected during some other call: one above the bound is made anew, and the least counts.
    if (ms > BOUND_MS) {
      repeated.push({ name, ms: Math.round(ms), index });
      for (let again = 0; again < 2; again++) ms = Math.min(ms, measureOnce(index, seed).ms);
    }
    const bucket = BUCKETS_MS.find((most) => ms <= most) ?? Number.POSITIVE_INFINITY;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    if (ms > (worst.get(name)?.ms ?? 0)) worst.set(name, { name, ms: Math.round(ms * 10) / 10, index });
  }
  return {
    histogram: Object.fromEntries([...counts].map(([ms, count]) => [`<=${ms}ms`, count])),
    repeated,
    worst: [...worst.values()].sort((a, b) => b.ms - a.ms),
  };
}

/** The input is made anew each time, so that nothing of it is in a cache. */
function measureOnce(index: number, seed: number): { name: string; ms: number } {
  const { name, run } = hostileCall(index, randomFrom(seed + index));
  const unitMs = unitMsOf();
  return { name, ms: cpuMsOf(run) / unitMs };
}

/** What a millisecond of the reference machine takes here and now. */
export const unitMsOf = (): number => Math.max(cpuMsOf(yardstick), 0.1) / YARDSTICK_MS;

function cpuMsOf(run: () => unknown): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

const TEXT = JSON.stringify(
  Array.from({ length: 12_000 }, (_, n) => ({ id: n, name: `name ${n}`, tags: ['a', 'b'] })),
);

/** Parsing and walking a JSON document of half a megabyte: memory, strings and arithmetic in about equal parts. */
function yardstick(): number {
  let sum = 0;
  for (const { id, name } of JSON.parse(TEXT) as { id: number; name: string }[]) sum += id + name.length;
  return sum;
}
