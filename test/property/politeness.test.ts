import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostState } from '../../src/core/ports/host-store.ts';
import { DEFAULT_POLICY } from '../../src/crawl/policy/policies.ts';
import { BREAKER, CLOSED_BREAKER, recordFailure, recordSuccess } from '../../src/crawl/politeness/breaker.ts';
import { gate } from '../../src/crawl/politeness/gate.ts';
import {
  MAX_SLOW_DOWN_MS,
  MIN_RATE_FACTOR,
  newHostState,
  noteFailure,
  noteSuccess,
  onRateLimited,
  rateFactorAt,
  stateAtAcquisition,
} from '../../src/crawl/politeness/host-state.ts';
import { passesGate, takeToken } from '../../src/crawl/politeness/politeness.fixture.ts';
import { BACKOFF_BASE_MS, BACKOFF_CAP_MS, retryDelayMs } from '../../src/crawl/politeness/retry-after.ts';

const T0 = Date.UTC(2026, 0, 1);
const rates = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0.05, max: 200, noNaN: true }));
const bursts = fc.integer({ min: 1, max: 10 });

/** The most of these times that lie in any one second, both ends counted. */
function mostInOneSecond(times: readonly number[]): number {
  let most = 0;
  let first = 0;
  const sorted = times.toSorted((a, b) => a - b);
  sorted.forEach((time, index) => {
    while (time - (sorted[first] ?? time) > 1_000) first++;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

describe('property 22: the rate of a host', () => {
  it('is kept in every second, however eagerly or rarely somebody asks', () => {
    const pauses = fc.array(
      fc.oneof(fc.constant(0), fc.double({ min: 0, max: 40, noNaN: true }), fc.nat(3_000)),
      {
        minLength: 50,
        maxLength: 300,
      },
    );
    fc.assert(
      fc.property(rates, bursts, pauses, (rate, burst, gaps) => {
        let bucket = { tokens: 1, tokensAt: T0 };
        let now = T0;
        const grants: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const taken = takeToken(bucket, rate, burst, now);
          bucket = { ...taken.bucket };
          if (taken.granted) grants.push(now);
        }
        expect(mostInOneSecond(grants)).toBeLessThanOrEqual(Math.ceil(rate) + burst - 1);
      }),
    );
  });

  it('is kept at the server after an idle time, although requests arrive up to 35 ms late, each by another time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        bursts,
        fc.array(fc.double({ min: 0, max: 35, noNaN: true }), { minLength: 1, maxLength: 50 }),
        (rate, burst, delays) => {
          let bucket = { tokens: 0, tokensAt: T0 - 3_600_000 };
          let now = T0;
          const arrivals: number[] = [];
          while (now < T0 + 2_500) {
            const taken = takeToken(bucket, rate, burst, now);
            bucket = { ...taken.bucket };
            if (taken.granted) arrivals.push(now + (delays[arrivals.length % delays.length] ?? 0));
            else now = taken.nextAt;
          }
          expect(mostInOneSecond(arrivals)).toBeLessThanOrEqual(rate + burst - 1);
        },
      ),
    );
  });

  it('is its own: requests to other hosts take none of its tokens', () => {
    const policy = { ...DEFAULT_POLICY, concurrency: Number.POSITIVE_INFINITY };
    const ask = (state: HostState, now: number) =>
      gate(state, policy, { now, inFlight: 0, crawlDelayMs: null, rateOverride: null });
    const asks = fc.array(fc.record({ host: fc.constantFrom('a', 'b', 'c'), gapMs: fc.nat(800) }), {
      maxLength: 100,
    });
    const admitted = (
      all: readonly { readonly host: string; readonly at: number }[],
      only: string | null,
    ) => {
      const states = new Map<string, HostState>();
      return all.flatMap(({ host, at }) => {
        if (only !== null && host !== only) return [];
        const decision = ask(states.get(host) ?? newHostState(T0), at);
        if (decision.kind === 'go') states.set(host, decision.state);
        return decision.kind === 'go' ? [`${host} ${at}`] : [];
      });
    };
    fc.assert(
      fc.property(asks, (list) => {
        let at = T0;
        const timed = list.map(({ host, gapMs }) => {
          at += gapMs;
          return { host, at };
        });
        const together = admitted(timed, null);
        for (const host of ['a', 'b', 'c']) {
          expect(together.filter((each) => each.startsWith(`${host} `))).toEqual(admitted(timed, host));
        }
      }),
    );
  });

  it('spaces requests by at least 1/rate where a burst is not allowed, up to five a second', () => {
    const gaps = fc.array(fc.double({ min: 0, max: 2_000, noNaN: true }), { minLength: 20, maxLength: 200 });
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 5, noNaN: true }), gaps, (rate, waits) => {
        let bucket = { tokens: 1, tokensAt: T0 };
        let now = T0;
        let last = Number.NEGATIVE_INFINITY;
        for (const wait of waits) {
          now += wait;
          const taken = takeToken(bucket, rate, 1, now);
          bucket = { ...taken.bucket };
          if (!taken.granted) continue;
          expect(now - last).toBeGreaterThanOrEqual(1_000 / rate - 0.01);
          last = now;
        }
      }),
    );
  });

  it('is reached: whoever waits until nextAt is granted, and gets at least nine tenths of the rate', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 200, noNaN: true }), bursts, (rate, burst) => {
        let bucket = { tokens: 1, tokensAt: T0 };
        let now = T0;
        const count = Math.ceil(rate * 10);
        for (let index = 0; index < count; index++) {
          const taken = takeToken(bucket, rate, burst, now);
          expect(taken.granted).toBe(true);
          bucket = { ...taken.bucket };
          now = taken.nextAt;
        }
        expect(count / ((now - T0) / 1_000)).toBeGreaterThanOrEqual(rate * 0.9);
      }),
    );
  });

  it('is a host’s own: what one host does changes no decision for another', () => {
    const asks = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(400)), { maxLength: 100 });
    fc.assert(
      fc.property(asks, (sequence) => {
        const run = (only: string | null) => {
          const states = { a: newHostState(T0), b: newHostState(T0) };
          let now = T0;
          const went: number[] = [];
          for (const [host, gap] of sequence) {
            now += gap;
            if (only !== null && host !== only) continue;
            const name = host === 'a' ? 'a' : 'b';
            const input = { now, inFlight: 0, crawlDelayMs: null, rateOverride: null };
            const decision = gate(states[name], DEFAULT_POLICY, input);
            if (decision.kind !== 'go') continue;
            states[name] = decision.state;
            if (name === 'a') went.push(now);
          }
          return went;
        };
        expect(run(null)).toEqual(run('a'));
      }),
    );
  });

  it('is kept across owners that die and are replaced at once', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.tuple(fc.nat(300), fc.boolean()), { minLength: 20, maxLength: 200 }),
        (rate, steps) => {
          const policy = { ...DEFAULT_POLICY, ratePerSecond: rate };
          // What the store has: no owner lived long enough to write its state back.
          const stored: HostState = newHostState(T0);
          let state = stored;
          let now = T0;
          const sent: number[] = [];
          for (const [gap, dies] of steps) {
            now += gap;
            if (dies) state = stateAtAcquisition(stored, true, now);
            const decision = gate(state, policy, {
              now,
              inFlight: 0,
              crawlDelayMs: null,
              rateOverride: null,
            });
            if (decision.kind !== 'go') continue;
            sent.push(now);
            state = decision.state;
          }
          expect(mostInOneSecond(sent)).toBeLessThanOrEqual(rate);
        },
      ),
    );
  });
});

describe('property 26: a host that limits us', () => {
  it('is halved each time, never below a sixteenth, and whole again when it has been quiet for 15 minutes', () => {
    const gaps = fc.array(fc.nat(1_200_000), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(gaps, fc.option(fc.nat(600_000)), (waits, retryAfterMs) => {
        let state = newHostState(T0);
        let now = T0;
        for (const wait of waits) {
          now += wait;
          const before = rateFactorAt(state, now);
          state = onRateLimited(state, retryAfterMs, now);
          expect(rateFactorAt(state, now)).toBe(Math.max(MIN_RATE_FACTOR, before / 2));
          expect(state.blockedUntil).toBeGreaterThanOrEqual(now + (retryAfterMs ?? -now));
        }
        expect(rateFactorAt(state, now + MAX_SLOW_DOWN_MS)).toBe(1);
      }),
    );
  });

  it('gets its requests at the halved rate from the gate, and at the full one afterwards', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 4 }), (rate, times) => {
        const policy = { ...DEFAULT_POLICY, ratePerSecond: rate };
        let state = newHostState(T0);
        for (let time = 0; time < times; time++) state = onRateLimited(state, null, T0);
        const pauseFrom = (now: number) => {
          const input = { now, inFlight: 0, crawlDelayMs: null, rateOverride: null };
          const decision = gate(stateAtAcquisition(state, true, now), policy, input);
          return decision.kind === 'go' ? 0 : decision.until - now;
        };
        const slowed = pauseFrom(T0);
        expect(slowed / pauseFrom(state.rateFactorUntil)).toBeCloseTo(2 ** times, 2);
      }),
    );
  });
});

describe('properties 27 to 29: the breaker', () => {
  const outcomes = fc.array(fc.boolean(), { maxLength: 60 });

  it('27: opens at the fifth failure within the last ten URLs, and not before', () => {
    fc.assert(
      fc.property(outcomes, (failures) => {
        let breaker = CLOSED_BREAKER;
        for (let index = 0; index < failures.length; index++) {
          breaker = failures[index]
            ? recordFailure(breaker, `/${index}`, T0 + index)
            : recordSuccess(breaker, `/${index}`, T0 + index);
          const recent = failures.slice(Math.max(0, index + 1 - BREAKER.window), index + 1);
          const isOpening = recent.filter(Boolean).length >= BREAKER.failuresToOpen;
          expect(breaker.phase).toBe(isOpening ? 'open' : 'closed');
          if (isOpening) return;
        }
      }),
    );
  });

  it('27: stays closed when up to four URLs fail, however often, on a host that answers on others', () => {
    const few = fc.array(fc.oneof(fc.nat(3), fc.constant('good' as const)), { maxLength: 100 });
    fc.assert(
      fc.property(few, (requests) => {
        let breaker = recordSuccess(CLOSED_BREAKER, '/', T0);
        for (const [index, url] of requests.entries()) {
          const now = T0 + index * 1_000;
          breaker =
            url === 'good'
              ? recordSuccess(breaker, `/good/${index}`, now)
              : recordFailure(breaker, `/bad/${url}`, now);
          expect(breaker.phase).toBe('closed');
        }
      }),
    );
  });

  it('27: opens at the fifth failure in a row of all URLs that a host has, be it one or more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.nat(40), (urls, answers) => {
        let breaker = CLOSED_BREAKER;
        for (let index = 0; index < answers; index++) {
          breaker = recordSuccess(breaker, `/${index % urls}`, T0 + index);
        }
        for (let index = 1; index <= BREAKER.failuresToOpen; index++) {
          expect(breaker.phase).toBe('closed');
          breaker = recordFailure(breaker, `/${index % urls}`, T0 + answers + index);
        }
        expect(breaker.phase).toBe('open');
      }),
    );
  });

  const opened = fc.integer({ min: T0, max: T0 + 1e9 }).map((at) => {
    let breaker = CLOSED_BREAKER;
    for (let index = 0; index < BREAKER.failuresToOpen; index++)
      breaker = recordFailure(breaker, `/${index}`, at);
    return breaker;
  });

  it('28: while open lets nothing pass, whatever else it hears', () => {
    fc.assert(
      fc.property(opened, fc.nat(BREAKER.openMs - 1), outcomes, (breaker, passedMs, late) => {
        const now = breaker.openedAt + passedMs;
        const after = late.reduce(
          (state, isFailure) => (isFailure ? recordFailure(state, '/', now) : recordSuccess(state, '/', now)),
          breaker,
        );
        expect(passesGate(after, now)).toBe(false);
        const state = { ...newHostState(T0), breaker: after };
        const input = { now, inFlight: 0, crawlDelayMs: null, rateOverride: 'unlimited' as const };
        expect(gate(state, DEFAULT_POLICY, input)).toEqual({
          kind: 'hold',
          until: breaker.openedAt + BREAKER.openMs,
          reason: 'breaker.open',
        });
      }),
    );
  });

  it('29: half-open lets one probe pass, whose success closes it and whose failure opens it again', () => {
    const ask = (state: HostState, now: number, inFlight: number) =>
      gate(state, DEFAULT_POLICY, { now, inFlight, crawlDelayMs: null, rateOverride: 'unlimited' });
    fc.assert(
      fc.property(opened, fc.nat(1e7), fc.boolean(), (breaker, passedMs, isFailure) => {
        const now = breaker.openedAt + BREAKER.openMs + passedMs;
        const probe = ask({ ...newHostState(now), breaker }, now, 0);
        if (probe.kind !== 'go') throw new Error('The probe was refused.');
        expect(ask(probe.state, now, 1)).toMatchObject({ kind: 'wait', reason: 'breaker.probe' });
        const after = isFailure ? noteFailure(probe.state, '/', now) : noteSuccess(probe.state, '/', now);
        expect(after.breaker.phase).toBe(isFailure ? 'open' : 'closed');
        expect(ask(after, now, 0)).toMatchObject(
          isFailure ? { kind: 'hold', reason: 'breaker.open', until: now + BREAKER.openMs } : { kind: 'go' },
        );
      }),
    );
  });
});

describe('backoff', () => {
  const attempts = fc.integer({ min: 1, max: 2_000 });
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('stays between nothing and its ceiling, and never exceeds the cap', () => {
    fc.assert(
      fc.property(attempts, chances, (attempt, chance) => {
        const delayMs = retryDelayMs(attempt, () => chance);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1)));
      }),
    );
  });

  it('grows with the attempt and with chance, and never falls below what the host asked for', () => {
    fc.assert(
      fc.property(attempts, chances, chances, fc.nat(1e8), (attempt, one, other, retryAfterMs) => {
        const [low, high] = one < other ? [one, other] : [other, one];
        const delay = (n: number, chance: number) => retryDelayMs(n, () => chance);
        expect(delay(attempt + 1, low)).toBeGreaterThanOrEqual(delay(attempt, low));
        expect(delay(attempt, high)).toBeGreaterThanOrEqual(delay(attempt, low));
        const asked = retryDelayMs(attempt, () => low, retryAfterMs);
        expect(asked).toBeGreaterThanOrEqual(Math.min(retryAfterMs, 86_400_000));
      }),
    );
  });
});
