import { hash as digest, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import { isContentHash } from '../../core/model/page-record.ts';
import { type Blob, type BlobCopy, type Blobs, RELIED_ON_MS } from '../../core/ports/blobs.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { createCompaction } from './compaction.ts';
import { diskError } from './disk-error.ts';
import { type Body, type DecodedFrames, Frames, newDecodedFrames } from './frames.ts';
import { openPackIndex } from './pack-index.ts';
import { type PackPosition, Packs } from './packs.ts';

export interface BlobsFsOptions {
  readonly dir: string;
  /**
   * Also survive a power failure, not only the end of the process: a put resolves when its packs are synced. Without it a
   * power failure may cost the bodies of the last half minute; they then read as absent, never as wrong bytes.
   */
  readonly sync?: boolean;
  readonly now?: () => number;
  /** The age up to which a put relies on an existing copy. */
  readonly reliedOnMs?: number;
  /** The first writer of a process looks through the index, and brings in what a power failure took from it. */
  readonly isFirst?: boolean;
  /** Told when the index was damaged and was made again from the packs. */
  readonly onRebuilt?: (error: ScrapifieError) => void;
}

/** Blobs in a folder. */
export interface BlobsFs extends Blobs {
  /** Bytes of all packs, those of deleted bodies that were not compacted yet among them. */
  usedBytes(): Promise<number>;
}

const LISTED_AT_ONCE = 1_000;
/** A writer that put a body so long ago has synced its pack since. */
const LATEST_SYNC_MS = 60_000;
/** Packs of which is remembered when they were synced last. */
const MOST_SYNCED = 64;
/** Every pack is read through for a body that is not where the index says: not for each one of a pack that is gone. */
const SEARCH_PAUSE_MS = 10_000;
/** The index is looked through when it does not know a body, which is an exception, at most this often. */
const LOOK_PAUSE_MS = 600_000;

/**
 * Blobs in a folder: packs of compressed bodies and an index of where each lies. Its calls are synchronous, because
 * they cost a third of the asynchronous ones, and code that stores many bodies runs in a thread of its own: open
 * one of these in each.
 */
export async function createBlobsFs(options: BlobsFsOptions): Promise<BlobsFs> {
  const dir = resolve(options.dir);
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw diskError(error, dir);
    }
  };
  const isSynced = options.sync ?? false;
  const { now = Date.now, reliedOnMs = RELIED_ON_MS, isFirst = false, onRebuilt = () => undefined } = options;
  const packs = guard(() => new Packs(dir));
  const index = guard(() => openPackIndex(packs, { now, isFirst, onRebuilt }));
  const syncedAt = new BoundedMap<string, number>(MOST_SYNCED);
  let searchAgainAt = Number.NEGATIVE_INFINITY;
  let lookAgainAt = Number.NEGATIVE_INFINITY;
  const frames = new Frames(packs, index);
  const compaction = createCompaction({ packs, index, frames, guard });

  /**
   * Whether the body is there whole; an old one is made young. A damaged one must be written again, so being there is
   * not enough.
   */
  function isKept({ hash, bytes }: Blob, key: Buffer, decoded: DecodedFrames): boolean {
    const place = index.find(key);
    if (place === null) return false;
    const isOld = now() - (index.stampOf(key) ?? 0) >= reliedOnMs;
    const isWhole = place.size === bytes.length && frames.isWholeAt(place, hash, decoded);
    if (isOld || !isWhole) index.stamp(key, now());
    return isWhole;
  }

  /** Returns the packs that hold these bodies and may not be synced yet. */
  function putAll(blobs: readonly Blob[]): ReadonlySet<string> {
    const unsynced = new Set<string>();
    for (const { hash } of blobs)
      if (!isContentHash(hash)) throw new TypeError(`Not a content hash: ${hash}`);
    index.inOneGo(() => {
      const absent = new Map<string, Body>();
      const decoded = newDecodedFrames();
      for (const blob of blobs) {
        const key = keyOf(blob.hash);
        if (absent.has(blob.hash)) continue;
        // Another writer may have put it a moment ago, and its pack is not synced either.
        const pack = packToSync(key);
        if (!isKept(blob, key, decoded)) absent.set(blob.hash, { key, bytes: blob.bytes });
        else if (pack !== null) unsynced.add(pack);
      }
      frames.storeAll([...absent.values()]);
      for (const { key } of absent.values()) {
        const pack = packToSync(key);
        if (pack !== null) unsynced.add(pack);
      }
    });
    return unsynced;
  }

  /** The pack that holds the body, unless it was synced since the body was put. */
  function packToSync(key: Buffer): string | null {
    const stamp = isSynced ? index.stampOf(key) : null;
    if (stamp === null) return null;
    const pack = index.find(key)?.pack ?? null;
    return pack !== null && stamp >= (syncedAt.get(pack) ?? now() - LATEST_SYNC_MS) ? pack : null;
  }

  async function put(blobs: readonly Blob[]): Promise<void> {
    const unsynced = guard(() => putAll(blobs));
    try {
      await Promise.all(
        [...unsynced].map(async (pack) => {
          const startedAt = now();
          await packs.synced(pack);
          syncedAt.set(pack, startedAt);
        }),
      );
    } catch (error) {
      throw diskError(error, dir);
    }
  }

  function get(contentHash: ContentHash): Uint8Array | null {
    if (!isContentHash(contentHash)) return null;
    const key = keyOf(contentHash);
    // Twice: a pack may be compacted between the look at the index and the look at the pack.
    for (let look = 0; look < 2; look += 1) {
      const place = index.find(key) ?? (isMended() ? index.find(key) : null);
      if (place === null) return null;
      const bytes = frames.bodyAt(place, contentHash);
      if (bytes !== null) return bytes;
      if (look > 0) return searched(key, contentHash, place);
    }
    return null;
  }

  /**
   * Looks for a body that is not where the index says, in the packs themselves: either the index is wrong there, which
   * SQLite does not see in a number, or the body is damaged and there may be another copy.
   */
  function searched(key: Buffer, hash: ContentHash, wrong: PackPosition): Buffer | null {
    if (performance.now() < searchAgainAt) return null;
    for (const pack of packs.names()) {
      for (const { key: found, place } of packs.scan(pack)) {
        const bytes = found.equals(key) ? frames.bodyAt(place, hash) : null;
        if (bytes === null) continue;
        index.point(key, place);
        return bytes;
      }
    }
    index.forget(key, wrong);
    searchAgainAt = performance.now() + SEARCH_PAUSE_MS;
    return null;
  }

  /** A body that the index does not know; true when that was damage, and the index has been made again. */
  function isMended(): boolean {
    if (performance.now() < lookAgainAt) return false;
    lookAgainAt = performance.now() + LOOK_PAUSE_MS;
    return index.mend();
  }

  async function deleteAll(hashes: readonly ContentHash[]): Promise<void> {
    const touched = new Set<string>();
    guard(() => {
      for (const each of hashes) {
        const place = isContentHash(each) ? index.forget(keyOf(each)) : null;
        if (place !== null) touched.add(place.pack);
      }
    });
    for (const pack of touched) await compaction.compactIfWasteful(pack);
  }

  function removeCopies(copies: readonly BlobCopy[]): void {
    index.inOneGo(() => {
      for (const { hash, id } of copies) index.forgetStamped(keyOf(hash), Number(id));
    });
  }

  async function* list(): AsyncGenerator<BlobCopy> {
    for (let last: Buffer = Buffer.alloc(0); ; ) {
      const found = guard(() => index.stampedAfter(last, LISTED_AT_ONCE));
      for (const { key, size, stampedAt } of found) {
        yield {
          hash: key.toString('hex') as ContentHash,
          id: String(stampedAt),
          storedBytes: size,
          ageMs: Math.max(0, now() - stampedAt),
          isSpare: false,
        };
      }
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.key;
    }
  }

  return {
    put,
    get: async (contentHash) => guard(() => get(contentHash)),
    has: async (contentHash) =>
      isContentHash(contentHash) && guard(() => index.find(keyOf(contentHash))) !== null,
    delete: deleteAll,
    list,
    remove: async (copies) => guard(() => removeCopies(copies)),
    compact: () => compaction.compactAll(),
    usedBytes: async () => guard(() => packs.names().reduce((sum, pack) => sum + packs.sizeOf(pack), 0)),
    async check() {
      // Random, so that several checks at once do not remove each other's probe.
      const bytes = randomBytes(64);
      const probe = digest('sha256', bytes, 'hex') as ContentHash;
      const kept = guard(() => {
        putAll([{ hash: probe, bytes }]);
        return get(probe);
      });
      guard(() => index.forget(keyOf(probe)));
      if (kept === null || !guard(() => packs.isInPlace())) {
        throw new ScrapifieError('STORE_UNAVAILABLE', `A body stored in ${dir} could not be read back.`);
      }
    },
    async close() {
      packs.close();
      index.close();
    },
  };
}

const keyOf = (contentHash: string) => Buffer.from(contentHash, 'hex');
