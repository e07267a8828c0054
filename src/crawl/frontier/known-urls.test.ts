import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Incarnation, JobSeq, UrlKey } from '../../core/model/ids.ts';
import { createKnownUrls, RecentKeys } from './known-urls.ts';

const job = (n: number) => n as JobSeq;
const A = 'a' as Incarnation;
const B = 'b' as Incarnation;
const key = (n: number) => `key-${n}` as UrlKey;

test('what was added is known, per job', () => {
  const known = createKnownUrls();
  known.add(A, job(1), key(1));
  expect(known.has(A, job(1), key(1))).toBe(true);
  expect(known.has(A, job(1), key(2))).toBe(false);
  expect(known.has(A, job(2), key(1))).toBe(false);
});

test('it keeps what is asked for and forgets the rest when it is full', () => {
  const known = createKnownUrls({ maxPerGeneration: 10 });
  for (let n = 0; n < 10; n += 1) known.add(A, job(1), key(n));
  for (let n = 10; n < 19; n += 1) known.add(A, job(1), key(n));
  expect(known.has(A, job(1), key(0))).toBe(true);
  for (let n = 20; n < 30; n += 1) known.add(A, job(1), key(n));
  expect(known.has(A, job(1), key(0))).toBe(true);
  expect(known.has(A, job(1), key(1))).toBe(false);
});

test('the job that was added first makes room for a new one', () => {
  const known = createKnownUrls({ maxJobs: 2 });
  for (const n of [1, 2, 3]) known.add(A, job(n), key(1));
  expect([1, 2, 3].map((n) => known.has(A, job(n), key(1)))).toEqual([false, true, true]);
});

test('what one incarnation of the store has is not known of another', () => {
  const known = createKnownUrls();
  known.add(A, job(1), key(1));
  expect(known.has(B, job(1), key(1))).toBe(false);
  known.add(B, job(1), key(2));
  expect(known.has(B, job(1), key(1))).toBe(false);
  expect(known.has(B, job(1), key(2))).toBe(true);
  // An answer of the former incarnation that arrives late says nothing about the next one.
  known.add(A, job(1), key(3));
  expect([1, 2, 3].map((n) => known.has(B, job(1), key(n)))).toEqual([false, false, false]);
});

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
