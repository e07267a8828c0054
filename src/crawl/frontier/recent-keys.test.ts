import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UrlKey } from '../../core/model/ids.ts';
import { RecentKeys } from './recent-keys.ts';

const key = (n: number) => `key-${n}` as UrlKey;

describe('recent keys', () => {
  it('has what was added and nothing else', () => {
    const keys = new RecentKeys();
    keys.add(key(1));
    expect([keys.has(key(1)), keys.has(key(2))]).toEqual([true, false]);
  });

  it('keeps what is asked for at least once per generation, whatever else comes by', () => {
    const keys = new RecentKeys(10);
    keys.add(key(0));
    for (let n = 1; n <= 1_000; n += 1) {
      keys.add(key(n));
      if (n % 5 === 0) expect(keys.has(key(0))).toBe(true);
    }
  });

  it('forgets what nobody asked for within two generations', () => {
    const keys = new RecentKeys(10);
    for (let n = 0; n <= 20; n += 1) keys.add(key(n));
    expect(keys.has(key(0))).toBe(false);
  });

  it('never has what was not added, and always has what was added last', () => {
    const step = fc.record({ isAdded: fc.boolean(), n: fc.nat(40) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 10 }), (steps, size) => {
        const keys = new RecentKeys(size);
        const added = new Set<number>();
        const latest: number[] = [];
        for (const { isAdded, n } of steps) {
          if (isAdded) {
            keys.add(key(n));
            added.add(n);
            latest.push(n);
          } else if (keys.has(key(n))) expect(added.has(n)).toBe(true);
        }
        const last = latest.at(-1);
        if (last !== undefined) expect(keys.has(key(last))).toBe(true);
      }),
    );
  });
});
