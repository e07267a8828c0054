import { setTimeout as pause } from 'node:timers/promises';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { Blobs } from '../../ports/blobs.ts';
import type { Body } from '../http/body-buffer.ts';

/** Object stores may show a blob a moment after it was put. */
const LOOK_AGAIN_MS = [50, 150, 400, 1_000];

/**
 * A blob that somebody else has just put, alone on its ArrayBuffer. BLOBS_UNAVAILABLE when it does not appear soon.
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
