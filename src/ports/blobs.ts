import type { ContentHash } from '../model/ids.ts';

/**
 * Bytes by content hash. The same hash always names the same bytes, so a put may be repeated, raced or
 * interrupted and nothing is ever overwritten or half written: a blob is either there whole or not there.
 */
export interface Blobs {
  /**
   * Keeps each body under its hash and resolves when all of them would survive the end of this process.
   * Bodies already present cost a look-up, not a write. Throws DISK_FULL or STORE_UNAVAILABLE. Once it has settled, nobody
   * looks at the bytes any more: their owner may give the memory back.
   */
  put(blobs: readonly Blob[]): Promise<void>;
  /** The body, or null when no such blob is kept. A damaged blob is treated as absent, never returned. */
  get(hash: ContentHash): Promise<Uint8Array | null>;
  has(hash: ContentHash): Promise<boolean>;
  /** Removes what is there; absent hashes are no error. */
  delete(hashes: readonly ContentHash[]): Promise<void>;
  /** Every hash kept, in no order, a page at a time; blobs put meanwhile may or may not appear. */
  list(): AsyncIterable<ContentHash>;
  /** Writes, reads back and removes a probe; throws when that does not work. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Blob {
  /** Hex SHA-256 of `bytes` (before any compression by the driver). */
  readonly hash: ContentHash;
  readonly bytes: Uint8Array;
}
