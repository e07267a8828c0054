import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';

/** Answers of Redis that trying again will not change. */
const REFUSAL = /^(?:NOAUTH|WRONGPASS|NOPERM)|invalid password|DB index/i;

/** Where a Redis URL leads, for messages: never its user or password. */
export function redisAddress(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname === '' ? 'localhost' : hostname}:${port === '' ? '6379' : port}`;
}

/**
 * The one shape in which trouble with Redis leaves a driver. Errors of the client carry the command with all its
 * arguments, the password of a login among them: only their text is taken over.
 */
export function asQueueError(error: unknown, address: string): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const reason = reasonOf(error);
  return REFUSAL.test(reason)
    ? new ScrapifieError('QUEUE_REFUSED', `Redis at ${address} refuses the connection: ${reason}`)
    : new ScrapifieError('QUEUE_UNAVAILABLE', `Redis at ${address} did not answer: ${reason}`);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses tried at once fail with an error that has a code and no text.
  const { code } = error as { code?: unknown };
  return error.message !== '' ? error.message : typeof code === 'string' ? code : error.name;
}
