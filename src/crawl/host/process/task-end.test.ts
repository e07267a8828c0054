import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../core/errors/registry.ts';
import type { OutcomeKind } from '../../../core/model/attempt.ts';
import { isHostFault } from '../../plan/outcome.ts';
import { httpNext } from './fetch-resources.fixture.ts';
import { type AttemptResult, endAfter } from './task-end.ts';

const NOW = 1_000_000;
const half = () => 0.5;
const FIRST = { made: 1, most: 3 };
const LAST = { made: 3, most: 3 };

const answered = (statusCode: number, outcome: OutcomeKind): AttemptResult => ({
  statusCode,
  outcome,
  errorCode: null,
  retryAfterMs: null,
});
const failedWith = (errorCode: ErrorCode): AttemptResult => ({
  statusCode: null,
  outcome: 'error',
  errorCode,
  retryAfterMs: null,
});
/** Only plain HTTP is there to go on with. */
function end({ errorCode, ...result }: AttemptResult, { made, most } = FIRST) {
  const code = errorCode === null ? {} : { errorCode };
  const last = { engine: 'http', proxyTier: null, ...result, ...code } as const;
  const accident = {
    ...last,
    outcome: 'error',
    statusCode: 500,
    reason: 'plan.none',
    ms: 0,
    bytes: 0,
    at: '',
  } as const;
  const next = httpNext(last, most, Array<typeof accident>(made - 1).fill(accident));
  return endAfter({ ...result, errorCode }, next, made, NOW, half);
}
const described = (result: AttemptResult, attempts = FIRST) => {
  const { state, ...more } = end(result, attempts);
  return `${state} ${'errorCode' in more ? more.errorCode : 'rule' in more ? more.rule : ''}`;
};

describe('how a task goes on after an answer', () => {
  it.each([
    [200, 'ok', 'done null', 'done null'],
    [204, 'ok', 'done null', 'done null'],
    [200, 'soft-404', 'done outcome.soft-404', 'done outcome.soft-404'],
    [200, 'empty', 'done outcome.empty', 'done outcome.empty'],
    [200, 'login-wall', 'done outcome.login-wall', 'done outcome.login-wall'],
    [200, 'needs-javascript', 'done outcome.needs-javascript', 'done outcome.needs-javascript'],
    [200, 'blocked', 'failed BLOCKED', 'failed BLOCKED'],
    [403, 'captcha', 'failed CAPTCHA', 'failed CAPTCHA'],
    [401, 'login-wall', 'failed HTTP_ERROR', 'failed HTTP_ERROR'],
    [404, 'error', 'failed HTTP_ERROR', 'failed HTTP_ERROR'],
    [429, 'rate-limited', 'waiting retry:HOST_RATE_LIMITED', 'failed HOST_RATE_LIMITED'],
    [500, 'error', 'waiting retry:HTTP_ERROR', 'failed HTTP_ERROR'],
    [501, 'error', 'failed HTTP_ERROR', 'failed HTTP_ERROR'],
    [502, 'error', 'waiting retry:HTTP_ERROR', 'failed HTTP_ERROR'],
    [503, 'blocked', 'failed BLOCKED', 'failed BLOCKED'],
    [505, 'error', 'failed HTTP_ERROR', 'failed HTTP_ERROR'],
  ] as const)('%i %s: %s, the last time %s', (statusCode, outcome, first, last) => {
    expect(described(answered(statusCode, outcome))).toBe(first);
    expect(described(answered(statusCode, outcome), LAST)).toBe(last);
  });

  it.each([
    ['CONNECTION_RESET', 'waiting retry:CONNECTION_RESET', 'failed CONNECTION_RESET'],
    ['DNS_FAILED', 'waiting retry:DNS_FAILED', 'failed DNS_FAILED'],
    ['TASK_TIMEOUT', 'waiting retry:TASK_TIMEOUT', 'failed TASK_TIMEOUT'],
    ['ADDRESS_REFUSED', 'failed ADDRESS_REFUSED', 'failed ADDRESS_REFUSED'],
    ['BODY_LIMIT_EXCEEDED', 'failed BODY_LIMIT_EXCEEDED', 'failed BODY_LIMIT_EXCEEDED'],
    ['REDIRECT_LOOP', 'failed REDIRECT_LOOP', 'failed REDIRECT_LOOP'],
  ] as const)('no answer but %s: %s, the last time %s', (code, first, last) => {
    expect(described(failedWith(code))).toBe(first);
    expect(described(failedWith(code), LAST)).toBe(last);
  });

  it('waits at least as long as the host asked for', () => {
    const asked = { ...answered(429, 'rate-limited'), retryAfterMs: 120_000 };
    expect(end(asked)).toMatchObject({ state: 'waiting', readyAt: NOW + 120_000 });
  });

  it('waits longer after the second attempt than after the first', () => {
    const endOfAttempt = (made: number) => end(failedWith('CONNECT_FAILED'), { made, most: 3 });
    expect(endOfAttempt(1)).toMatchObject({ readyAt: NOW + 1_000 });
    expect(endOfAttempt(2)).toMatchObject({ readyAt: NOW + 2_000 });
  });
});

const anyResult: fc.Arbitrary<AttemptResult> = fc.record({
  statusCode: fc.option(fc.integer({ min: 100, max: 599 })),
  outcome: fc.constantFrom<OutcomeKind>(
    'ok',
    'soft-404',
    'blocked',
    'captcha',
    'login-wall',
    'needs-javascript',
    'rate-limited',
    'empty',
    'error',
  ),
  errorCode: fc.option(fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[]))),
  retryAfterMs: fc.option(fc.nat(10_000_000)),
});

describe('any attempt', () => {
  it('ends the task or lets it wait, and never for one more than the most attempts', () => {
    fc.assert(
      fc.property(anyResult, fc.nat(10), fc.integer({ min: 1, max: 10 }), (result, before, most) => {
        const made = before + 1;
        const { state, ...rest } = end(result, { made, most });
        expect(['done', 'failed', 'waiting']).toContain(state);
        // A page whose browser was lost is tried again without being charged, and that is counted elsewhere.
        if (made >= most && result.errorCode !== 'BROWSER_LOST') expect(state).not.toBe('waiting');
        if ('readyAt' in rest) expect(rest.readyAt).toBeGreaterThanOrEqual(NOW);
      }),
    );
  });

  it('comes to an end, however often it goes wrong', () => {
    fc.assert(
      fc.property(fc.array(anyResult, { minLength: 10, maxLength: 10 }), (results) => {
        const most = results.length;
        const ends = results.map((result, index) => end(result, { made: index + 1, most }));
        expect(ends.some(({ state }) => state !== 'waiting')).toBe(true);
      }),
    );
  });

  it('is done only when a response arrived that is no error', () => {
    fc.assert(
      fc.property(anyResult, (result) => {
        if (end(result).state !== 'done') return;
        expect(result.errorCode).toBeNull();
        expect(result.statusCode ?? 0).toBeLessThan(400);
      }),
    );
  });
});

describe('what counts against the host', () => {
  it.each(['CONNECT_FAILED', 'CONNECTION_RESET', 'HEADERS_TIMEOUT', 'DNS_FAILED'] as const)('%s', (code) => {
    expect(isHostFault(failedWith(code))).toBe(true);
  });

  it.each(['DISK_FULL', 'STORE_UNAVAILABLE', 'SHUTTING_DOWN', 'CANCELLED', 'TOO_MANY_REDIRECTS'] as const)(
    'not %s: that is ours, or the URL’s',
    (code) => {
      expect(isHostFault(failedWith(code))).toBe(false);
    },
  );

  it('5xx answers, but not those about the request, and no 4xx', () => {
    const counted = [200, 301, 404, 429, 500, 501, 502, 503, 504, 505].filter((statusCode) =>
      isHostFault(answered(statusCode, 'error')),
    );
    expect(counted).toEqual([500, 502, 503, 504]);
  });
});
