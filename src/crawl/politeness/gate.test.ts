import { describe, expect, it } from 'vitest';
import type { HostPolicy } from '../../core/model/policy.ts';
import type { HostState } from '../../core/ports/host-store.ts';
import { DEFAULT_POLICY } from '../policy/policies.ts';
import { admissionMs, type GateInput, gate } from './gate.ts';
import { newHostState, noteFailure, noteSuccess, onRateLimited, stateAtAcquisition } from './host-state.ts';

const T0 = Date.UTC(2026, 5, 3, 12);
const fresh = newHostState(T0);
const policy = (changes: Partial<HostPolicy> = {}): HostPolicy => ({ ...DEFAULT_POLICY, ...changes });
const ask = (changes: Partial<GateInput> = {}): GateInput => ({
  now: T0,
  inFlight: 0,
  crawlDelayMs: null,
  rateOverride: null,
  ...changes,
});

function go(state: HostState, by: HostPolicy, input: GateInput): HostState {
  const decision = gate(state, by, input);
  if (decision.kind !== 'go') throw new Error(`not let go: ${decision.reason}`);
  return decision.state;
}

/** When, after one request at T0, the next is let go, found as a runner finds it: by asking again at `until`. */
function nextGo(
  by: HostPolicy,
  input: Partial<GateInput>,
  state: HostState = go(fresh, by, ask(input)),
): number {
  let now = T0;
  for (let tries = 0; tries < 10; tries++) {
    const decision = gate(state, by, ask({ ...input, now }));
    if (decision.kind === 'go') return now - T0;
    now = decision.until;
  }
  throw new Error('asked ten times in vain');
}

describe('the gate', () => {
  it('lets a request go and notes it', () => {
    expect(go(fresh, policy(), ask())).toMatchObject({
      lastRequestAt: T0,
      tokens: 0,
      tokensAt: T0,
      requests: 1,
    });
  });

  it('holds outside the allowed hours, until they begin', () => {
    const allowedHours = { from: '22:00', to: '06:00', timeZone: 'UTC', days: [] };
    expect(gate(fresh, policy({ allowedHours }), ask())).toEqual({
      kind: 'hold',
      until: Date.UTC(2026, 5, 3, 22),
      reason: 'hours.closed',
    });
    expect(gate(fresh, policy({ allowedHours }), ask({ now: Date.UTC(2026, 5, 3, 22) })).kind).toBe('go');
  });

  it('holds as long as Retry-After says', () => {
    const state = onRateLimited(fresh, 30_000, T0);
    expect(gate(state, policy(), ask())).toEqual({
      kind: 'hold',
      until: T0 + 30_000,
      reason: 'rate.retry-after',
    });
    expect(gate(state, policy(), ask({ now: T0 + 30_000 })).kind).toBe('go');
  });

  it('holds a failing host for two minutes, then lets one probe go and waits for its end', () => {
    let state = fresh;
    for (let index = 0; index < 5; index++) state = noteFailure(state, `/${index}`, T0);
    expect(gate(state, policy(), ask())).toEqual({
      kind: 'hold',
      until: T0 + 120_000,
      reason: 'breaker.open',
    });
    const now = T0 + 120_000;
    const probing = go(state, policy(), ask({ now }));
    expect(probing.breaker.phase).toBe('half-open');
    expect(gate(probing, policy(), ask({ now: now + 60_000, inFlight: 1 }))).toEqual({
      kind: 'wait',
      until: Number.POSITIVE_INFINITY,
      reason: 'breaker.probe',
    });
    expect(gate(noteSuccess(probing, '/', now), policy(), ask({ now: now + 60_000, inFlight: 1 })).kind).toBe(
      'go',
    );
    expect(gate(noteFailure(probing, '/', now), policy(), ask({ now: now + 1 }))).toMatchObject({
      kind: 'hold',
    });
  });

  it('sends another probe when the last one got lost', () => {
    let state = fresh;
    for (let index = 0; index < 5; index++) state = noteFailure(state, `/${index}`, T0);
    const probing = go(state, policy(), ask({ now: T0 + 120_000 }));
    expect(gate(probing, policy(), ask({ now: T0 + 180_000, inFlight: 0 })).kind).toBe('go');
  });

  it('waits for a free place', () => {
    const full = { kind: 'wait', until: Number.POSITIVE_INFINITY, reason: 'concurrency.host' };
    expect(gate(fresh, policy(), ask({ inFlight: 2 }))).toEqual(full);
    expect(gate(fresh, policy(), ask({ inFlight: 2, rateOverride: 'unlimited' }))).toEqual(full);
    expect(gate(fresh, policy(), ask({ inFlight: 1 })).kind).toBe('go');
  });

  it('gives a host with a crawl-delay one request at a time', () => {
    expect(gate(fresh, policy(), ask({ inFlight: 1, crawlDelayMs: 100 }))).toMatchObject({
      reason: 'concurrency.host',
    });
    expect(gate(fresh, policy(), ask({ inFlight: 1, crawlDelayMs: 0 })).kind).toBe('go');
  });

  it('says which rule made it wait', () => {
    const reason = (by: HostPolicy, input: Partial<GateInput>) => {
      const decision = gate(go(fresh, by, ask(input)), by, ask({ ...input, now: T0 + 1 }));
      return decision.kind === 'go' ? null : decision.reason;
    };
    expect(reason(policy(), {})).toBe('rate.bucket');
    expect(reason(policy(), { crawlDelayMs: 2_000 })).toBe('rate.crawl-delay');
    expect(reason(policy({ minDelayMs: 2_000 }), {})).toBe('rate.min-delay');
    expect(reason(policy(), { rateOverride: 'unlimited' })).toBeNull();
  });
});

describe('the pause between two requests', () => {
  it.each([
    ['is that of the rate', policy(), {}, 525],
    ['is that of the override, faster', policy(), { rateOverride: 5 }, 210],
    ['is that of the override, slower', policy(), { rateOverride: 0.5 }, 2_100],
    ['is none without a limit', policy({ ratePerSecond: null }), {}, 0],
    ['is none when the limit is lifted', policy(), { rateOverride: 'unlimited' }, 0],
    ['is the crawl-delay where that is longer', policy(), { crawlDelayMs: 3_000 }, 3_050],
    ['is the rate’s where that is longer', policy(), { crawlDelayMs: 100 }, 525],
    [
      'is the crawl-delay when the limit is lifted',
      policy(),
      { crawlDelayMs: 3_000, rateOverride: 'unlimited' },
      3_050,
    ],
    [
      'is no longer than policy lets a crawl-delay be',
      policy({ maxCrawlDelayMs: 1_000 }),
      { crawlDelayMs: 9_000 },
      1_050,
    ],
    ['is the least delay of the policy', policy({ minDelayMs: 1_000 }), {}, 1_050],
    [
      'is the least delay when the limit is lifted',
      policy({ minDelayMs: 400 }),
      { rateOverride: 'unlimited' },
      420,
    ],
  ] as const)('%s', (_claim, by, input, pauseMs) => {
    expect(nextGo(by, input)).toBeCloseTo(pauseMs, 1);
  });

  it('doubles when the host limits us, whichever rule made it', () => {
    const slowed = (input: Partial<GateInput>) => onRateLimited(go(fresh, policy(), ask(input)), null, T0);
    expect(nextGo(policy(), {}, slowed({}))).toBeCloseTo(1_050, 1);
    expect(nextGo(policy(), { crawlDelayMs: 3_000 }, slowed({ crawlDelayMs: 3_000 }))).toBeCloseTo(6_050, 1);
  });

  it('appears on an unlimited host that limits us', () => {
    const unlimited = policy({ ratePerSecond: null });
    const slowed = onRateLimited(go(fresh, unlimited, ask()), null, T0);
    expect(nextGo(unlimited, {}, slowed)).toBeGreaterThan(15);
    expect(nextGo(unlimited, {}, slowed)).toBeLessThan(100);
  });

  it('is a full one after the last owner died', () => {
    expect(nextGo(policy(), {}, stateAtAcquisition(fresh, true, T0))).toBeCloseTo(525, 1);
    expect(nextGo(policy(), { crawlDelayMs: 3_000 }, stateAtAcquisition(fresh, true, T0))).toBeCloseTo(
      3_050,
      1,
    );
  });

  it('does not wait for hours for a clock that was set back', () => {
    const ahead = go(fresh, policy({ minDelayMs: 1_000 }), ask({ now: T0 + 7_200_000 }));
    expect(gate(ahead, policy({ minDelayMs: 1_000 }), ask()).kind).toBe('go');
  });
});

describe('an admission', () => {
  it.each([
    ['a pause of the rate', { ratePerSecond: 2 }, {}, 500],
    ['a pause of the rate in force', { ratePerSecond: 2 }, { rateOverride: 0.5 }, 2_000],
    ['the pause that robots.txt asks for', { ratePerSecond: 2 }, { crawlDelayMs: 3_000 }, 3_000],
    ['the longest pause between requests', { ratePerSecond: null, minDelayMs: 700 }, {}, 700],
    ['the jitter that the bucket covers', { ratePerSecond: 500 }, {}, 40],
    ['ever where requests are not paced', { ratePerSecond: null }, {}, Number.POSITIVE_INFINITY],
  ] as const)('is valid for %s', (_, by, input, ms) => {
    expect(admissionMs(fresh, policy({ minDelayMs: 0, ...by }), ask(input))).toBe(ms);
  });

  it('is not over before the gate admits the next request', () => {
    for (const ratePerSecond of [0.3, 1, 2, 7, 20]) {
      const by = policy({ ratePerSecond, burst: 1 });
      expect(nextGo(by, {})).toBeGreaterThanOrEqual(admissionMs(fresh, by, ask()));
    }
  });
});
