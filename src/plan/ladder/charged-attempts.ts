import type { ErrorCode } from '../../errors/registry.ts';
import { isRedirect } from '../../fetch/http/redirect.ts';

interface MadeAttempt {
  readonly statusCode: number | null;
  readonly errorCode?: ErrorCode | undefined;
}

/** Times that the loss of a browser costs a URL nothing: one that takes every browser down must end some time. */
export const MOST_FREE_LOSSES = 3;

/**
 * The attempts of a trace that count against `maxAttempts`. A redirect that led on to another host was no try that
 * failed; and a browser that was lost while it showed the page is no fault of the URL, the first few times.
 */
export function chargedAttempts(trace: readonly MadeAttempt[]): number {
  return trace.length - unchargedAttempts(trace);
}

export function unchargedAttempts(trace: readonly MadeAttempt[]): number {
  const redirects = trace.filter(wasRedirect).length;
  const losses = trace.filter(({ errorCode }) => errorCode === 'BROWSER_LOST').length;
  return redirects + Math.min(losses, MOST_FREE_LOSSES);
}

export const wasRedirect = ({ statusCode, errorCode }: MadeAttempt): boolean =>
  errorCode === undefined && statusCode !== null && isRedirect(statusCode);
