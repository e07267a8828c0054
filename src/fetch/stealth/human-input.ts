import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'patchright-core';
import type { Viewport } from '../../core/model/identity.ts';
import type { HumanManner } from '../../core/model/render.ts';
import type { HumanInput, HumanInputSource, Point } from '../browser/actions/render-actions.ts';

export interface HumanInputOptions {
  readonly random: () => number;
  /** How long the pauses between actions are. */
  readonly pauses?: PauseRange | undefined;
}

const KEYS: PauseRange = { minMs: 40, maxMs: 160 };
const WHEEL: PauseRange = { minMs: 8, maxMs: 40 };
/** What one notch of a wheel moves a page by, about. */
const NOTCH_PX = 110;
/** A long way is made by larger notches, so that it takes no longer than a person would. */
const USUAL_NOTCHES = 30;
/** The longest movement; with less time left the pointer is not moved. */
const MOST_MOVE_MS = 2_000;
/** For a window of unknown size. */
const SOME_VIEWPORT: Viewport = { width: 1_280, height: 720 };

/** Acts as a person at the screen does: with pauses, and with a pointer that has to get there first. */
export function createHumanInput({ random, pauses }: HumanInputOptions): HumanInputSource {
  const keyMs = humanPauses(random, KEYS);
  const wheelMs = humanPauses(random, WHEEL);
  /** Where the pointer rests; it comes in from somewhere at first. */
  const rests = new WeakMap<Page, Point>();

  const approach: HumanInput['approach'] = async (page, selector, limitMs) => {
    const until = performance.now() + limitMs;
    const element = page.locator(selector).first();
    try {
      await element.scrollIntoViewIfNeeded({ timeout: limitMs });
      const box = await element.boundingBox({ timeout: Math.max(1, until - performance.now()) });
      if (box === null || until - performance.now() < MOST_MOVE_MS) return null;
      const viewport = page.viewportSize() ?? SOME_VIEWPORT;
      const at = { x: box.width * (0.3 + 0.4 * random()), y: box.height * (0.3 + 0.4 * random()) };
      const to = { x: box.x + at.x, y: box.y + at.y };
      const from = rests.get(page) ?? { x: viewport.width * random(), y: viewport.height * random() };
      await move(page, from, to, viewport, random);
      rests.set(page, to);
      return at;
    } catch {
      return null;
    }
  };

  const turnWheel = async (page: Page, pixels: number): Promise<void> => {
    for (const notch of wheelNotches(pixels, random)) {
      await page.mouse.wheel(0, notch);
      await pause(wheelMs());
    }
  };

  const rangeOf = ({ minPauseMs, maxPauseMs }: HumanManner): PauseRange => ({
    minMs: minPauseMs,
    maxMs: maxPauseMs,
  });

  return {
    of: (manner) => ({
      pauseMs: humanPauses(random, manner === undefined ? pauses : rangeOf(manner)),
      keyMs: manner?.typing === false ? () => 0 : keyMs,
      turnWheel: manner?.scrolling === false ? null : turnWheel,
      approach,
    }),
  };
}

/** A way as the notches of a wheel make it: of uneven size, and exactly as long together. */
export function wheelNotches(pixels: number, random: () => number): number[] {
  const notches: number[] = [];
  const usualPx = Math.max(NOTCH_PX, Math.abs(pixels) / USUAL_NOTCHES);
  let left = Math.abs(pixels);
  while (left > 0) {
    const notch = Math.min(left, Math.round(usualPx * (0.7 + 0.6 * random())));
    notches.push(Math.sign(pixels) * notch);
    left -= notch;
  }
  return notches;
}

async function move(
  page: Page,
  from: Point,
  to: Point,
  viewport: Viewport,
  random: () => number,
): Promise<void> {
  const startedAt = performance.now();
  for (const { x, y, atMs } of pointerPath(from, to, viewport, random)) {
    const early = startedAt + atMs - performance.now();
    if (early > 0) await pause(early);
    await page.mouse.move(x, y);
  }
}

export interface PauseRange {
  readonly minMs: number;
  readonly maxMs: number;
}

const DEFAULT_PAUSES: PauseRange = { minMs: 500, maxMs: 2_000 };

/** Pauses as people make them between two actions: mostly short, now and then long, always within the range. */
export function humanPauses(random: () => number, range: PauseRange = DEFAULT_PAUSES): () => number {
  const minMs = Math.max(0, Math.min(range.minMs, range.maxMs));
  const maxMs = Math.max(minMs, range.minMs, range.maxMs);
  return () => {
    // The lower of two draws is short twice as often as it is long.
    const drawn = Math.min(random(), random());
    return Math.min(maxMs, Math.max(minMs, Math.round(minMs + drawn * (maxMs - minMs))));
  };
}

interface PathPoint extends Point {
  /** Since the movement began. */
  readonly atMs: number;
}

const POINT_EVERY_PX = 14;
const FEWEST_POINTS = 6;
const MOST_POINTS = 60;
/** The most that the way bends to either side, as a share of its length. */
const BEND = 0.2;
const SHAKE_PX = 1.2;
const LEAST_MS = 120;
const MS_PER_DOUBLING = 110;

/**
 * A pointer's way from one place to another as a hand makes it: bent, slow at both ends, faster over long ways, and a
 * little unsteady. It begins at `from`, ends exactly at `to`, and never leaves the viewport.
 */
export function pointerPath(from: Point, to: Point, viewport: Viewport, random: () => number): PathPoint[] {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const count = Math.round(Math.min(MOST_POINTS, Math.max(FEWEST_POINTS, length / POINT_EVERY_PX)));
  const durationMs = (LEAST_MS + MS_PER_DOUBLING * Math.log2(1 + length / 20)) * (0.8 + 0.4 * random());
  const bend = (): number => (random() * 2 - 1) * BEND;
  const [early, late] = [bend(), bend()];
  const controls = [
    from,
    { x: from.x + dx * 0.3 - dy * early, y: from.y + dy * 0.3 + dx * early },
    { x: from.x + dx * 0.75 - dy * late, y: from.y + dy * 0.75 + dx * late },
    to,
  ] as const;
  const path: PathPoint[] = [{ ...from, atMs: 0 }];
  let atMs = 0;
  for (let index = 1; index <= count; index += 1) {
    const time = index / count;
    const isEnd = index === count;
    const { x, y } = isEnd ? to : shaken(onCurve(controls, eased(time)), viewport, random);
    atMs = Math.max(atMs + 1, Math.round(durationMs * time));
    path.push({ x, y, atMs });
  }
  return path;
}

/** Slow, fast, slow: the smoothest movement between two rests. */
function eased(time: number): number {
  return time ** 3 * (10 - 15 * time + 6 * time ** 2);
}

function onCurve([a, b, c, d]: readonly [Point, Point, Point, Point], part: number): Point {
  const rest = 1 - part;
  const along = (from: number, first: number, second: number, to: number): number =>
    rest ** 3 * from + 3 * rest ** 2 * part * first + 3 * rest * part ** 2 * second + part ** 3 * to;
  return { x: along(a.x, b.x, c.x, d.x), y: along(a.y, b.y, c.y, d.y) };
}

function shaken({ x, y }: Point, { width, height }: Viewport, random: () => number): Point {
  const within = (value: number, most: number): number =>
    Math.round(Math.min(most, Math.max(0, value + (random() * 2 - 1) * SHAKE_PX)) * 10) / 10;
  return { x: within(x, width - 1), y: within(y, height - 1) };
}
