import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJobIds, formatJobId, isJobId, tick } from './job-id.ts';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const time = fc.integer({ min: 0, max: 2 ** 47 });

describe('job ids', () => {
  it('are UUIDs of version 7 that carry the time', () => {
    fc.assert(
      fc.property(time, chance, chance, chance, (now, a, b, c) => {
        const id = formatJobId(tick(null, now, a), b, c);
        expect(isJobId(id)).toBe(true);
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
      }),
    );
  });

  it('ascend whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(time, { minLength: 2, maxLength: 50 }), chance, (times, random) => {
        let step = 0;
        const next = createJobIds(
          () => times[Math.min(step++, times.length - 1)] ?? 0,
          () => random,
        );
        const ids = times.map(next);
        expect(ids).toEqual([...ids].sort());
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('ascend for thousands made within one millisecond', () => {
    const next = createJobIds(
      () => 1_000,
      () => 0.999,
    );
    const ids = Array.from({ length: 10_000 }, next);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(10_000);
  });
});
