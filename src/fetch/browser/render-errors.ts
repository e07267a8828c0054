import type { ErrorCode } from '../../errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';

/** No browser can be had at the moment, or none is installed. */
export function browserUnavailable(why: string, cause?: unknown, retryAfterMs?: number): ScrapifieError {
  return new ScrapifieError('BROWSER_UNAVAILABLE', `No browser is available: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The browser or the page's process ended while the page was in use. */
export function browserCrashed(what: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('BROWSER_CRASHED', `${what} ended unexpectedly while the page was rendered`, {
    ...(cause === undefined ? {} : { cause }),
  });
}

/** `step` is where it stands in the request, as in `actions[2] click #buy`. */
export function stepFailed(step: string, why: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('ACTION_FAILED', `${step}: ${why}`, { details: { step }, cause });
}

/** The time for the whole attempt ran out during this step. */
export function stepTimedOut(step: string, ms: number): ScrapifieError {
  const message = `${step}: the whole attempt took longer than ${ms} ms`;
  return new ScrapifieError('TASK_TIMEOUT', message, { details: { step } });
}

export function tookTooLong(what: string, ms: number): ScrapifieError {
  return new ScrapifieError('TASK_TIMEOUT', `${what} took longer than ${ms} ms`);
}

export function shuttingDown(): ScrapifieError {
  return new ScrapifieError('SHUTTING_DOWN', 'The browsers are being closed');
}

export function cancelled(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'The request was cancelled', { cause: reason });
}

/** Chromium's names for what goes wrong on the network; a prefix stands for its family. The first match decides. */
const NET_ERRORS: readonly (readonly [string, ErrorCode])[] = [
  ['NAME_', 'DNS_FAILED'],
  ['CERT_', 'TLS_FAILED'],
  ['SSL_', 'TLS_FAILED'],
  ['BAD_SSL_', 'TLS_FAILED'],
  ['ECH_', 'TLS_FAILED'],
  ['CONNECTION_RESET', 'CONNECTION_RESET'],
  ['CONNECTION_CLOSED', 'CONNECTION_RESET'],
  ['CONNECTION_ABORTED', 'CONNECTION_RESET'],
  ['EMPTY_RESPONSE', 'CONNECTION_RESET'],
  ['SOCKET_NOT_CONNECTED', 'CONNECTION_RESET'],
  ['CONTENT_LENGTH_MISMATCH', 'PROTOCOL_ERROR'],
  ['CONTENT_DECODING_', 'BAD_ENCODING'],
  ['RESPONSE_HEADERS_TOO_BIG', 'HEADERS_LIMIT_EXCEEDED'],
  ['RESPONSE_HEADERS_', 'PROTOCOL_ERROR'],
  ['INVALID_HTTP_', 'PROTOCOL_ERROR'],
  ['INVALID_CHUNKED_', 'PROTOCOL_ERROR'],
  ['INCOMPLETE_', 'PROTOCOL_ERROR'],
  ['HTTP2_', 'PROTOCOL_ERROR'],
  ['HTTP_', 'PROTOCOL_ERROR'],
  ['TOO_MANY_REDIRECTS', 'TOO_MANY_REDIRECTS'],
  ['UNSAFE_PORT', 'INVALID_URL'],
  ['INVALID_URL', 'INVALID_URL'],
  ['UNKNOWN_URL_SCHEME', 'BAD_REDIRECT'],
  ['UNSAFE_REDIRECT', 'BAD_REDIRECT'],
  ['TIMED_OUT', 'HEADERS_TIMEOUT'],
];

/**
 * What is said of a navigation whose process, or the one that fetches for it, is gone before the news of that arrive;
 * and later on, when the one that fetches was started anew and does not know the way through our proxy any more.
 * Whatever else calls a navigation off is known to whoever began it.
 */
const CRASHES = /^(?:ABORTED|INSUFFICIENT_RESOURCES|OUT_OF_MEMORY|INVALID_AUTH_CREDENTIALS)$/;

/**
 * Names what kept a document from arriving. Chromium's code goes into the message, the URL beyond its host does not,
 * since it may hold secrets.
 */
export function mapNavigationError(error: unknown, host: string): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const net = /net::ERR_([A-Z0-9_]+)/.exec(text)?.[1];
  if (net !== undefined && CRASHES.test(net)) return browserCrashed("The page's process", error);
  if (net !== undefined) {
    const code = NET_ERRORS.find(([prefix]) => net.startsWith(prefix))?.[1] ?? 'CONNECT_FAILED';
    return new ScrapifieError(code, `${host} could not be loaded (${net})`, { cause: error });
  }
  if (/crashed|has been closed|Target closed|disconnected/i.test(text)) return browserCrashed('The browser');
  return new ScrapifieError('INTERNAL', 'Something went wrong inside Scrapifie.', { cause: error });
}

/** Playwright's messages without its call log, which repeats them at length. */
export function plainMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ''] = text.split(/\n?Call log:/);
  return (
    first
      .replace(/^[a-zA-Z]+\.[a-zA-Z]+: /, '')
      .replace(/\b(\d+)\.\d+(?=ms\b)/g, '$1')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 300) || 'it failed'
  );
}
