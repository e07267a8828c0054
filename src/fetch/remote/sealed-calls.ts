import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { type Ask, MAX_CALL_BYTES, type Queue } from '../../core/ports/queue.ts';
import type { Body } from '../http/body-buffer.ts';
import { contentHashOf, type RenderCall } from './render-message.ts';

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

/** Where bytes lie that are too large for a message between two processes, and whether they are sealed. */
interface Parcel {
  readonly contentHash: ContentHash;
  readonly isSealed: boolean;
}

/**
 * Bytes on their way from one process to another, in a store of their own: a parcel that is not received, because its receiver
 * was killed, expires there. They may hold what a session keeps, so they are sealed like the messages that name them.
 */
export interface Parcels {
  /** Whether what this process sends can be sealed, and what it is sent can be opened. */
  readonly canSeal: boolean;
  send(bytes: Uint8Array, isSealed: boolean): Promise<Parcel>;
  /** BLOBS_UNAVAILABLE when it does not appear soon, NO_WORKER when another key has sealed it. */
  receive(parcel: Parcel, signal: AbortSignal): Promise<Body>;
  /** Removes it; what cannot be removed expires. */
  drop(parcel: Parcel): void;
}

/** Random bytes before each parcel, so that no two are the same blob and each can be dropped by itself. */
const MARK_BYTES = 16;

export function createParcels(
  transit: Pick<Blobs, 'put' | 'get' | 'delete'>,
  seal: CallSeal | null,
): Parcels {
  return {
    canSeal: seal !== null,

    async send(bytes, isSealed) {
      const marked = Buffer.concat([randomBytes(MARK_BYTES), bytes]);
      const sent = isSealed ? sealOf(seal).seal(marked) : marked;
      const contentHash = contentHashOf(sent);
      await transit.put([{ hash: contentHash, bytes: sent }]);
      return { contentHash, isSealed };
    },

    async receive({ contentHash, isSealed }, signal) {
      const stored = await fetchBlob(transit, contentHash, signal);
      const marked = isSealed ? sealOf(seal).open(stored) : stored;
      if (marked === null) throw parcelLocked('has another SCRAPIFIE_VAULT_KEY');
      return new Uint8Array(marked.subarray(MARK_BYTES));
    },

    drop({ contentHash }) {
      transit.delete([contentHash]).catch(() => undefined);
    },
  };
}

function sealOf(seal: CallSeal | null): CallSeal {
  if (seal === null) throw parcelLocked('has no SCRAPIFIE_VAULT_KEY');
  return seal;
}

const parcelLocked = (why: string) =>
  new ScrapifieError('NO_WORKER', `One of the two processes that exchange a rendered page ${why}.`);

/** Object stores may show a blob a moment after it was put. */
const LOOK_AGAIN_MS = [50, 150, 400, 1_000];

/**
 * Reads a blob that another process has just put, alone on its ArrayBuffer. BLOBS_UNAVAILABLE when it does not appear soon.
 * Rejects when the signal ends.
 */
export async function fetchBlob(
  blobs: Pick<Blobs, 'get'>,
  hash: ContentHash,
  signal: AbortSignal,
): Promise<Body> {
  for (const waitMs of [0, ...LOOK_AGAIN_MS]) {
    if (waitMs > 0) await pause(waitMs, undefined, { signal });
    const bytes = await blobs.get(hash);
    if (bytes !== null) return alone(bytes);
  }
  throw new ScrapifieError('BLOBS_UNAVAILABLE', 'The body of a render is not where it was put');
}

function alone(bytes: Uint8Array): Body {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) return bytes as Body;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  copy.set(bytes);
  return copy;
}
