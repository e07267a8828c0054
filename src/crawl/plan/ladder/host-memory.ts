import type { PageYield } from '../../../core/model/attempt.ts';
import { runsScripts } from '../../../core/model/engine-traits.ts';
import type { HostMemory } from '../../../core/model/host-memory.ts';
import { type AttemptEnd, evidenceOf, type MethodEvidence } from '../outcome.ts';
import { costOf, type FetchMethod } from './fetch-method.ts';
import { added, bounded, chance, faded, isSure } from './tally.ts';

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
const HOST = 'h';

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
  const keys = known[own] === undefined ? [own, parent, HOST] : [own];
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
  const onHost = chance(shapes[HOST], now, PRIOR, AROUND_WEIGHT);
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
export interface UrlShape {
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
