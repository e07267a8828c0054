import { CancelledError } from './errors.ts';

export interface RetryOptions {
  /** How often a request is repeated after its first try; 0: never. */
  readonly maxRetries: number;
  /** The longest pause before the first repetition; it doubles with each. */
  readonly baseDelayMs: number;
  /** No pause is longer, unless the server asks for it. */
  readonly maxDelayMs: number;
  /** A server that asks for a longer pause is not asked again: its error is thrown. */
  readonly maxRetryAfterMs: number;
}

export const DEFAULT_RETRIES: RetryOptions = {
  maxRetries: 4,
  baseDelayMs: 500,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
};

const RETRIED = new Set([408, 425, 429, 500, 503]);

/**
 * Whether an answer says that the request may work later. 502 and 504 with a code of the server are about the page that
 * was asked for, which the server has tried several times itself; without one they come from a proxy in between.
 */
export function isRetriedAnswer(status: number, code: string): boolean {
  if (status === 502 || status === 504) return code === proxyCode(status);
  return RETRIED.has(status);
}

/** The code of an answer that is not the server's own. */
export const proxyCode = (status: number): string => `HTTP_${status}`;

/**
 * The pause that `Retry-After` asks for: seconds, or a date, by the clock of the server, whose `Date` comes along. Null when
 * there is none or it cannot be read.
 */
export function retryAfterMs(headers: Headers, ownNow: number): number | null {
  const header = headers.get('retry-after');
  if (header === null) return null;
  const sent = Date.parse(headers.get('date') ?? '');
  const now = Number.isNaN(sent) ? ownNow : sent;
  const seconds = Number(header);
  if (header.trim() !== '' && Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** The pause before repetition `attempt` (0 is the first): full jitter, never shorter than the server asked for. */
export function delayBefore(
  attempt: number,
  asked: number | null,
  options: RetryOptions,
  random: () => number,
): number {
  const most = Math.min(options.maxDelayMs, options.baseDelayMs * 2 ** attempt);
  return asked === null ? random() * most : asked + random() * options.baseDelayMs;
}

/** Waits; rejects at once with CancelledError when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(new CancelledError(signal.reason));
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(new CancelledError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
