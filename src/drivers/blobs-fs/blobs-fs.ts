import { hash as digest, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../core/model/page-record.ts';
import { type Blob, type BlobCopy, type Blobs, RELIED_ON_MS } from '../../core/ports/blobs.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { ImpossibleValue } from '../derived-file/derived-file.ts';
import { createCompaction } from './compaction.ts';
import { diskError } from './disk-error.ts';
import { openPackIndex } from './pack-index.ts';
import { type PackMember, type PackPosition, Packs } from './packs.ts';

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

/** Bodies put together are compressed together up to this size: to read one, its whole frame is decoded. */
const MOST_FRAME_BYTES = 524_288;
const LISTED_AT_ONCE = 1_000;
/** Frames that one put, and later reads, keep decoded: pages come again in about the order in which they were stored. */
const MOST_DECODED_FRAMES = 8;
/** Bodies of which is remembered that they are whole: 200 bytes each. */
const MOST_SEALS = 10_000;

/** A writer that put a body so long ago has synced its pack since. */
const LATEST_SYNC_MS = 60_000;
/** Packs of which is remembered when they were synced last. */
const MOST_SYNCED = 64;
/** Every pack is read through for a body that is not where the index says: not for each one of a pack that is gone. */
const SEARCH_PAUSE_MS = 10_000;
/** The index is looked through when it does not know a body, which is an exception, at most this often. */
const LOOK_PAUSE_MS = 600_000;

/** Frames by their place in a pack; `bytes` is null where a frame is damaged. */
type DecodedFrames = BoundedMap<string, { readonly bytes: Buffer | null }>;

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
  /** By the hash of a body: where it was found whole, with the checksum of the bytes that were decoded. */
  const sealsOfWhole = new BoundedMap<ContentHash, string>(MOST_SEALS);
  /** Frames that were decoded last, with their checksums: bodies that are read one after the other were mostly put together. */
  const framesRead: DecodedFrames = new BoundedMap(MOST_DECODED_FRAMES);
  const syncedAt = new BoundedMap<string, number>(MOST_SYNCED);
  let searchAgainAt = Number.NEGATIVE_INFINITY;
  let lookAgainAt = Number.NEGATIVE_INFINITY;
  const compaction = createCompaction({ packs, index, bodyAt, storeAll, guard });

  /** Writes bodies as one frame and points at them; all or none. */
  function store(bodies: readonly Body[]): void {
    if (bodies.length === 0) return;
    let start = 0;
    const members = bodies.map(({ key, bytes }) => {
      const member = { key, start, size: bytes.length };
      start += bytes.length;
      return member;
    });
    const frame = encodeFrame(bodies.map(({ bytes }) => bytes));
    // Twice: a compaction may have removed the pack that was being written.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const places = packs.append(members, frame, index.addPack);
      const isPointed = places.every((place, at) => index.point((members[at] as PackMember).key, place));
      if (isPointed) return;
      packs.leave((places[0] as PackPosition).pack);
    }
    throw new ImpossibleValue('it forgets its packs');
  }

  /**
   * Whether the body is there whole; an old one is made young. A damaged one must be written again, so being there is
   * not enough.
   */
  function isKept({ hash, bytes }: Blob, key: Buffer, frames: DecodedFrames): boolean {
    const place = index.find(key);
    if (place === null) return false;
    const isOld = now() - (index.stampOf(key) ?? 0) >= reliedOnMs;
    const isWhole = place.size === bytes.length && isWholeAt(place, hash, frames);
    if (isOld || !isWhole) index.stamp(key, now());
    return isWhole;
  }

  /** Decodes a frame once to prove that the body is in it; later the checksum of the stored bytes is enough. */
  function isWholeAt(place: PackPosition, hash: ContentHash, frames: DecodedFrames): boolean {
    const stored = packs.read(place.pack, place.offset, place.length);
    if (stored === null) return false;
    const seal = `${place.pack} ${place.offset} ${place.start} ${crc32(stored)}`;
    if (sealsOfWhole.get(hash) === seal) return true;
    const frame = frames.getOrCreate(`${place.pack} ${place.offset}`, () => ({ bytes: decodeFrame(stored) }));
    const isWhole = bodyOf(frame.bytes, place, hash) !== null;
    if (isWhole) sealsOfWhole.set(hash, seal);
    return isWhole;
  }

  function bodyAt(place: PackPosition, hash: ContentHash): Buffer | null {
    const stored = packs.read(place.pack, place.offset, place.length);
    if (stored === null) return null;
    const seal = `${place.pack} ${place.offset} ${crc32(stored)}`;
    let frame = framesRead.get(seal)?.bytes ?? null;
    if (frame === null) {
      frame = decodeFrame(stored);
      // A frame of one body is given away with it.
      if (frame === null || frame.length === place.size) return bodyOf(frame, place, hash);
      framesRead.set(seal, { bytes: frame });
    }
    const body = bodyOf(frame, place, hash);
    return body === null ? null : Buffer.from(new Uint8Array(body).buffer);
  }

  /** Stores the bodies in as few frames as their size allows. */
  function storeAll(bodies: readonly Body[]): void {
    let frame: Body[] = [];
    let frameBytes = 0;
    for (const body of bodies) {
      if (frameBytes + body.bytes.length > MOST_FRAME_BYTES) {
        store(frame);
        frame = [];
        frameBytes = 0;
      }
      frame.push(body);
      frameBytes += body.bytes.length;
    }
    store(frame);
  }

  /** Returns the packs that hold these bodies and may not be synced yet. */
  function putAll(blobs: readonly Blob[]): ReadonlySet<string> {
    const unsynced = new Set<string>();
    for (const { hash } of blobs)
      if (!isContentHash(hash)) throw new TypeError(`Not a content hash: ${hash}`);
    index.inOneGo(() => {
      const absent = new Map<string, Body>();
      const frames: DecodedFrames = new BoundedMap(MOST_DECODED_FRAMES);
      for (const blob of blobs) {
        const key = keyOf(blob.hash);
        if (absent.has(blob.hash)) continue;
        // Another writer may have put it a moment ago, and its pack is not synced either.
        const pack = packToSync(key);
        if (!isKept(blob, key, frames)) absent.set(blob.hash, { key, bytes: blob.bytes });
        else if (pack !== null) unsynced.add(pack);
      }
      storeAll([...absent.values()]);
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
      const bytes = bodyAt(place, contentHash);
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
        const bytes = found.equals(key) ? bodyAt(place, hash) : null;
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

interface Body {
  readonly key: Buffer;
  readonly bytes: Uint8Array;
}

const keyOf = (contentHash: string) => Buffer.from(contentHash, 'hex');

function bodyOf(frame: Buffer | null, place: PackPosition, hash: ContentHash): Buffer | null {
  const bytes = frame?.subarray(place.start, place.start + place.size) ?? null;
  return bytes !== null && isBody(bytes, hash) ? bytes : null;
}
