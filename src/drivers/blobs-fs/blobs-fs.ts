import { hash as digest, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../model/blob-frame.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { Blob, Blobs } from '../../ports/blobs.ts';
import { diskError } from './disk-error.ts';
import { openPackIndex } from './pack-index.ts';
import { type Member, Packs, type Place } from './packs.ts';

export interface BlobsFsOptions {
  readonly dir: string;
  /**
   * Also survive a power failure, not only the end of the process: every put is synced to disk. Without it a power
   * failure may cost the bodies of the last seconds; they then read as absent, never as wrong bytes.
   */
  readonly sync?: boolean;
}

/** Blobs in a folder. */
export interface BlobsFs extends Blobs {
  /** Bytes of all packs, those of deleted bodies that were not compacted yet among them. */
  usedBytes(): Promise<number>;
}

/** Bodies put together are compressed together up to this size: to read one, its whole frame is decoded. */
const MOST_FRAME_BYTES = 524_288;
const LISTED_AT_ONCE = 1_000;
/** A pack is written anew without its dead bodies when they are more than half of it and worth the while. */
const LEAST_WASTE_BYTES = 1_048_576;

/**
 * Blobs in a folder: packs of compressed bodies and an index of where each lies. Its calls are synchronous, because
 * that costs a third of the asynchronous ones and whoever stores many bodies does so in a thread of its own: open
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
  const packs = guard(() => new Packs(dir));
  const index = guard(() => openPackIndex(packs, isSynced));

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
    // Twice: somebody may have compacted away the very pack we write to.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const places = packs.append(members, frame, index.addPack);
      const isPointed = places.every((place, at) => index.point((members[at] as Member).key, place));
      if (isPointed) return;
      packs.leave((places[0] as Place).pack);
    }
    throw new ScrapifieError('STORE_UNAVAILABLE', `The index of stored bodies in ${dir} forgets its packs.`);
  }

  /** A body that is there but damaged must be written again, so being there is not enough. */
  function isKept({ hash, bytes }: Blob, key: Buffer): boolean {
    const place = index.find(key);
    return place !== null && place.size === bytes.length && bodyAt(place, hash) !== null;
  }

  function bodyAt(place: Place, hash: ContentHash): Buffer | null {
    const stored = packs.read(place.pack, place.offset, place.length);
    const frame = stored === null ? null : decodeFrame(stored);
    const bytes = frame?.subarray(place.start, place.start + place.size) ?? null;
    return bytes !== null && isBody(bytes, hash) ? bytes : null;
  }

  function putAll(blobs: readonly Blob[]): void {
    for (const { hash } of blobs)
      if (!isContentHash(hash)) throw new TypeError(`Not a content hash: ${hash}`);
    index.inOneGo(() => {
      let frame = new Map<string, Body>();
      let frameBytes = 0;
      for (const blob of blobs) {
        const key = keyOf(blob.hash);
        if (frame.has(blob.hash) || isKept(blob, key)) continue;
        if (frameBytes + blob.bytes.length > MOST_FRAME_BYTES) {
          store([...frame.values()]);
          frame = new Map();
          frameBytes = 0;
        }
        frame.set(blob.hash, { key, bytes: blob.bytes });
        frameBytes += blob.bytes.length;
      }
      store([...frame.values()]);
    });
    if (isSynced) packs.sync();
  }

  function get(contentHash: ContentHash): Uint8Array | null {
    if (!isContentHash(contentHash)) return null;
    const key = keyOf(contentHash);
    // Twice: a pack may be compacted between the look at the index and the look at the pack.
    for (let look = 0; look < 2; look += 1) {
      const place = index.find(key);
      if (place === null) return null;
      const bytes = bodyAt(place, contentHash);
      if (bytes !== null) return bytes;
      if (look > 0) index.forget(key, place);
    }
    return null;
  }

  function remove(hashes: readonly ContentHash[]): void {
    const touched = new Set<string>();
    for (const each of hashes) {
      const place = isContentHash(each) ? index.forget(keyOf(each)) : null;
      if (place !== null) touched.add(place.pack);
    }
    for (const pack of touched) compact(pack);
  }

  function compact(pack: string): void {
    const isGone = index.inOneGo(() => {
      const live = index.livePlaces(pack);
      const frames = new Map(live.map(({ place }) => [place.offset, place.length]));
      const liveBytes = [...frames.values()].reduce((sum, length) => sum + length, 0);
      const waste = packs.sizeOf(pack) - liveBytes;
      if (live.length > 0 && (waste < LEAST_WASTE_BYTES || waste < liveBytes)) return false;
      packs.leave(pack);
      for (const { key, place } of live) {
        const bytes = bodyAt(place, key.toString('hex') as ContentHash);
        if (bytes !== null) store([{ key, bytes }]);
      }
      if (isSynced) packs.sync();
      index.dropPack(pack);
      return true;
    });
    if (isGone) packs.remove(pack);
  }

  async function* list(): AsyncGenerator<ContentHash> {
    for (let last: Buffer = Buffer.alloc(0); ; ) {
      const found = guard(() => index.hashesAfter(last, LISTED_AT_ONCE));
      for (const each of found) yield each.toString('hex') as ContentHash;
      const end = found.at(-1);
      if (end === undefined) return;
      last = end;
    }
  }

  return {
    put: async (blobs) => guard(() => putAll(blobs)),
    get: async (contentHash) => guard(() => get(contentHash)),
    has: async (contentHash) =>
      isContentHash(contentHash) && guard(() => index.find(keyOf(contentHash))) !== null,
    delete: async (hashes) => guard(() => remove(hashes)),
    list,
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
