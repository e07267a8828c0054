import { describe, expect, it } from 'vitest';
import { RATE_MARGIN } from './gate.ts';
import { takeToken } from './politeness.fixture.ts';

const T0 = 1_700_000_000_000;

describe('a token bucket', () => {
  it('spaces requests by a little more than the rate asks for', () => {
    const first = takeToken({ tokens: 1, tokensAt: T0 }, 2, 1, T0);
    expect(first.granted).toBe(true);
    expect(first.nextAt - T0).toBeCloseTo(500 * RATE_MARGIN, 2);
    expect(takeToken(first.bucket, 2, 1, T0 + 500).granted).toBe(false);
    expect(takeToken(first.bucket, 2, 1, first.nextAt).granted).toBe(true);
  });

  it('is not changed by a request it refuses', () => {
    const bucket = { tokens: 0.25, tokensAt: T0 };
    expect(takeToken(bucket, 2, 1, T0 + 1).bucket).toBe(bucket);
  });

  it('grants a burst after an idle time and no more than that', () => {
    let bucket = { tokens: 0, tokensAt: T0 };
    const granted = Array.from({ length: 8 }, () => {
      const taken = takeToken(bucket, 2, 5, T0 + 3_600_000);
      bucket = { ...taken.bucket };
      return taken.granted;
    });
    expect(granted.filter(Boolean)).toHaveLength(5);
  });

  it('without a rate always grants, and leaves nothing for when there is one again', () => {
    const taken = takeToken({ tokens: 5, tokensAt: T0 }, null, 5, T0);
    expect(taken).toEqual({ granted: true, bucket: { tokens: 0, tokensAt: T0 }, nextAt: T0 });
    expect(takeToken(taken.bucket, 2, 5, T0 + 100).granted).toBe(false);
  });

  it('waits for a clock that was set back a little, and not for one that was set back far', () => {
    const used = { tokens: 0, tokensAt: T0 };
    const soon = takeToken(used, 2, 1, T0 - 200);
    expect(soon.granted).toBe(false);
    expect(takeToken(used, 2, 1, soon.nextAt).granted).toBe(true);
    expect(takeToken(used, 2, 1, T0 - 3_600_000).granted).toBe(true);
  });

  it('keeps up a high rate when every wake-up is a millisecond late', () => {
    let bucket = { tokens: 1, tokensAt: T0 };
    let at = T0;
    let grants = 0;
    while (at < T0 + 10_000) {
      const taken = takeToken(bucket, 500, 1, at);
      bucket = { ...taken.bucket };
      if (taken.granted) grants++;
      else at = Math.ceil(taken.nextAt) + 1;
    }
    expect(grants / 10).toBeGreaterThan(450);
    expect(grants / 10).toBeLessThanOrEqual(500);
  });
});
