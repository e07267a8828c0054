import { expect, test } from 'vitest';
import { BOUND_MS, measureCalls } from './main-thread/measure.ts';
import { measureRequests } from './main-thread/measure-requests.ts';

const CALLS = 100;
const LIMIT_MS = 180_000;
/** The figures are relative to a yardstick, but garbage collection of a test runner's heap is not in it. */
const TOLERANCE = 5;

test(
  'no hostile input holds the event loop: robots.txt, patterns, URLs, cookies, headers and request bodies cost a bounded amount of work',
  () => {
    const seed = Date.now() % 1_000_000;
    const { worst } = measureCalls({ calls: CALLS, seed });
    const tooLong = worst.filter(({ ms }) => ms > BOUND_MS * TOLERANCE);
    expect({ seed, tooLong }).toEqual({ seed, tooLong: [] });
  },
  LIMIT_MS,
);

test(
  'no request holds the event loop: each operation that takes a body, with as much of anything in it as a body may have',
  async () => {
    const seed = Date.now() % 1_000_000;
    const measured = await measureRequests({ requests: CALLS, seed });
    const tooLong = measured.filter(({ ms }) => ms > BOUND_MS * TOLERANCE);
    expect({ seed, tooLong }).toEqual({ seed, tooLong: [] });
    expect(measured.filter(({ status }) => status >= 500)).toEqual([]);
    expect(measured).toHaveLength(CALLS);
  },
  LIMIT_MS,
);
