import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../crawl/plan/identity/identity.ts';
import { createHumanInput, humanPauses, pointerPath, wheelNotches } from './human-input.ts';

const someSeed = fc.string({ minLength: 1, maxLength: 20 });

test('pauses keep within their range', () => {
  fc.assert(
    fc.property(someSeed, fc.nat(10_000), fc.nat(10_000), (seed, minMs, spanMs) => {
      const pause = humanPauses(seededRandom(seed), { minMs, maxMs: minMs + spanMs });
      for (let count = 0; count < 20; count += 1) {
        const ms = pause();
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(minMs);
        expect(ms).toBeLessThanOrEqual(minMs + spanMs);
      }
    }),
  );
  const usual = humanPauses(seededRandom('x'));
  const drawn = Array.from({ length: 200 }, usual);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...drawn)).toBeLessThanOrEqual(2_000);
  expect(new Set(drawn).size).toBeGreaterThan(100);
});

test('a pointer goes from its place to the other in time, bent and within the window', () => {
  const viewport = { width: 1_280, height: 720 };
  const somePoint = fc.record({ x: fc.nat(1_279), y: fc.nat(719) });
  fc.assert(
    fc.property(somePoint, somePoint, someSeed, (from, to, seed) => {
      const path = pointerPath(from, to, viewport, seededRandom(seed));
      expect(path[0]).toEqual({ ...from, atMs: 0 });
      expect(path.at(-1)).toMatchObject(to);
      expect(path.length).toBeLessThanOrEqual(61);
      expect(path.at(-1)?.atMs).toBeLessThan(2_000);
      path.forEach(({ x, y, atMs }, index) => {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThan(viewport.width);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThan(viewport.height);
        if (index > 0) expect(atMs).toBeGreaterThan(path[index - 1]?.atMs ?? 0);
      });
      expect(pointerPath(from, to, viewport, seededRandom(seed))).toEqual(path);
    }),
  );
  const straight = pointerPath({ x: 0, y: 300 }, { x: 1_200, y: 300 }, viewport, seededRandom('bend'));
  expect(Math.max(...straight.map(({ y }) => Math.abs(y - 300)))).toBeGreaterThan(5);
});

test('a wheel turns in uneven notches that add up, however long the way', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), someSeed, (pixels, seed) => {
      const notches = wheelNotches(pixels, seededRandom(seed));
      expect(notches.reduce((sum, notch) => sum + notch, 0)).toBe(pixels);
      expect(notches.length).toBeLessThan(60);
    }),
  );
  expect(new Set(wheelNotches(2_000, seededRandom('x'))).size).toBeGreaterThan(3);
});

test('pauses, typing and scrolling are as the manner of the request says', () => {
  const input = createHumanInput({ random: seededRandom('x') });
  const calm = input.of({ minPauseMs: 7, maxPauseMs: 7, typing: false, scrolling: false });
  expect([calm.pauseMs(), calm.keyMs(), calm.turnWheel]).toEqual([7, 0, null]);
  const usual = input.of(undefined);
  expect(usual.keyMs()).toBeGreaterThan(0);
  expect(usual.turnWheel).not.toBeNull();
});
