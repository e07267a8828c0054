import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Body } from '../http/body-buffer.ts';
import { contentHashOf } from './render-message.ts';
import type { CallSeal } from './sealed-calls.ts';

/** Where bytes lie that are too large for a message between two processes, and whether they are sealed. */
export interface Parcel {
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
      if (marked === null) throw locked('has another SCRAPIFIE_VAULT_KEY');
      return new Uint8Array(marked.subarray(MARK_BYTES));
    },

    drop({ contentHash }) {
      transit.delete([contentHash]).catch(() => undefined);
    },
  };
}

function sealOf(seal: CallSeal | null): CallSeal {
  if (seal === null) throw locked('has no SCRAPIFIE_VAULT_KEY');
  return seal;
}

const locked = (why: string) =>
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
