import { describe, expect, it } from 'vitest';
import type { HostState } from '../../core/ports/host-store.ts';
import { DEFAULT_POLICY } from '../policy/policies.ts';
import { CLOSED_BREAKER } from './breaker.ts';
import { gate } from './gate.ts';
import {
  MAX_SLOW_DOWN_MS,
  MIN_RATE_FACTOR,
  newHostState,
  noteAbandoned,
  noteFailure,
  noteSent,
  noteSuccess,
  onRateLimited,
  rateFactorAt,
  SLOW_DOWN_MS,
  stateAtAcquisition,
  stateAtRelease,
} from './host-state.ts';
import { MAX_RETRY_AFTER_MS } from './retry-after.ts';

const T0 = 1_700_000_000_000;
const fresh = newHostState(T0);

/** The state after the gate has admitted a request, whatever the host has answered before. */
function admitted(state: HostState, now: number): HostState {
  const input = { now, inFlight: 0, crawlDelayMs: null, rateOverride: 'unlimited' as const };
  const open = { ...state, rateFactor: 1, rateFactorUntil: 0, blockedUntil: 0, breaker: CLOSED_BREAKER };
  const decision = gate(open, DEFAULT_POLICY, input);
  if (decision.kind !== 'go') throw new Error(`The gate refuses: ${decision.reason}`);
  const { lastRequestAt, tokens, tokensAt, requests } = decision.state;
  return { ...state, lastRequestAt, tokens, tokensAt, requests };
}

describe('a host that answers 429 or 503', () => {
  it('halves the rate for as long as the policy says', () => {
    const slowed = onRateLimited(fresh, null, T0, T0, 5_000);
    expect(rateFactorAt(slowed, T0 + 4_999)).toBe(0.5);
    expect(rateFactorAt(slowed, T0 + 5_000)).toBe(1);
    const again = onRateLimited(slowed, null, T0 + 100, T0 + 50, 5_000);
    expect(again).toMatchObject({ rateFactor: 0.25, rateFactorUntil: T0 + 100 + 10_000 });
  });

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
    const state = noteFailure(admitted(admitted(fresh, T0), T0 + 5), '/', T0 + 9);
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
    for (let index = 0; index < 10; index++) state = noteSuccess(state, `/${index}`, T0);
    expect(noteSuccess(state, '/', T0)).toBe(state);
    expect(noteAbandoned(state)).toBe(state);
  });

  it('is small, whatever happened', () => {
    let state = fresh;
    for (let index = 0; index < 200; index++) {
      state = index % 3 ? noteSuccess(state, `/${index}`, T0) : noteFailure(state, `/${index}`, T0 + index);
      state = onRateLimited(admitted(state, T0 + index), index, T0 + index);
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
    const state = stateAtAcquisition({ ...probing, tokens: 7, requests: 3 }, true, T0 + 60_000);
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
    expect(stateAtAcquisition(limited, true, T0 + 1)).toMatchObject({
      blockedUntil: T0 + 60_000,
      rateFactor: 0.5,
    });
  });
});

describe('a request that was sent later than it was let go', () => {
  const letGo = { ...newHostState(1_000), lastRequestAt: 1_000, tokens: 0.5, tokensAt: 1_000 };

  it('moves the pause after it, and earns no tokens for the wait', () => {
    expect(noteSent(letGo, 1_300)).toEqual({ ...letGo, lastRequestAt: 1_300, tokensAt: 1_300 });
  });

  it('never moves it back', () => {
    expect(noteSent(letGo, 1_000)).toBe(letGo);
    expect(noteSent({ ...letGo, tokensAt: 2_000 }, 1_300).tokensAt).toBe(2_000);
  });
});

describe('a host that was never asked', () => {
  const policy = { ...DEFAULT_POLICY, ratePerSecond: 2, burst: 5, concurrency: 10 };
  const input = (now: number) => ({ now, inFlight: 0, crawlDelayMs: null, rateOverride: null });

  it('may be sent one request at once, and no burst, however long ago its row was made', () => {
    const stored = newHostState(0);
    const first = gate(stateAtAcquisition(stored, false, T0), policy, input(T0));
    expect(first.kind).toBe('go');
    const second = first.kind === 'go' ? gate(first.state, policy, input(T0)) : first;
    expect(second).toMatchObject({ kind: 'wait', reason: 'rate.bucket' });
  });

  it('is left as it is once it was asked', () => {
    const asked = { ...newHostState(T0), lastRequestAt: T0 };
    expect(stateAtAcquisition(asked, false, T0 + 60_000)).toBe(asked);
  });
});

describe('the state that an owner leaves', () => {
  const hold = { rule: 'breaker.open', until: T0 + 60_000 } as const;
  const released = (state: HostState, how: Partial<Parameters<typeof stateAtRelease>[1]> = {}) =>
    stateAtRelease(state, { hold: null, faultHoldUntil: 0, hasWorked: true, ...how });

  it('says why the host is held, and forgets the reason of an earlier hold', () => {
    const held = released(fresh, { hold });
    expect(held).toEqual({ ...fresh, hold });
    expect(released(held)).toEqual(fresh);
  });

  it('counts the slices in a row that ended by unexpected errors', () => {
    const once = released(fresh, { faultHoldUntil: T0 + 1_000 });
    expect(once).toMatchObject({ faults: 1, hold: { rule: 'own-fault:INTERNAL', until: T0 + 1_000 } });
    expect(released(once, { faultHoldUntil: T0 + 3_000 })).toMatchObject({ faults: 2 });
    expect(released(once, { hasWorked: false })).toEqual({ ...fresh, faults: 1 });
    expect(released(once)).toEqual(fresh);
  });
});
