import { expect, test } from 'vitest';
import type { JobSeq, UrlKey } from '../model/ids.ts';
import { createKnownUrls } from './known-urls.ts';

const job = (n: number) => n as JobSeq;
const key = (n: number) => `key-${n}` as UrlKey;

test('what was added is known, per job', () => {
  const known = createKnownUrls();
  known.add(job(1), key(1));
  expect(known.has(job(1), key(1))).toBe(true);
  expect(known.has(job(1), key(2))).toBe(false);
  expect(known.has(job(2), key(1))).toBe(false);
});

test('it keeps what is asked for and forgets the rest when it is full', () => {
  const known = createKnownUrls({ maxPerGeneration: 10 });
  for (let n = 0; n < 10; n += 1) known.add(job(1), key(n));
  for (let n = 10; n < 19; n += 1) known.add(job(1), key(n));
  expect(known.has(job(1), key(0))).toBe(true);
  for (let n = 20; n < 30; n += 1) known.add(job(1), key(n));
  expect(known.has(job(1), key(0))).toBe(true);
  expect(known.has(job(1), key(1))).toBe(false);
});

test('the job that was added first makes room for a new one', () => {
  const known = createKnownUrls({ maxJobs: 2 });
  for (const n of [1, 2, 3]) known.add(job(n), key(1));
  expect([1, 2, 3].map((n) => known.has(job(n), key(1)))).toEqual([false, true, true]);
});
