import type { ErrorCode } from '../../errors/registry.ts';
import type { OutcomeKind } from '../../model/attempt.ts';

/**
 * What a request says about the proxy it went through.
 *
 * `served`         the target answered with what was asked for
 * `banned`         the target refuses this proxy's address: block page or challenge
 * `throttled`      the target wants fewer requests, perhaps from this address only
 * `proxy-failed`   the proxy's fault: not reached, silent, login refused
 * `unclear`        proxy or target, nobody can tell from one request
 * `target-failed`  the proxy did its part; the target is at fault
 * `nothing`        it never came to a request
 */
export type ProxyOutcome =
  | 'served'
  | 'banned'
  | 'throttled'
  | 'proxy-failed'
  | 'unclear'
  | 'target-failed'
  | 'nothing';

export interface AttemptEnd {
  readonly outcome: OutcomeKind;
  readonly statusCode: number | null;
  readonly errorCode: ErrorCode | null;
  /** Whom the connector blames, from `details.fault` of its error; null when it did not fail there. */
  readonly fault: 'proxy' | 'unclear' | null;
}

/** Failures after the tunnel stood: a proxy that swallows bytes looks like a target that does. */
const UNCLEAR: ReadonlySet<ErrorCode> = new Set([
  'TLS_FAILED',
  'CONNECTION_RESET',
  'HEADERS_TIMEOUT',
  'BODY_TIMEOUT',
  'TASK_TIMEOUT',
  'PROTOCOL_ERROR',
  'BAD_ENCODING',
]);
/** The target could not be reached from the proxy, which said so. */
const TARGET: ReadonlySet<ErrorCode> = new Set(['DNS_FAILED', 'CONNECT_FAILED', 'HTTP_ERROR']);

export function proxyOutcomeOf({ outcome, statusCode, errorCode, fault }: AttemptEnd): ProxyOutcome {
  if (fault !== null) return fault === 'proxy' ? 'proxy-failed' : 'unclear';
  // Only a proxy asks for this login.
  if (statusCode === 407) return 'proxy-failed';
  if (outcome === 'blocked' || outcome === 'captcha') return 'banned';
  if (outcome === 'rate-limited') return 'throttled';
  if (outcome !== 'error') return 'served';
  if (errorCode !== null && UNCLEAR.has(errorCode)) return 'unclear';
  if (statusCode !== null || (errorCode !== null && TARGET.has(errorCode))) return 'target-failed';
  return 'nothing';
}
