import type { ContentHash } from '../model/ids.ts';

/**
 * Bytes by content hash. The same hash always names the same bytes, so a put may be repeated, raced or
 * interrupted and nothing is ever overwritten or half written: a blob is either there whole or not there.
 *
 * A place may hold several copies of one blob. Every copy has an age: the time since a put stored it or made it young
 * again. A put relies on a copy that is there only while it is young, and otherwise stores the blob anew. So copies
 * that are old enough can be removed beside running puts; see docs/decisions/0009-one-sweep-removes-bodies.md.
 */
export interface Blobs {
  /**
   * Keeps each body under its hash and resolves when all of them would survive the end of this process.
   * Bodies already present cost a look-up, not a write, while they are younger than RELIED_ON_MS. Throws DISK_FULL or
   * STORE_UNAVAILABLE. Once it has settled, the bytes are not read any more: their owner may free the memory.
   */
  put(blobs: readonly Blob[]): Promise<void>;
  /** The body, or null when no such blob is kept. A damaged blob is treated as absent, never returned. */
  get(hash: ContentHash): Promise<Uint8Array | null>;
  has(hash: ContentHash): Promise<boolean>;
  /** Removes the blobs at any age; absent hashes are no error. For blobs that belong to the caller alone. */
  delete(hashes: readonly ContentHash[]): Promise<void>;
  /** Every copy kept, in no order, a page at a time; blobs put meanwhile may or may not appear. */
  list(): AsyncIterable<BlobCopy>;
  /**
   * Removes exactly these copies, as they were listed. A copy that was put again since is kept, and so are other copies
   * of the same blob. When it rejects, some of them may be gone: the caller lists again before it tries again. Not for
   * two callers at once.
   */
  remove(copies: readonly BlobCopy[]): Promise<void>;
  /** Gives the space of removed blobs back where removing them alone does not. */
  compact(): Promise<void>;
  /** Writes, reads back and removes a probe; throws when that does not work. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Blob {
  /** Hex SHA-256 of `bytes` (before any compression by the driver). */
  readonly hash: ContentHash;
  readonly bytes: Uint8Array;
}

export interface BlobCopy {
  readonly hash: ContentHash;
  /** Names this copy, in this state, to the driver that listed it. */
  readonly id: string;
  /** What the copy takes; before compression where bodies are compressed together. */
  readonly storedBytes: number;
  /** By the clock of the place it is in. */
  readonly ageMs: number;
  /** Another copy of the blob is kept, and readers find that copy first. */
  readonly isSpare: boolean;
}

const HOUR_MS = 3_600_000;
/** The age up to which a put relies on a copy. */
export const RELIED_ON_MS = 4 * HOUR_MS;
/** How long after a page was fetched it may be committed: by then a copy that was put for it is still there. */
export const PUT_TO_COMMIT_MS = 6 * HOUR_MS;
/** The least age at which copies may be removed beside running crawls: more than the two together. */
export const LEAST_GRACE_MS = 12 * HOUR_MS;

/** Files in one place: a folder, or a prefix of a bucket. Their names have no folders. */
export interface Files {
  /**
   * Writes a file that is there whole or not at all, also when the process dies. Throws CONFLICT when there is a file of
   * this name, and whatever reading the chunks throws.
   */
  write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * The bytes from the beginning, or those of the range. A range that ends behind the file ends with it. Throws NOT_FOUND
   * when there is no such file.
   */
  read(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  has(name: string): Promise<boolean>;
  /** Lists the stored files, in no particular order. */
  list(): Promise<readonly StoredFile[]>;
  /** A file that is not there is no error. */
  remove(name: string): Promise<void>;
  /** Removes what writes of this place that were killed have left behind, and that is older than a day. */
  removeRemains(): Promise<void>;
  close(): Promise<void>;
}

export interface ByteRange {
  /** Offset of the first byte that is wanted. */
  readonly start: number;
  /** Offset behind the last byte that is wanted. */
  readonly end: number;
}

export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
}
