import type { HostMemory } from '../../model/host-memory.ts';
import { type AttemptEnd, type Evidence, evidenceOf } from './evidence.ts';
import { costOf, type FetchMethod, RUNS_SCRIPTS } from './fetch-method.ts';
import { added, bounded, chance, faded, isSure } from './tally.ts';
import { shapeOf } from './url-shape.ts';

export const NO_MEMORY: HostMemory = { ways: {}, shapes: {}, probedAt: 0 };

/** An attempt and what it came to. */
export interface Lesson extends AttemptEnd, FetchMethod {
  readonly url: string;
  /** False when a browser has shown no more than plain HTTP had brought. */
  readonly hasGained?: boolean | undefined;
}

const MOST_WAYS = 8;
const MOST_SHAPES = 14;
/** What nothing is known of is expected to work. */
const PRIOR = 0.8;
/** One bad experience with a way or a shape turns the scale; three shapes of a folder do for their neighbours. */
const OWN_WEIGHT = 1;
const AROUND_WEIGHT = 8;
const LIKELY = 0.5;
/** So much experience must be left for a way to be proven. */
const PROVEN = 0.3;
const HOST = 'h';

/** Accidents, pages that are not there and logins teach nothing, and neither does what is known for sure. */
export function learn(memory: HostMemory, lesson: Lesson, now: number): HostMemory {
  const evidence = evidenceOf(lesson);
  if (evidence === 'transient' || evidence === 'final') return memory;
  const isLetIn = evidence === 'worked' || evidence === 'needs-javascript';
  const ways = learnWay(memory.ways, wayKey(lesson), isLetIn, now);
  const isWhole = wholeness(lesson, evidence);
  const shapes = isWhole === null ? memory.shapes : learnShape(memory.shapes, lesson.url, isWhole, now);
  return ways === memory.ways && shapes === memory.shapes ? memory : { ...memory, ways, shapes };
}

function learnWay(ways: HostMemory['ways'], key: string, isLetIn: boolean, now: number): HostMemory['ways'] {
  if (isSure(ways[key], isLetIn, now)) return ways;
  return bounded({ ...ways, [key]: added(ways[key], isLetIn, now) }, MOST_WAYS, [key], now);
}

/** Whether the page can be read without scripts; null when the attempt does not tell. */
function wholeness({ engine, outcome, hasGained }: Lesson, evidence: Evidence): boolean | null {
  if (RUNS_SCRIPTS[engine]) return hasGained === false ? true : null;
  if (evidence === 'needs-javascript') return false;
  return evidence === 'worked' && outcome !== 'soft-404' ? true : null;
}

function learnShape(
  known: HostMemory['shapes'],
  url: string,
  isWhole: boolean,
  now: number,
): HostMemory['shapes'] {
  const { own, parent } = shapeOf(url);
  if (isSure(known[own], isWhole, now)) return known;
  // What is around a shape hears of it once: a thousand pages of one template say nothing of the others.
  const keys = known[own] === undefined ? [own, parent, HOST] : [own];
  const shapes = { ...known };
  for (const key of keys) shapes[key] = added(shapes[key], isWhole, now);
  return bounded(shapes, MOST_SHAPES, keys, now);
}

/** To be called when a plan with `isProbe` is taken, before its outcome is known: others must not probe meanwhile. */
export function noteProbe(memory: HostMemory, now: number): HostMemory {
  return { ...memory, probedAt: now };
}

/** How likely a page is to be whole when it is fetched this way, from 0 to 1. */
export function chanceOf(memory: HostMemory, way: FetchMethod, url: string, now: number): number {
  const access = chance(memory.ways[wayKey(way)], now, PRIOR, OWN_WEIGHT);
  return RUNS_SCRIPTS[way.engine] ? access : Math.min(access, chanceWithoutScripts(memory, url, now));
}

function chanceWithoutScripts({ shapes }: HostMemory, url: string, now: number): number {
  const { own, parent } = shapeOf(url);
  const onHost = chance(shapes[HOST], now, PRIOR, AROUND_WEIGHT);
  const around = chance(shapes[parent], now, onHost, AROUND_WEIGHT);
  return chance(shapes[own], now, around, OWN_WEIGHT);
}

export function isLikely(memory: HostMemory, way: FetchMethod, url: string, now: number): boolean {
  return chanceOf(memory, way, url, now) >= LIKELY;
}

/** Whether it was let in before, and not only nothing bad is known of it. */
export function isProven(memory: HostMemory, way: FetchMethod, url: string, now: number): boolean {
  return faded(memory.ways[wayKey(way)], now).good >= PROVEN && isLikely(memory, way, url, now);
}

/**
 * The ways in the order in which they should be tried: those that are likely to work, cheapest first, then the others
 * by their chance. On a host that keeps some ways out, proven ones stand before those nobody has tried.
 */
export function bestFirst(
  memory: HostMemory,
  ways: readonly FetchMethod[],
  tiers: readonly string[],
  url: string,
  now: number,
): FetchMethod[] {
  const keepsOut = Object.values(memory.ways).some((tally) => chance(tally, now, PRIOR, OWN_WEIGHT) < LIKELY);
  const withoutScripts = chanceWithoutScripts(memory, url, now);
  return ways
    .map((way) => {
      const tally = memory.ways[wayKey(way)];
      const access = chance(tally, now, PRIOR, OWN_WEIGHT);
      const likely = RUNS_SCRIPTS[way.engine] ? access : Math.min(access, withoutScripts);
      const isUntried = keepsOut && faded(tally, now).good < PROVEN;
      return { way, likely, group: likely < LIKELY ? 2 : isUntried ? 1 : 0, cost: costOf(way, tiers) };
    })
    .toSorted((a, b) => a.group - b.group || (a.group === 2 ? b.likely - a.likely : 0) || a.cost - b.cost)
    .map(({ way }) => way);
}

const KEPT_TIER_CHARS = 12;

function wayKey({ engine, proxyTier, identity }: FetchMethod): string {
  return `${engine}|${proxyTier?.slice(0, KEPT_TIER_CHARS) ?? ''}|${identity === 'browser' ? 'b' : ''}`;
}
