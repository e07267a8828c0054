import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import { codeOfNetError } from './net-errors.ts';

/** No browser can be had at the moment, or none is installed. */
export function browserUnavailable(why: string, cause?: unknown, retryAfterMs?: number): ScrapifieError {
  return new ScrapifieError('BROWSER_UNAVAILABLE', `No browser is available: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The whole browser ended or stopped answering; whatever pages it showed are not at fault. */
export function browserLost(why: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('BROWSER_LOST', `The browser was lost: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The page's process ended while the page was in use. */
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

/**
 * Names what kept a document from arriving. Chromium's code goes into the message, the URL beyond its host does not,
 * since it may hold secrets.
 */
export function mapNavigationError(error: unknown, host: string): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const net = /net::ERR_([A-Z0-9_]+)/.exec(text)?.[1];
  if (net !== undefined) {
    // A name that a later Chromium has added: most of them are about connections.
    const code = codeOfNetError(net) ?? 'CONNECT_FAILED';
    if (code === 'BROWSER_LOST') return browserLost(`it gave up ${host} (${net})`, error);
    return new ScrapifieError(code, `${host} could not be loaded (${net})`, { cause: error });
  }
  if (/crashed/i.test(text)) return browserCrashed("The page's process", error);
  if (/has been closed|Target closed|disconnected/i.test(text)) {
    return browserLost('its connection was closed', error);
  }
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
