import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../policy/policies.ts';
import { gate } from './gate.ts';
import { newHostState } from './host-state.ts';
import { BUCKET_MS, BUCKETS, createSentCounter, sentLimit, sentPoints } from './sent-requests.ts';

const T0 = 120_000_000 * BUCKET_MS;
const HOUR_MS = BUCKETS * BUCKET_MS;

describe('requests that were sent', () => {
  it('are counted by buckets of time, after those of earlier owners', () => {
    const first = createSentCounter(undefined);
    expect(first.written(T0)).toBeUndefined();
    for (let n = 0; n < 40; n += 1) first.add(T0);
    const second = createSentCounter(first.written(T0));
    expect(second.written(T0)).toEqual({ first: T0 / BUCKET_MS, counts: '14' });
    second.add(T0 + BUCKET_MS - 1);
    second.add(T0 + 3 * BUCKET_MS);
    const sent = second.written(T0 + 3 * BUCKET_MS);
    expect(sent?.counts).toBe('15,,,1');
    expect(sentPoints(sent, T0 + 3 * BUCKET_MS)).toEqual([
      { at: T0, requests: 41 },
      { at: T0 + 3 * BUCKET_MS, requests: 1 },
    ]);
  });

  it('are forgotten after an hour, also while nothing is counted', () => {
    const counter = createSentCounter(undefined);
    counter.add(T0);
    const sent = counter.written(T0);
    expect(sentPoints(sent, T0 + HOUR_MS - 1)).toHaveLength(1);
    expect(sentPoints(sent, T0 + HOUR_MS)).toEqual([]);
    expect(counter.written(T0 + HOUR_MS)).toBeUndefined();
  });

  it('of the time to come are forgotten when the clock was set back', () => {
    const counter = createSentCounter({ first: T0 / BUCKET_MS + 1_000, counts: '5' });
    counter.add(T0);
    expect(counter.written(T0)).toEqual({ first: T0 / BUCKET_MS, counts: '1' });
  });

  it('take less than a kilobyte, however busy the hour was', () => {
    const counts = Array.from({ length: BUCKETS }, () => (36 ** 3 - 1).toString(36)).join(',');
    const counter = createSentCounter({ first: T0 / BUCKET_MS, counts });
    counter.add(T0 + HOUR_MS - 2 * BUCKET_MS);
    const sent = counter.written(T0 + HOUR_MS - BUCKET_MS);
    expect(sentPoints(sent, T0 + HOUR_MS - BUCKET_MS)).toHaveLength(BUCKETS);
    expect(JSON.stringify({ sent }).length).toBeLessThan(1_024);
  });
});

describe('the limit of a bucket', () => {
  const limit = (changes: Partial<typeof DEFAULT_POLICY>) => sentLimit({ ...DEFAULT_POLICY, ...changes });

  it('follows from rate, burst and least pause', () => {
    expect(limit({})).toEqual({ perSecond: 2, perBucket: 30 });
    expect(limit({ burst: 5 })).toEqual({ perSecond: 2, perBucket: 34 });
    expect(limit({ burst: 5, minDelayMs: 5_000 })).toEqual({ perSecond: 0.2, perBucket: 3 });
    expect(limit({ ratePerSecond: 0.1 })).toEqual({ perSecond: 0.1, perBucket: 2 });
    expect(limit({ ratePerSecond: null })).toEqual({ perSecond: null, perBucket: null });
    expect(limit({ ratePerSecond: null, minDelayMs: 100 })).toEqual({ perSecond: 10, perBucket: 150 });
  });

  it.each([
    { ratePerSecond: 2, burst: 1 },
    { ratePerSecond: 2, burst: 10 },
    { ratePerSecond: 0.1, burst: 1 },
    { ratePerSecond: 1.3, burst: 2 },
    { ratePerSecond: 50, burst: 3 },
    { ratePerSecond: null, burst: 4, minDelayMs: 700 },
    { ratePerSecond: 3, burst: 4, minDelayMs: 20_000 },
  ])('is never exceeded by what the gate admits: %j', (changes) => {
    const policy = { ...DEFAULT_POLICY, ...changes };
    const counter = createSentCounter(undefined);
    let state = newHostState(T0);
    // Idle long enough for a whole burst, and off the beginning of a bucket.
    let now = T0 + 1_234;
    while (now < T0 + 20 * BUCKET_MS) {
      const decision = gate(state, policy, { now, inFlight: 0, crawlDelayMs: null, rateOverride: null });
      if (decision.kind === 'go') {
        counter.add(now);
        state = decision.state;
      } else now = decision.until;
    }
    const counts = sentPoints(counter.written(now), now).map(({ requests }) => requests);
    expect(counts.length).toBeGreaterThan(10);
    expect(Math.max(...counts)).toBeLessThanOrEqual(sentLimit(policy).perBucket ?? 0);
  });
});
