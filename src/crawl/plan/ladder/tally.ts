import type { OutcomeTally } from '../../../core/model/host-memory.ts';

const HALF_LIFE_MINUTES = 24 * 60;
/** Enough to be sure; more would take longer to forget. */
const MOST = 8;
/** The share of opposite experience that a new one leaves: three in a row overrule any past. */
const OVERRULED = 0.5;
const MINUTE_MS = 60_000;
/** An experience that is younger has hardly faded. */
const SURE_MINUTES = 60;

/** The experience that is left now. A clock that went back takes nothing away. */
export function faded(
  tally: OutcomeTally | undefined,
  now: number,
): { readonly good: number; readonly bad: number } {
  if (tally === undefined) return { good: 0, bad: 0 };
  const [good, bad, atMinute] = tally;
  const left = 0.5 ** (Math.max(0, now / MINUTE_MS - atMinute) / HALF_LIFE_MINUTES);
  return { good: good * left, bad: bad * left };
}

export function added(tally: OutcomeTally | undefined, isGood: boolean, now: number): OutcomeTally {
  const { good, bad } = faded(tally, now);
  return [
    rounded(isGood ? Math.min(MOST, good + 1) : good * OVERRULED),
    rounded(isGood ? bad * OVERRULED : Math.min(MOST, bad + 1)),
    Math.floor(now / MINUTE_MS),
  ];
}

/** One more of the same would change nothing worth writing down. */
export function isSure(tally: OutcomeTally | undefined, isGood: boolean, now: number): boolean {
  if (tally === undefined || tally[isGood ? 0 : 1] < MOST || tally[isGood ? 1 : 0] > 0) return false;
  return Math.abs(now / MINUTE_MS - tally[2]) < SURE_MINUTES;
}

/** The share of good ones, as if `weight` more had been seen of which `prior` were good. */
export function chance(tally: OutcomeTally | undefined, now: number, prior: number, weight: number): number {
  const { good, bad } = faded(tally, now);
  return (good + prior * weight) / (good + bad + weight);
}

/** Keeps the `most` that weigh most, and `fresh` ones in any case, since new ones weigh little. */
export function bounded(
  tallies: Readonly<Record<string, OutcomeTally>>,
  most: number,
  fresh: readonly string[],
  now: number,
): Readonly<Record<string, OutcomeTally>> {
  const entries = Object.entries(tallies);
  if (entries.length <= most) return tallies;
  const weight = ([key, tally]: readonly [string, OutcomeTally]): number => {
    if (fresh.includes(key)) return Number.POSITIVE_INFINITY;
    const { good, bad } = faded(tally, now);
    return good + bad;
  };
  const heaviest = entries
    .map((entry) => ({ entry, weight: weight(entry) }))
    .toSorted((a, b) => b.weight - a.weight);
  return Object.fromEntries(heaviest.slice(0, most).map(({ entry }) => entry));
}

const rounded = (value: number): number => Math.round(value * 10) / 10;
