import { describe, expect, it } from 'vitest';
import type { BreakerState } from '../ports/store.ts';
import { BREAKER, CLOSED_BREAKER, forgetProbe, onCall, recordFailure, recordSuccess } from './breaker.ts';
import { passesGate } from './politeness.fixture.ts';

const T0 = 1_700_000_000_000;

/** `f` is a failure, `s` a success, each a second after the last. */
function breakerAfter(line: string, from: BreakerState = CLOSED_BREAKER): BreakerState {
  return [...line].reduce(
    (state, outcome, index) =>
      outcome === 'f' ? recordFailure(state, T0 + index * 1_000) : recordSuccess(state),
    from,
  );
}

describe('a closed breaker', () => {
  it.each([
    ['ffff', 'closed'],
    ['fffff', 'open'],
    ['fsfsfsfsf', 'open'],
    ['ffffssssssf', 'closed'],
    ['ffffsssssf', 'open'],
    ['ffffssssssssssffff', 'closed'],
  ])('after %s is %s', (line, phase) => {
    expect(breakerAfter(line).phase).toBe(phase);
  });

  it('remembers no more than its window', () => {
    expect(breakerAfter(`sffs${'s'.repeat(20)}`).window).toHaveLength(BREAKER.window);
  });

  it('is not rebuilt for a success that changes nothing', () => {
    const calm = breakerAfter('s'.repeat(BREAKER.window));
    expect(recordSuccess(calm)).toBe(calm);
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
    expect(recordSuccess(open)).toBe(open);
    expect(recordFailure(open, T0 + 60_000)).toBe(open);
  });
});

describe('a probe', () => {
  const probing = onCall(breakerAfter('fffff'));

  it('that succeeds closes the breaker with a clean slate', () => {
    expect(recordSuccess(probing)).toEqual(CLOSED_BREAKER);
    expect(breakerAfter('ffff', recordSuccess(probing)).phase).toBe('closed');
  });

  it('that fails opens it for another two minutes', () => {
    const reopened = recordFailure(probing, T0 + 500_000);
    expect(reopened).toMatchObject({ phase: 'open', openedAt: T0 + 500_000, isProbing: false });
  });

  it('that gets lost makes room for another', () => {
    expect(passesGate(forgetProbe(probing), T0)).toBe(true);
    expect(forgetProbe(CLOSED_BREAKER)).toBe(CLOSED_BREAKER);
  });
});
