import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HostMemory } from '../../../core/ports/host-store.ts';
import { chanceOf, isLikely, type Lesson, learn, NO_MEMORY, shapeOf } from './host-memory.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const URL_7 = 'https://a.example/shop/7';
const lesson = (more: Partial<Lesson> = {}): Lesson => ({
  engine: 'http',
  proxyTier: null,
  identity: 'bot',
  outcome: 'ok',
  statusCode: 200,
  url: URL_7,
  ...more,
});
const taught = (lessons: readonly Lesson[], now = NOW): HostMemory =>
  lessons.reduce((memory, one) => learn(memory, one, now), NO_MEMORY);

const someLesson = fc.record({
  engine: fc.constantFrom('http' as const, 'browser' as const, 'stealth' as const),
  proxyTier: fc.option(fc.string({ maxLength: 60 })),
  identity: fc.constantFrom('bot' as const, 'browser' as const),
  outcome: fc.constantFrom(
    'ok' as const,
    'blocked' as const,
    'captcha' as const,
    'needs-javascript' as const,
    'error' as const,
    'soft-404' as const,
  ),
  statusCode: fc.constantFrom(200, 403, 404, 503),
  url: fc.webUrl({ withQueryParameters: true }),
  hasGained: fc.boolean(),
});

describe('a memory of a host', () => {
  test('stays below a kilobyte as JSON and comes back the same', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(someLesson, fc.nat(1e9)), { maxLength: 120 }),
        fc.constantFrom(1, 30),
        (lessons, repeats) => {
          let memory = NO_MEMORY;
          for (const [one, afterMs] of lessons) {
            for (let count = 0; count < repeats; count += 1) memory = learn(memory, one, NOW + afterMs);
          }
          const text = JSON.stringify({ ...memory, probedAt: NOW });
          expect(Buffer.byteLength(text)).toBeLessThan(1_024);
          expect(JSON.parse(text)).toEqual({ ...memory, probedAt: NOW });
        },
      ),
    );
  });

  test('learns nothing from accidents, missing pages and logins', () => {
    const memory = taught([lesson(), lesson({ outcome: 'blocked' })]);
    for (const more of [
      { outcome: 'error', statusCode: 503 },
      { outcome: 'error', statusCode: null, errorCode: 'CONNECTION_RESET' },
      { outcome: 'error', statusCode: null, errorCode: 'NO_WORKER' },
      { outcome: 'rate-limited', statusCode: 429 },
      { outcome: 'error', statusCode: 404 },
      { outcome: 'login-wall' },
      { outcome: 'empty' },
    ] as const) {
      expect(learn(memory, lesson(more), NOW)).toBe(memory);
    }
  });

  test('forgets by half in a day', () => {
    const memory = taught(Array.from({ length: 10 }, () => lesson({ outcome: 'blocked', statusCode: 403 })));
    const way = lesson();
    const chances = [0, 24, 48, 96, 240].map((hours) => chanceOf(memory, way, URL_7, NOW + hours * HOUR_MS));
    expect(chances).toEqual(chances.toSorted((a, b) => a - b));
    expect(chances[0]).toBeCloseTo(0.8 / 9);
    expect(chances[1]).toBeCloseTo(0.8 / 5);
    expect(isLikely(memory, way, URL_7, NOW)).toBe(false);
    expect(isLikely(memory, way, URL_7, NOW + 240 * HOUR_MS)).toBe(true);
  });

  test('a chance is between 0 and 1, good news raises it and bad news lowers it, whenever it comes', () => {
    fc.assert(
      fc.property(fc.array(someLesson, { maxLength: 40 }), fc.nat(1e9), (lessons, afterMs) => {
        const memory = taught(lessons);
        const now = NOW + afterMs;
        const before = chanceOf(memory, lesson(), URL_7, now);
        const good = chanceOf(learn(memory, lesson(), now), lesson(), URL_7, now);
        const bad = chanceOf(learn(memory, lesson({ outcome: 'blocked' }), now), lesson(), URL_7, now);
        // What is kept is rounded.
        expect(good).toBeGreaterThanOrEqual(before - 0.05);
        expect(bad).toBeLessThanOrEqual(before + 0.05);
        for (const one of [before, good, bad]) {
          expect(one).toBeGreaterThanOrEqual(0);
          expect(one).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('three blocks in a row overrule any past', () => {
    const kept = [1, 2, 3].map((blocks) =>
      taught([
        ...Array.from({ length: 50 }, () => lesson()),
        ...Array.from({ length: blocks }, () => lesson({ outcome: 'blocked' })),
      ]),
    );
    expect(kept.map((memory) => isLikely(memory, lesson(), URL_7, NOW))).toEqual([true, true, false]);
  });

  test('what is known for sure is not written down again', () => {
    const memory = taught(Array.from({ length: 10 }, () => lesson()));
    expect(learn(memory, lesson(), NOW + HOUR_MS / 2)).toBe(memory);
    expect(learn(memory, lesson(), NOW + 2 * HOUR_MS)).not.toBe(memory);
  });

  test('what is new is kept, however much is known already', () => {
    const known = Array.from({ length: 30 }, (_, index) =>
      Array.from({ length: 5 }, () => lesson({ url: `https://a.example/${'x'.repeat(index % 20)}/y` })),
    ).flat();
    const memory = learn(
      taught(known),
      lesson({ outcome: 'needs-javascript', url: 'https://a.example/new' }),
      NOW,
    );
    expect(isLikely(memory, lesson(), 'https://a.example/new', NOW)).toBe(false);
  });
});

test('three shells in a folder speak for their neighbours, and not for the rest of the site', () => {
  const shells = ['one', 'two', 'three'].map((name) =>
    lesson({ outcome: 'needs-javascript', url: `https://a.example/app/${name}` }),
  );
  const memory = taught(shells);
  expect(isLikely(memory, lesson(), 'https://a.example/app/four', NOW)).toBe(false);
  expect(isLikely(memory, lesson(), 'https://a.example/about', NOW)).toBe(true);
  expect(isLikely(taught(shells.slice(1)), lesson(), 'https://a.example/app/four', NOW)).toBe(true);
});

test('URLs of one template have one shape', () => {
  const own = (path: string) => shapeOf(`https://a.example${path}`).own;
  expect(own('/shop/7?x=1')).toBe(own('/shop/1234'));
  expect(own('/news/what-happened-today')).toBe(own('/news/nothing-at-all-today'));
  expect(own('/shop/7')).not.toBe(own('/shop/list'));
  expect(shapeOf('https://a.example/shop/7').parent).toBe(shapeOf('https://a.example/shop/list').parent);
  expect(own('/')).toBe(own(''));
});
