import { expect, test } from 'vitest';
import { type ProxiedAttemptEnd, type ProxyOutcome, proxyOutcomeOf } from './outcome.ts';

const CASES: readonly (readonly [Partial<ProxiedAttemptEnd>, ProxyOutcome])[] = [
  [{ outcome: 'ok', statusCode: 200 }, 'served'],
  [{ outcome: 'soft-404', statusCode: 200 }, 'served'],
  [{ outcome: 'login-wall', statusCode: 200 }, 'served'],
  [{ outcome: 'needs-javascript', statusCode: 200 }, 'served'],
  [{ outcome: 'blocked', statusCode: 403 }, 'banned'],
  [{ outcome: 'captcha', statusCode: 200 }, 'banned'],
  [{ outcome: 'rate-limited', statusCode: 429 }, 'throttled'],
  [{ outcome: 'error', statusCode: 503, errorCode: 'HTTP_ERROR' }, 'target-failed'],
  [{ outcome: 'error', statusCode: 404, errorCode: 'HTTP_ERROR' }, 'target-failed'],
  [{ outcome: 'error', statusCode: 407, errorCode: 'HTTP_ERROR' }, 'proxy-failed'],
  [{ fault: 'proxy', errorCode: 'CONNECT_FAILED' }, 'proxy-failed'],
  [{ fault: 'unclear', errorCode: 'TLS_FAILED' }, 'unclear'],
  [{ errorCode: 'CONNECT_FAILED' }, 'target-failed'],
  [{ errorCode: 'DNS_FAILED' }, 'target-failed'],
  [{ errorCode: 'HEADERS_TIMEOUT' }, 'unclear'],
  [{ errorCode: 'CONNECTION_RESET' }, 'unclear'],
  [{ errorCode: 'ADDRESS_REFUSED' }, 'nothing'],
  [{ errorCode: 'CANCELLED' }, 'nothing'],
];

test.each(CASES)('%j is %s', (end, expected) => {
  expect(proxyOutcomeOf({ outcome: 'error', statusCode: null, errorCode: null, fault: null, ...end })).toBe(
    expected,
  );
});
