import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'patchright-core';
import type { Viewport } from '../../model/identity.ts';
import type { ActionManner, Point } from '../browser/actions/render-actions.ts';
import { humanPauses, type PauseRange } from './human-pauses.ts';
import { pointerPath } from './pointer-path.ts';

export interface HandOptions {
  readonly random: () => number;
  /** Between actions. */
  readonly pauses?: PauseRange | undefined;
}

const KEYS: PauseRange = { minMs: 40, maxMs: 160 };
/** No movement takes longer; who has less time goes there at once. */
const MOST_MOVE_MS = 2_000;
/** Of a window whose size nobody knows. */
const SOME_VIEWPORT: Viewport = { width: 1_280, height: 720 };

/** Acts as a person at the screen does: with pauses, and with a pointer that has to get there first. */
export function createHand({ random, pauses }: HandOptions): ActionManner {
  const pauseMs = humanPauses(random, pauses);
  const keyMs = humanPauses(random, KEYS);
  /** Where the pointer rests; it comes in from somewhere at first. */
  const rests = new WeakMap<Page, Point>();

  return {
    pauseMs,
    keyMs,
    async approach(page, selector, limitMs) {
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
    },
  };
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
