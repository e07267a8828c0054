import type { PageYield } from '../../../core/model/attempt.ts';
import { runsScripts } from '../../../core/model/engine-traits.ts';
import type { HostMemory, OutcomeTally } from '../../../core/ports/host-store.ts';
import { type AttemptEnd, evidenceOf, type MethodEvidence } from '../outcome.ts';
import { costOf, type FetchMethod } from './fetch-methods.ts';

export const NO_MEMORY: HostMemory = { ways: {}, shapes: {}, probedAt: 0 };

/** An attempt and what it came to. */
export interface Lesson extends AttemptEnd, FetchMethod {
  readonly url: string;
  /** False when a browser has rendered no more than plain HTTP had fetched. */
  readonly hasGained?: boolean | undefined;
}

const MOST_WAYS = 8;
const MOST_SHAPES = 14;
/** A method or shape without experience is expected to work. */
const PRIOR = 0.8;
/** One bad experience with a method or a shape decides; for the neighbours of a shape it takes three shapes of the folder. */
const OWN_WEIGHT = 1;
const AROUND_WEIGHT = 8;
const LIKELY = 0.5;
/** The experience that must be left for a method to count as proven. */
const PROVEN = 0.3;
const HOST_TALLY = 'h';

const HALF_LIFE_MINUTES = 24 * 60;
/** Enough to be sure; more would take longer to forget. */
const MOST_EXPERIENCE = 8;
/** The share of opposite experience that a new one leaves: three in a row overrule any past. */
const OVERRULED = 0.5;
const MINUTE_MS = 60_000;
/** An experience that is younger has hardly faded. */
const SURE_MINUTES = 60;

/** Accidents, missing pages and logins teach nothing, and neither does one more experience of what is certain. */
export function learn(memory: HostMemory, lesson: Lesson, now: number): HostMemory {
  const evidence = evidenceOf(lesson);
  if (evidence === 'transient' || evidence === 'final') return memory;
  const isLetIn = evidence === 'worked' || evidence === 'needs-javascript';
  const ways = learnMethod(memory.ways, methodKey(lesson), isLetIn, now);
  const isWhole = wholeness(lesson, evidence);
  const shapes = isWhole === null ? memory.shapes : learnShape(memory.shapes, lesson.url, isWhole, now);
  return ways === memory.ways && shapes === memory.shapes ? memory : { ...memory, ways, shapes };
}

function learnMethod(
  ways: HostMemory['ways'],
  key: string,
  isLetIn: boolean,
  now: number,
): HostMemory['ways'] {
  if (isSure(ways[key], isLetIn, now)) return ways;
  return bounded({ ...ways, [key]: added(ways[key], isLetIn, now) }, MOST_WAYS, [key], now);
}

/** Whether the page can be read without scripts; null when the attempt does not tell. */
function wholeness({ engine, outcome, hasGained }: Lesson, evidence: MethodEvidence): boolean | null {
  if (runsScripts(engine)) return hasGained === false ? true : null;
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
  // The folder and the host count each shape once: a thousand pages of one template say nothing about other templates.
  const keys = known[own] === undefined ? [own, parent, HOST_TALLY] : [own];
  const shapes = { ...known };
  for (const key of keys) shapes[key] = added(shapes[key], isWhole, now);
  return bounded(shapes, MOST_SHAPES, keys, now);
}

/** Call it when a step with `isProbe` begins, before its outcome is known: other pages must not probe meanwhile. */
export function noteProbe(memory: HostMemory, now: number): HostMemory {
  return { ...memory, probedAt: now };
}

/** How likely a page is to be complete when it is fetched by this method, from 0 to 1. */
export function chanceOf(memory: HostMemory, method: FetchMethod, url: string, now: number): number {
  const access = chance(memory.ways[methodKey(method)], now, PRIOR, OWN_WEIGHT);
  return runsScripts(method.engine) ? access : Math.min(access, chanceWithoutScripts(memory, url, now));
}

function chanceWithoutScripts({ shapes }: HostMemory, url: string, now: number): number {
  const { own, parent } = shapeOf(url);
  const onHost = chance(shapes[HOST_TALLY], now, PRIOR, AROUND_WEIGHT);
  const around = chance(shapes[parent], now, onHost, AROUND_WEIGHT);
  return chance(shapes[own], now, around, OWN_WEIGHT);
}

export function isLikely(memory: HostMemory, method: FetchMethod, url: string, now: number): boolean {
  return chanceOf(memory, method, url, now) >= LIKELY;
}

/** Whether the host has let the method in before; not merely that nothing bad is known of it. */
export function isProven(memory: HostMemory, method: FetchMethod, url: string, now: number): boolean {
  return faded(memory.ways[methodKey(method)], now).good >= PROVEN && isLikely(memory, method, url, now);
}

/**
 * The methods in the order in which they should be tried: those that are likely to work, cheapest first, then the others
 * by their chance. On a host that refuses some methods, proven methods come before untried ones.
 */
export function bestFirst(
  memory: HostMemory,
  methods: readonly FetchMethod[],
  tiers: readonly string[],
  url: string,
  now: number,
): FetchMethod[] {
  const keepsOut = Object.values(memory.ways).some((tally) => chance(tally, now, PRIOR, OWN_WEIGHT) < LIKELY);
  const withoutScripts = chanceWithoutScripts(memory, url, now);
  return methods
    .map((method) => {
      const tally = memory.ways[methodKey(method)];
      const access = chance(tally, now, PRIOR, OWN_WEIGHT);
      const likely = runsScripts(method.engine) ? access : Math.min(access, withoutScripts);
      const isUntried = keepsOut && faded(tally, now).good < PROVEN;
      return { method, likely, group: likely < LIKELY ? 2 : isUntried ? 1 : 0, cost: costOf(method, tiers) };
    })
    .toSorted((a, b) => a.group - b.group || (a.group === 2 ? b.likely - a.likely : 0) || a.cost - b.cost)
    .map(({ method }) => method);
}

const KEPT_TIER_CHARS = 12;

function methodKey({ engine, proxyTier, identity }: FetchMethod): string {
  return `${engine}|${proxyTier?.slice(0, KEPT_TIER_CHARS) ?? ''}|${identity === 'browser' ? 'b' : ''}`;
}

/** URLs of one shape are likely made by the same template, so experience with one page holds for the others. */
interface UrlShape {
  /** Short names, from the shape itself up to the host as a whole. */
  readonly own: string;
  readonly parent: string;
}

const MOST_SEGMENTS = 3;
/** Segments that name one thing among many: numbers, ids, titles. */
const VARIABLE = /\d|%|[-_].*[-_]|^.{25,}$/;

export function shapeOf(url: string): UrlShape {
  const segments = pathOf(url)
    .split('/', MOST_SEGMENTS)
    .map((segment) => (VARIABLE.test(segment) ? '#' : segment.toLowerCase()));
  return {
    own: `s${shortHash(segments.join('/'))}`,
    parent: `p${shortHash(segments.slice(0, -1).join('/'))}`,
  };
}

/** The path without the slashes around it. By hand: it is needed for every page, and `new URL` costs more than all the rest. */
function pathOf(url: string): string {
  const scheme = url.indexOf('//');
  const start = url.indexOf('/', scheme === -1 ? 0 : scheme + 2);
  if (start === -1) return '';
  const tail = url.slice(start).search(/[?#]/);
  const end = tail === -1 ? url.length : start + tail;
  return url.slice(start + 1, url[end - 1] === '/' ? Math.max(start + 1, end - 1) : end);
}

/** FNV-1a: a collision costs one needless fetch, a long name would cost room in every host's row. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

/** Clocks, counters and cookie notices come to this much. */
const CHANCE_TEXT = 100;
const CHANCE_LINKS = 3;
const GAIN = 1.2;

/** Whether a browser has brought noticeably more than plain HTTP, so that rendering pages like this one is worth it. */
export function hasGained(plain: PageYield, rendered: PageYield): boolean {
  // Nothing at all is a shell, however little it was waiting for.
  if (plain.textLength === 0 && plain.linkCount === 0) return rendered.textLength + rendered.linkCount > 0;
  return (
    rendered.textLength > plain.textLength * GAIN + CHANCE_TEXT ||
    rendered.linkCount > plain.linkCount * GAIN + CHANCE_LINKS
  );
}

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

function added(tally: OutcomeTally | undefined, isGood: boolean, now: number): OutcomeTally {
  const { good, bad } = faded(tally, now);
  return [
    rounded(isGood ? Math.min(MOST_EXPERIENCE, good + 1) : good * OVERRULED),
    rounded(isGood ? bad * OVERRULED : Math.min(MOST_EXPERIENCE, bad + 1)),
    Math.floor(now / MINUTE_MS),
  ];
}

/** One more of the same would change nothing worth writing down. */
function isSure(tally: OutcomeTally | undefined, isGood: boolean, now: number): boolean {
  if (tally === undefined || tally[isGood ? 0 : 1] < MOST_EXPERIENCE || tally[isGood ? 1 : 0] > 0)
    return false;
  return Math.abs(now / MINUTE_MS - tally[2]) < SURE_MINUTES;
}

/** The share of good ones, as if `weight` more had been seen of which `prior` were good. */
function chance(tally: OutcomeTally | undefined, now: number, prior: number, weight: number): number {
  const { good, bad } = faded(tally, now);
  return (good + prior * weight) / (good + bad + weight);
}

/** Keeps the `most` that weigh most, and `fresh` ones in any case, since new ones weigh little. */
function bounded(
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
