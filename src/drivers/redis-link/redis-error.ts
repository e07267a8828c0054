import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Answers of Redis that trying again will not change. */
const REFUSAL = /^(?:NOAUTH|WRONGPASS|NOPERM)|invalid password|DB index|cluster support disabled/i;

/** Codes of TLS for a certificate that cannot be verified. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_/;

/** What the operator can do about a command that Redis refuses. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/READONLY/, ' SCRAPIFIE_REDIS_URL names a replica; it must name the primary.'],
  [/OOM command not allowed/, ' Raise maxmemory of Redis, or give it more memory.'],
  [/MISCONF/, ' Redis cannot write its snapshots; look at its log and its disk.'],
];

/**
 * The error that drivers throw for every Redis failure. Errors of the client carry the command with all its
 * arguments, the password of a login among them: only their text is taken over.
 */
export function asQueueError(error: unknown, address: string): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const reason = reasonOf(error);
  if (REFUSAL.test(reason)) {
    const advice = /cluster support disabled/.test(reason)
      ? '. It is no cluster: begin the URL with redis://'
      : '';
    return new ScrapifieError(
      'QUEUE_REFUSED',
      `Redis at ${address} refuses the connection: ${reason}${advice}`,
    );
  }
  if (UNTRUSTED.test(String((error as { code?: unknown } | null)?.code))) {
    return new ScrapifieError(
      'QUEUE_REFUSED',
      `The certificate of Redis at ${address} is not trusted: ${reason}. Name its authority in the URL: ?sslrootcert=/path/ca.pem`,
    );
  }
  if (!(error instanceof Error) || error.name !== 'ReplyError') {
    return new ScrapifieError('QUEUE_UNAVAILABLE', `Redis at ${address} did not answer: ${reason}`);
  }
  const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1] ?? '';
  const refused = new ScrapifieError(
    'QUEUE_UNAVAILABLE',
    `Redis at ${address} refused a command: ${reason}${advice}`,
  );
  refusedCommands.add(refused);
  return refused;
}

/** Whether Redis answered, and refused the command: the connection is sound. */
export const isRefusedCommand = (error: unknown): boolean =>
  error instanceof ScrapifieError && refusedCommands.has(error);

const refusedCommands = new WeakSet<ScrapifieError>();

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses tried at once fail with an error that has a code and no text.
  const { code } = error as { code?: unknown };
  return error.message !== '' ? error.message : typeof code === 'string' ? code : error.name;
}
