import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type Ask, MAX_CALL_BYTES, type Queue } from '../../core/ports/queue.ts';
import type { RenderCall } from './render-message.ts';

/** Closes bytes so that only processes of the same installation open them. */
export interface CallSeal {
  seal(plain: Uint8Array): Uint8Array;
  /** Returns null for bytes that were sealed with another key, or changed afterwards. */
  open(sealed: Uint8Array): Uint8Array | null;
}

export type CallQueue = Pick<Queue, 'call' | 'answer' | 'countAnswerers'>;

interface Sealed {
  /** The sealed bytes in Base64. */
  readonly sealed: string;
}

/** What fits into a message once it is sealed. */
export const MOST_REQUEST_BYTES = Math.floor((MAX_CALL_BYTES * 3) / 4) - 1_024;

/**
 * What stands around a sealed request. A worker of a version that opens nothing takes it for a request with a need it
 * does not know, and leaves it to others.
 */
const AROUND: RenderCall = {
  url: 'http://sealed.invalid/',
  method: 'GET',
  headers: {},
  cookies: [],
  body: null,
  timeoutMs: 1,
  maxBodyBytes: 0,
  needs: ['sealed'],
};

/**
 * The queue for calls that hold secrets: what is typed, cookies, the proxy's password. Requests, answers and questions
 * are sealed, so that a reader of the server between two processes learns nothing from them, and a worker
 * with a seal answers nothing else: a writer to that server could otherwise have pages rendered, and read them.
 * Without a seal calls travel as they are, and sealed requests are left to workers that have it.
 */
export function sealCalls(queue: CallQueue, seal: CallSeal | null): CallQueue {
  return {
    countAnswerers: (name) => queue.countAnswerers(name),

    async call(name, request, how) {
      if (seal === null) return queue.call(name, request, how);
      const { onQuestion } = how;
      const answer = await queue.call(
        name,
        { ...AROUND, ...closed(seal, request) },
        {
          ...how,
          ...(onQuestion === undefined
            ? {}
            : { onQuestion: async (asked) => closed(seal, await onQuestion(opened(seal, asked))) }),
        },
      );
      return opened(seal, answer);
    },

    answer: (name, concurrency, handler) =>
      queue.answer(name, concurrency, async (message, signal, ask, start) => {
        if (seal === null) {
          if (isSealed(message)) throw locked('has no SCRAPIFIE_VAULT_KEY');
          return handler(message, signal, ask, start);
        }
        if (!isSealed(message)) throw locked('has a SCRAPIFIE_VAULT_KEY and answers sealed calls alone');
        const request = opened(seal, message);
        const asking: Ask | null =
          ask === null ? null : async (question) => opened(seal, await ask(closed(seal, question)));
        return closed(seal, await handler(request, signal, asking, start));
      }),
  };
}

function isSealed(message: unknown): message is Sealed {
  return (
    typeof message === 'object' &&
    message !== null &&
    'sealed' in message &&
    typeof message.sealed === 'string'
  );
}

function closed(seal: CallSeal, value: unknown): Sealed {
  const plain = Buffer.from(JSON.stringify(value ?? null));
  return { sealed: Buffer.from(seal.seal(plain)).toString('base64') };
}

function opened(seal: CallSeal, message: unknown): unknown {
  const plain = isSealed(message) ? seal.open(Buffer.from(message.sealed, 'base64')) : null;
  if (plain === null) throw locked('has another SCRAPIFIE_VAULT_KEY');
  return JSON.parse(Buffer.from(plain).toString('utf8'));
}

/** Another worker may have the right key. */
function locked(why: string): ScrapifieError {
  return new ScrapifieError('NO_WORKER', `The process at the other end of the queue ${why}.`);
}
