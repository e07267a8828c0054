import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../plan/identity/seeded-random.ts';
import { humanPauses } from './human-pauses.ts';

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
