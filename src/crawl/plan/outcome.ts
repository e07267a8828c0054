import { ERRORS, type ErrorCode, EXIT } from '../../core/errors/registry.ts';
import type { EngineName, OutcomeKind } from '../../core/model/attempt.ts';
import { isRendering } from '../../core/model/engine-traits.ts';
import { isRedirect } from '../../fetch/http/redirects.ts';

/**
 * What an attempt meant, asked by every part that draws a conclusion from one: the ladder (which method is next), the
 * host's memory (what was learned), the task (how it ends), the breaker (did the host fail) and the proxy pool (did the
 * proxy fail).
 */
export interface AttemptEnd {
  readonly outcome: OutcomeKind;
  /** Null when no response arrived. */
  readonly statusCode: number | null;
  /** Why no response arrived, or what failed on the page. */
  readonly errorCode?: ErrorCode | null | undefined;
}

/**
 * What an attempt says about the method by which it was made.
 *
 * worked           the host answered as it answers visitors, a shell of a page included
 * final            it is over, and nothing was learned: a page that does not exist, a login
 * transient        an accident: the same method may work in a moment
 * blocked, captcha the host refuses requests made by this method
 * needs-javascript the host answered, and only a browser can read the answer
 */
export type MethodEvidence = 'worked' | 'final' | 'transient' | 'blocked' | 'captcha' | 'needs-javascript';

export function evidenceOf({ outcome, errorCode, statusCode }: AttemptEnd): MethodEvidence {
  if (errorCode !== undefined && errorCode !== null) return evidenceOfError(errorCode);
  switch (outcome) {
    case 'ok':
    case 'soft-404':
      return 'worked';
    case 'blocked':
    case 'captcha':
    case 'needs-javascript':
      return outcome;
    case 'rate-limited':
      return 'transient';
    case 'login-wall':
    case 'empty':
      return 'final';
    case 'error':
      return isServerFault(statusCode) ? 'transient' : 'final';
  }
}

function evidenceOfError(code: ErrorCode): MethodEvidence {
  const { retry } = ERRORS[code];
  if (retry === 'otherWay') return code === 'CAPTCHA' ? 'captcha' : 'blocked';
  return retry === 'later' ? 'transient' : 'final';
}

/**
 * What a response is, after its status and its content: a host that asks for fewer requests may show any page, unless
 * that page is a block or a challenge.
 */
export function outcomeOf(statusCode: number, classified: OutcomeKind): OutcomeKind {
  const isLimited = statusCode === 429 || statusCode === 503;
  return isLimited && !isRefusedByHost(classified) ? 'rate-limited' : classified;
}

/** The host refuses us, whatever else failed on the page. */
export const isRefusedByHost = (outcome: OutcomeKind): boolean =>
  outcome === 'blocked' || outcome === 'captcha';

/** A server that failed, and may recover. 501 and 505 are answers that stay the same. */
function isServerFault(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 500 && statusCode !== 501 && statusCode !== 505;
}

/** The error code with which a task ends after this attempt; null when the response is the requested one. */
export function errorCodeOf({ outcome, statusCode, errorCode }: AttemptEnd): ErrorCode | null {
  if (errorCode !== undefined && errorCode !== null) return errorCode;
  if (outcome === 'rate-limited') return 'HOST_RATE_LIMITED';
  if (outcome === 'blocked') return 'BLOCKED';
  if (outcome === 'captcha') return 'CAPTCHA';
  return statusCode !== null && statusCode >= 400 ? 'HTTP_ERROR' : null;
}

/** Failures of this installation or of its proxies. They say nothing about the host. */
const OWN_FAULTS: ReadonlySet<ErrorCode> = new Set([
  'NO_WORKER',
  'BROWSER_UNAVAILABLE',
  'BROWSER_CRASHED',
  'BROWSER_LOST',
  'BROWSERS_BUSY',
  'NO_HEALTHY_PROXY',
  'PROXY_FAILED',
  'CAPTCHA_UNSOLVED',
]);

export const isOwnFault = (code: ErrorCode): boolean => OWN_FAULTS.has(code);

/** Whether the host failed, and not only the URL: the breaker counts these. */
export function isHostFault({ errorCode, statusCode }: AttemptEnd): boolean {
  if (errorCode === undefined || errorCode === null) return isServerFault(statusCode);
  const { retry, exitCode } = ERRORS[errorCode];
  // A full disk, an unavailable store or a failed proxy says nothing about the host.
  return retry === 'later' && exitCode !== EXIT.environment && !isOwnFault(errorCode);
}

const TIME_LIMITS: ReadonlySet<ErrorCode> = new Set(['HEADERS_TIMEOUT', 'BODY_TIMEOUT', 'TASK_TIMEOUT']);

/** Whether the attempt ended because its time was over: how much that says about the host depends on who set the limit. */
export const isTimeLimit = (code: ErrorCode | null): boolean => code !== null && TIME_LIMITS.has(code);

/**
 * How an attempt that ended with this error is treated when it is none of the task's attempts: `now` when it was
 * cancelled here, `later` when this installation has to recover first. Null: it counts as an attempt.
 */
export function repeatedWithoutCharge(code: ErrorCode, engine: EngineName): 'now' | 'later' | null {
  if (code === 'CANCELLED' || code === 'SHUTTING_DOWN') return 'now';
  // A browser of this installation is started again. A service of others may refuse every request for good.
  if (code === 'BROWSER_UNAVAILABLE' && isRendering(engine)) return 'later';
  // Waiting does not install a browser, and gives it no confinement.
  const isForGood = code === 'NO_BROWSER' || code === 'BROWSER_UNCONFINED';
  return ERRORS[code].exitCode === EXIT.environment && !isForGood ? 'later' : null;
}

interface TracedAttempt {
  readonly statusCode: number | null;
  readonly errorCode?: ErrorCode | undefined;
  readonly ledOn?: true | undefined;
}

/** The loss of a browser is free of charge this often. A URL that takes down every browser has to end at some point. */
export const MOST_FREE_LOSSES = 3;

/**
 * The attempts of a trace that count against `maxAttempts`. A redirect to another host was no failed attempt, and the
 * first losses of a browser are not the URL's fault.
 */
export function chargedAttempts(trace: readonly TracedAttempt[]): number {
  return trace.length - unchargedAttempts(trace);
}

export function unchargedAttempts(trace: readonly TracedAttempt[]): number {
  const redirects = trace.filter(wasRedirect).length;
  const losses = trace.filter(({ errorCode }) => errorCode === 'BROWSER_LOST').length;
  return redirects + Math.min(losses, MOST_FREE_LOSSES);
}

/** The task went on to another host: by a redirect of the server, or by a script of the page. */
export const wasRedirect = ({ statusCode, errorCode, ledOn }: TracedAttempt): boolean =>
  ledOn === true || (errorCode === undefined && statusCode !== null && isRedirect(statusCode));

/** Whether the browser was lost during an attempt: the page may be the cause, so it is rendered alone afterwards. */
export const hasLostBrowser = (trace: readonly TracedAttempt[]): boolean =>
  trace.some(({ errorCode }) => errorCode === 'BROWSER_LOST' || errorCode === 'BROWSER_CRASHED');

/**
 * What a request says about the proxy that carried it.
 *
 * `served`         the target answered with the requested page
 * `banned`         the target refuses this proxy's address: block page or challenge
 * `throttled`      the target wants fewer requests, perhaps from this address only
 * `proxy-failed`   the proxy's fault: not reached, silent, login refused
 * `unclear`        proxy or target; one request cannot tell which
 * `target-failed`  the proxy did its part; the target is at fault
 * `nothing`        no request was sent
 */
export type ProxyOutcome =
  | 'served'
  | 'banned'
  | 'throttled'
  | 'proxy-failed'
  | 'unclear'
  | 'target-failed'
  | 'nothing';

export interface ProxiedAttemptEnd extends AttemptEnd {
  /** The side that the connector holds responsible, from `details.fault` of its error; null when it did not fail there. */
  readonly fault: 'proxy' | 'unclear' | null;
}

/** Failures behind an established tunnel: a proxy that swallows bytes looks like a target that does. */
const UNCLEAR: ReadonlySet<ErrorCode> = new Set([
  'TLS_FAILED',
  'CONNECTION_RESET',
  'HEADERS_TIMEOUT',
  'BODY_TIMEOUT',
  'TASK_TIMEOUT',
  'PROTOCOL_ERROR',
  'BAD_ENCODING',
]);
/** The proxy reported that it could not reach the target. */
const TARGET: ReadonlySet<ErrorCode> = new Set(['DNS_FAILED', 'CONNECT_FAILED', 'HTTP_ERROR']);

export function proxyOutcomeOf(end: ProxiedAttemptEnd): ProxyOutcome {
  const { outcome, statusCode, errorCode = null, fault } = end;
  if (fault !== null) return fault === 'proxy' ? 'proxy-failed' : 'unclear';
  // 407 is a proxy's answer: no target asks for this login.
  if (statusCode === 407) return 'proxy-failed';
  if (isRefusedByHost(outcome)) return 'banned';
  if (outcome === 'rate-limited') return 'throttled';
  if (outcome !== 'error') return 'served';
  if (errorCode !== null && UNCLEAR.has(errorCode)) return 'unclear';
  if (statusCode !== null || (errorCode !== null && TARGET.has(errorCode))) return 'target-failed';
  return 'nothing';
}
