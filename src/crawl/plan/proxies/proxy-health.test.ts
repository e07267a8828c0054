import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLOSED_PROVIDER,
  canPass,
  onEnd,
  onPass,
  PROVIDER_BREAKER,
  type ProviderBreaker,
} from './proxy-health.ts';

const { openMs, windowMs, minRequests, failuresToOpen, probeMs, probes } = PROVIDER_BREAKER;

/** Requests that end at once, `everyMs` apart. */
function having(failures: readonly boolean[], everyMs = 1): ProviderBreaker {
  return failures.reduce(
    (breaker, isFailure, index) => onEnd(breaker, isFailure, index * everyMs, index * everyMs),
    CLOSED_PROVIDER,
  );
}
const mixed = (good: number, bad: number) => [
  ...new Array<boolean>(good).fill(false),
  ...new Array<boolean>(bad).fill(true),
];

describe('the breaker of a provider', () => {
  it('opens at ten failures, however many requests work', () => {
    expect(having(mixed(1_000, failuresToOpen - 1)).phase).toBe('closed');
    expect(having(mixed(1_000, failuresToOpen)).phase).toBe('open');
  });

  it('opens when half fail, once there are enough to tell', () => {
    expect(having(mixed(0, minRequests - 1)).phase).toBe('closed');
    expect(having(mixed(0, minRequests)).phase).toBe('open');
    expect(having(mixed(5, 4)).phase).toBe('closed');
    expect(having(mixed(5, 5)).phase).toBe('open');
  });

  it('forgets what is older than a minute', () => {
    expect(having(mixed(0, 100), windowMs / 4).phase).toBe('closed');
  });

  it('lets three probes pass after half a minute, and others in place of those nobody reported on', () => {
    let breaker = having(mixed(0, minRequests));
    const openedAt = breaker.openedAt;
    expect(canPass(breaker, openedAt + openMs - 1)).toBe(false);
    const at = openedAt + openMs;
    for (let probe = 0; probe < probes; probe++) {
      expect(canPass(breaker, at)).toBe(true);
      breaker = onPass(breaker, at);
    }
    expect(canPass(breaker, at + 1)).toBe(false);
    expect(canPass(breaker, at + probeMs)).toBe(true);
  });

  it('does not take old news for a probe', () => {
    const breaker = onPass(having(mixed(0, minRequests)), 40_000);
    expect(onEnd(breaker, true, 5, 40_001)).toBe(breaker);
    expect(onEnd(breaker, null, 40_000, 40_001)).toMatchObject({ phase: 'half-open', passed: 0, probes: [] });
  });

  it('always lets something pass in the end', () => {
    const step = fc.record({
      afterMs: fc.nat(20_000),
      isFailure: fc.option(fc.boolean()),
      isReported: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let [breaker, now] = [CLOSED_PROVIDER, 0];
        for (const { afterMs, isFailure, isReported } of steps) {
          now += afterMs;
          if (!canPass(breaker, now)) continue;
          breaker = onPass(breaker, now);
          if (isReported) breaker = onEnd(breaker, isFailure, now, now);
          expect(breaker.buckets.length).toBeLessThanOrEqual(PROVIDER_BREAKER.buckets);
        }
        expect(canPass(breaker, now + Math.max(openMs, probeMs))).toBe(true);
      }),
    );
  });
});
