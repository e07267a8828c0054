import { describe, expect, it } from 'vitest';
import {
  initialHostState,
  MAX_SLOW_DOWN_MS,
  MIN_RATE_FACTOR,
  noteAbandoned,
  noteFailure,
  noteRequest,
  noteSent,
  noteSuccess,
  onRateLimited,
  rateFactorAt,
  SLOW_DOWN_MS,
  takenOver,
} from './host-state.ts';
import { MAX_RETRY_AFTER_MS } from './retry-after.ts';

const T0 = 1_700_000_000_000;
const fresh = initialHostState(T0);

describe('a host that answers 429 or 503', () => {
  it('gets half the rate for a minute, and the whole again afterwards', () => {
    const slowed = onRateLimited(fresh, null, T0);
    expect(rateFactorAt(slowed, T0)).toBe(0.5);
    expect(rateFactorAt(slowed, T0 + SLOW_DOWN_MS - 1)).toBe(0.5);
    expect(rateFactorAt(slowed, T0 + SLOW_DOWN_MS)).toBe(1);
    expect(slowed.blockedUntil).toBe(0);
  });

  it('gets less for longer each time it repeats that, down to a sixteenth and up to 15 minutes', () => {
    let state = fresh;
    const steps = Array.from({ length: 6 }, (_, index) => {
      const now = T0 + index * 1_000;
      state = onRateLimited(state, null, now);
      return [1 / state.rateFactor, (state.rateFactorUntil - now) / 60_000];
    });
    expect(steps).toEqual([
      [2, 1],
      [4, 2],
      [8, 4],
      [16, 8],
      [16, 15],
      [16, 15],
    ]);
    expect(state.rateFactor).toBe(MIN_RATE_FACTOR);
    expect(rateFactorAt(state, T0 + 5_000 + MAX_SLOW_DOWN_MS)).toBe(1);
  });

  it('begins at a half again once the last slow-down is over', () => {
    const later = T0 + SLOW_DOWN_MS;
    expect(onRateLimited(onRateLimited(fresh, null, T0), null, later).rateFactor).toBe(0.5);
  });

  it('is not slowed twice by answers to requests that went out together', () => {
    const slowed = onRateLimited(fresh, null, T0, T0 - 300);
    expect(onRateLimited(slowed, null, T0 + 20, T0 - 200)).toBe(slowed);
    expect(onRateLimited(slowed, 5_000, T0 + 20, T0 - 200)).toMatchObject({
      rateFactor: 0.5,
      blockedUntil: T0 + 5_020,
    });
    expect(onRateLimited(slowed, null, T0 + 700, T0 + 600).rateFactor).toBe(0.25);
  });

  it('is left alone as long as it asks for, up to a day, and never for less than it asked before', () => {
    const blocked = onRateLimited(fresh, 30_000, T0);
    expect(blocked.blockedUntil).toBe(T0 + 30_000);
    expect(onRateLimited(blocked, 1_000, T0).blockedUntil).toBe(T0 + 30_000);
    expect(onRateLimited(fresh, 1e12, T0).blockedUntil).toBe(T0 + MAX_RETRY_AFTER_MS);
  });
});

describe('the account of a host', () => {
  it('counts requests and failures', () => {
    const state = noteFailure(noteRequest(noteRequest(fresh, T0), T0 + 5), T0 + 9);
    expect(state).toMatchObject({
      requests: 2,
      failures: 1,
      lastRequestAt: T0 + 5,
      tokens: 0,
      tokensAt: T0 + 5,
    });
    expect(state.breaker.window).toEqual([true]);
  });

  it('is not rewritten by a success that changes nothing', () => {
    let state = fresh;
    for (let index = 0; index < 10; index++) state = noteSuccess(state);
    expect(noteSuccess(state)).toBe(state);
    expect(noteAbandoned(state)).toBe(state);
  });

  it('is small, whatever happened', () => {
    let state = fresh;
    for (let index = 0; index < 200; index++) {
      state = index % 3 ? noteSuccess(state) : noteFailure(state, T0 + index);
      state = onRateLimited(noteRequest(state, T0 + index), index, T0 + index);
    }
    expect(JSON.stringify(state).length).toBeLessThan(500);
  });
});

describe('a host taken over from an owner that died', () => {
  it('is treated as if it had been asked just now, and its probe as lost', () => {
    const probing = {
      ...fresh,
      breaker: { phase: 'half-open', window: [], openedAt: T0, isProbing: true },
    } as const;
    const state = takenOver({ ...probing, tokens: 7, requests: 3 }, T0 + 60_000);
    expect(state).toMatchObject({
      lastRequestAt: T0 + 60_000,
      tokens: 0,
      tokensAt: T0 + 60_000,
      requests: 3,
    });
    expect(state.breaker.isProbing).toBe(false);
  });

  it('keeps what the host asked for', () => {
    const limited = onRateLimited(fresh, 60_000, T0);
    expect(takenOver(limited, T0 + 1)).toMatchObject({ blockedUntil: T0 + 60_000, rateFactor: 0.5 });
  });
});

describe('a request that was sent later than it was let go', () => {
  const letGo = { ...initialHostState(1_000), lastRequestAt: 1_000, tokens: 0.5, tokensAt: 1_000 };

  it('moves the pause after it, and earns no tokens for the wait', () => {
    expect(noteSent(letGo, 1_300)).toEqual({ ...letGo, lastRequestAt: 1_300, tokensAt: 1_300 });
  });

  it('never moves it back', () => {
    expect(noteSent(letGo, 1_000)).toBe(letGo);
    expect(noteSent({ ...letGo, tokensAt: 2_000 }, 1_300).tokensAt).toBe(2_000);
  });
});
