import { describe, expect, it } from 'vitest';
import type { BreakerState } from '../../core/ports/host-store.ts';
import {
  BREAKER,
  CLOSED_BREAKER,
  forgetProbe,
  onCall,
  probeRank,
  recordFailure,
  recordSuccess,
} from './breaker.ts';
import { passesGate } from './politeness.fixture.ts';

const T0 = 1_700_000_000_000;

/** `f` is a failure, `s` a success, each of another URL and a second after the last; a digit is a failure of that URL. */
function breakerAfter(line: string, from: BreakerState = CLOSED_BREAKER): BreakerState {
  return [...line].reduce((state, outcome, index) => {
    const now = T0 + index * 1_000;
    if (outcome === 's') return recordSuccess(state, `/${index}`, now);
    return recordFailure(state, outcome === 'f' ? `/${index}` : `/bad/${outcome}`, now);
  }, from);
}

describe('a closed breaker', () => {
  it.each([
    ['ffff', 'closed'],
    ['fffff', 'open'],
    ['fsfsfsfsf', 'open'],
    ['ffffssssssf', 'closed'],
    ['ffffsssssf', 'open'],
    ['ffffssssssssssffff', 'closed'],
    ['s121212121212121', 'closed'],
    ['s121212ss1122s12121212', 'closed'],
    ['s12121fff', 'open'],
    ['11111', 'open'],
    ['12121', 'open'],
  ])('after %s is %s', (line, phase) => {
    expect(breakerAfter(line).phase).toBe(phase);
  });

  it('opens at failures of one URL once no other has answered for two minutes', () => {
    const failing = breakerAfter('s111111');
    expect(recordFailure(failing, '/bad/1', T0 + BREAKER.openMs - 1).phase).toBe('closed');
    expect(recordFailure(failing, '/bad/1', T0 + BREAKER.openMs).phase).toBe('open');
  });

  it('goes on from a state of an earlier version, which knew no URLs', () => {
    const earlier = {
      phase: 'closed',
      window: [true, true, true, true],
      openedAt: 0,
      isProbing: false,
    } as const;
    expect(recordFailure(earlier, '/', T0).phase).toBe('open');
    expect(recordSuccess(earlier, '/', T0).window).toEqual([true, true, true, true, false]);
  });

  it('remembers no more than its window', () => {
    expect(breakerAfter(`sffs${'s'.repeat(20)}`).window).toHaveLength(BREAKER.window);
  });

  it('is not rebuilt for a success that changes nothing', () => {
    const calm = breakerAfter('s'.repeat(BREAKER.window));
    const now = T0 + (BREAKER.window - 1) * 1_000;
    expect(recordSuccess(calm, '/', now + 999)).toBe(calm);
    expect(recordSuccess(calm, '/', now + 1_000).answeredAt).toBe(now + 1_000);
    expect(onCall(calm)).toBe(calm);
  });
});

describe('an open breaker', () => {
  const open = breakerAfter('fffff');

  it('lets nothing pass for two minutes, then one probe', () => {
    expect(passesGate(open, open.openedAt + BREAKER.openMs - 1)).toBe(false);
    expect(passesGate(open, open.openedAt + BREAKER.openMs)).toBe(true);
    const probing = onCall(open);
    expect(probing).toMatchObject({ phase: 'half-open', isProbing: true });
    expect(passesGate(probing, open.openedAt + 10 * BREAKER.openMs)).toBe(false);
  });

  it('ignores the outcomes of requests that were under way when it opened', () => {
    expect(recordSuccess(open, '/', T0 + 60_000)).toBe(open);
    expect(recordFailure(open, '/', T0 + 60_000)).toBe(open);
  });
});

describe('a probe', () => {
  const probing = onCall(breakerAfter('fffff'));

  it('that succeeds closes the breaker with a clean slate', () => {
    const closed = recordSuccess(probing, '/', T0);
    expect(closed).toMatchObject({ phase: 'closed', window: [false], openedAt: 0, isProbing: false });
    expect(breakerAfter('ffff', closed).phase).toBe('closed');
    expect(breakerAfter('1212121212', closed).phase).toBe('closed');
  });

  it('that fails opens it for another two minutes', () => {
    const reopened = recordFailure(probing, '/', T0 + 500_000);
    expect(reopened).toMatchObject({ phase: 'open', openedAt: T0 + 500_000, isProbing: false });
  });

  it('is a URL that has not failed, of these the one with the fewest attempts', () => {
    const open = breakerAfter('s12121fff');
    const [first] = [
      { url: '/bad/1', attempts: 0 },
      { url: '/new', attempts: 2 },
      { url: '/0', attempts: 1 },
      { url: '/bad/2', attempts: 0 },
    ].toSorted((a, b) => probeRank(open, a.url, a.attempts) - probeRank(open, b.url, b.attempts));
    expect(first?.url).toBe('/0');
    expect(probeRank(open, '/bad/1', 0)).toBe(probeRank(open, '/bad/2', 5));
  });

  it('that gets lost makes room for another', () => {
    expect(passesGate(forgetProbe(probing), T0)).toBe(true);
    expect(forgetProbe(CLOSED_BREAKER)).toBe(CLOSED_BREAKER);
  });
});
