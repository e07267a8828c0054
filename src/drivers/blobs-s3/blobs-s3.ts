import { hash as digest, randomBytes } from 'node:crypto';
import { parseS3Url } from '../../core/config/place-urls.ts';
import { asScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../core/model/page-record.ts';
import { type Blob, type BlobCopy, type Blobs, RELIED_ON_MS } from '../../core/ports/blobs.ts';
import { applyRules } from './lifecycle.ts';
import { sideBySide, uploadInParts } from './multipart.ts';
import { openS3Bucket } from './s3-bucket.ts';
import { createS3Objects } from './s3-objects.ts';

export interface BlobsS3Options {
  /** Address as `parseS3Url` reads it. */
  readonly url: string;
  /** Connections to the object store, and bodies of one put on their way at once. */
  readonly maxConnections?: number;
  /** For one try of one request. */
  readonly timeoutMs?: number;
  /** For all of `check`, which does not try again. */
  readonly checkMs?: number;
  /** The age up to which a put relies on an existing copy; if infinite, a blob has one copy at most. */
  readonly reliedOnMs?: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** Blobs in a bucket. Beyond the port: BLOBS_UNAVAILABLE when the object store is away, BLOBS_REFUSED when it will not. */
export interface BlobsS3 extends Blobs {
  /**
   * Has the bucket clean up after uploads that were cut off, and expire the objects left in the transit folder. Never
   * rejects: the sweep expires transit as well, and the rest only costs space.
   */
  applyLifecycle(onRefused: (error: ScrapifieError) => void): Promise<void>;
}

/** Below the prefix: where bytes on their way between processes are kept. */
export const TRANSIT_FOLDER = 'transit';
/** Larger ones are sent in parts, so that a bad line costs a part and not all of it. */
const MOST_WHOLE_BYTES = 16_777_216;
const DELETED_AT_ONCE = 1_000;
const REMOVE_MS = 10_000;
/** Bodies known to be there are looked up instead of sent; this many are remembered. */
const MOST_REMEMBERED = 8_192;

/** Throws INVALID_SETTINGS for a URL that is none; whether the bucket can be used, `check` says. */
export async function createBlobsS3(options: BlobsS3Options): Promise<BlobsS3> {
  const maxConnections = options.maxConnections ?? 16;
  const checkMs = options.checkMs ?? 1_500;
  const bucket = await openS3Bucket({
    place: parseS3Url(options.url),
    maxConnections,
    timeoutMs: options.timeoutMs ?? 5_000,
    now: options.now,
    random: options.random,
  });
  const { place } = bucket;
  const objects = createS3Objects(bucket, options.now);
  const reliedOnMs = options.reliedOnMs ?? RELIED_ON_MS;
  const hasSpares = reliedOnMs !== Number.POSITIVE_INFINITY;
  /** Where this process has seen or stored a body last. */
  const remembered = new Map<ContentHash, string>();
  /** Not every server supports conditional puts; for one that does not, existence is checked first. */
  let canTellAbsent = true;

  // Two characters of the hash before it: object stores divide their load by the beginnings of keys.
  const keyOf = (hash: ContentHash) => `${place.prefix}${hash.slice(0, 2)}/${hash}`;

  /** What lies at a key; null when nothing does. */
  async function lookAt(key: string, hash: ContentHash): Promise<Found | null> {
    const stored = await objects.read(key);
    if (stored === null) return null;
    const bytes = decodeFrame(stored.bytes);
    return { bytes: bytes !== null && isBody(bytes, hash) ? bytes : null, ageMs: stored.ageMs };
  }

  /** Keys of further copies of a body, which puts have stored when the first one was old. */
  async function spareKeys(hash: ContentHash): Promise<string[]> {
    if (!hasSpares) return [];
    const page = await objects.list(`${keyOf(hash)}.`);
    return page.objects.map(({ key }) => key);
  }

  async function get(hash: ContentHash): Promise<Buffer | null> {
    if (!isContentHash(hash)) return null;
    const found = await lookAt(keyOf(hash), hash);
    if (found?.bytes) return found.bytes;
    remembered.delete(hash);
    for (const key of await spareKeys(hash)) {
      const spare = await lookAt(key, hash);
      if (spare?.bytes) return spare.bytes;
    }
    return null;
  }

  /** False when something is there already, whole or not. */
  async function putIfAbsent(key: string, frame: Uint8Array): Promise<boolean> {
    if (canTellAbsent) {
      const result = await objects.writeIfAbsent(key, frame);
      if (result !== 'unsupported') return result === 'written';
      canTellAbsent = false;
    }
    if (await objects.has(key)) return false;
    await objects.write(key, frame);
    return true;
  }

  const isReliable = (found: Found | null) => found?.bytes && found.ageMs < reliedOnMs;

  /**
   * Existence is not enough, because the object may be damaged, or old and about to be removed: it is read. An old
   * copy is not written over, because its removal may be under way: the body goes to a key of its own.
   */
  async function store({ hash, bytes }: Blob): Promise<void> {
    const known = remembered.get(hash);
    if (known !== undefined && isReliable(await lookAt(known, hash))) return;
    const key = keyOf(hash);
    const frame = encodeFrame([bytes]);
    const isLarge = frame.length > MOST_WHOLE_BYTES;
    if (!isLarge && (await putIfAbsent(key, frame))) return remember(hash, key);
    const found = await lookAt(key, hash);
    if (isReliable(found)) return remember(hash, key);
    const isOld = found !== null && found.ageMs >= reliedOnMs;
    if (isOld) return remember(hash, await storeSpare(hash, frame));
    await write(key, frame, hash);
    remember(hash, key);
  }

  /** Puts that come about the same time share one; its name says when it was written, so it is never written again. */
  async function storeSpare(hash: ContentHash, frame: Uint8Array): Promise<string> {
    const shared = `${keyOf(hash)}.${Math.floor(options.now() / Math.max(1, reliedOnMs)).toString(36)}`;
    const isLarge = frame.length > MOST_WHOLE_BYTES;
    if (!isLarge && (await putIfAbsent(shared, frame))) return shared;
    if (isReliable(await lookAt(shared, hash))) return shared;
    const own = `${keyOf(hash)}.${randomBytes(8).toString('hex')}`;
    await write(own, frame, hash);
    return own;
  }

  async function write(key: string, frame: Uint8Array, hash: ContentHash): Promise<void> {
    if (frame.length <= MOST_WHOLE_BYTES) {
      await objects.write(key, frame);
      return;
    }
    await uploadInParts(bucket, key, frame);
    if (!(await lookAt(key, hash))?.bytes) throw unreadable(place.endpoint);
  }

  function remember(hash: ContentHash, key: string): void {
    const [oldest] = remembered.keys();
    if (remembered.size >= MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(hash, key);
  }

  async function* list(): AsyncGenerator<BlobCopy> {
    let last: ContentHash | null = null;
    for (let token: string | null = null; ; ) {
      const page = await objects.list(place.prefix, token);
      for (const { key: id, storedBytes, ageMs } of page.objects) {
        const hash = hashOfKey(id);
        // Others may keep things in this bucket too.
        if (hash === null) continue;
        // Keys come in order: the copies of a body follow the original.
        const isSpare = id !== keyOf(hash) && last === hash;
        if (id === keyOf(hash)) last = hash;
        yield { hash, id, storedBytes, ageMs, isSpare };
      }
      token = page.token;
      if (token === null) return;
    }
  }

  /** Returns null for a key that is no body of this program. */
  function hashOfKey(key: string): ContentHash | null {
    const name = key.slice(key.lastIndexOf('/') + 1);
    const hash = name.slice(0, 64) as ContentHash;
    if (!isContentHash(hash) || !key.startsWith(keyOf(hash))) return null;
    return key.length === keyOf(hash).length || /^\.[0-9a-z]+$/.test(name.slice(64)) ? hash : null;
  }

  return {
    async put(blobs) {
      const all = new Map(blobs.map((blob) => [blob.hash, blob]));
      for (const hash of all.keys())
        if (!isContentHash(hash)) throw new TypeError(`Not a content hash: ${hash}`);
      await sideBySide(maxConnections, [...all.values()], store);
    },
    get,
    async has(hash) {
      if (!isContentHash(hash)) return false;
      return (await objects.has(keyOf(hash))) || (await spareKeys(hash)).length > 0;
    },
    async delete(hashes) {
      const all = [...new Set(hashes.filter(isContentHash))];
      const keys = all.map(keyOf);
      for (const hash of all) {
        remembered.delete(hash);
        keys.push(...(await spareKeys(hash)));
      }
      for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
        await objects.remove(keys.slice(at, at + DELETED_AT_ONCE));
      }
    },
    list,
    async remove(copies) {
      for (let at = 0; at < copies.length; at += DELETED_AT_ONCE) {
        const keys = copies.slice(at, at + DELETED_AT_ONCE).map(({ id }) => id);
        // Sent once, so that a request which is repeated does not remove what was put after the first.
        await objects.remove(keys, { onceWithinMs: REMOVE_MS });
      }
    },
    // An object that is removed takes no space.
    compact: async () => undefined,
    async check() {
      const endsAt = performance.now() + checkMs;
      const onceWithinMs = () => Math.max(1, endsAt - performance.now());
      // Random, so that several checks at once do not remove each other's probe. It is named as a body that no page
      // refers to, so that the sweep removes a probe which a broken connection has left behind.
      const body = randomBytes(64);
      const key = keyOf(digest('sha256', body, 'hex') as ContentHash);
      await objects.write(key, body, { onceWithinMs: onceWithinMs() });
      const kept = await objects.read(key, { onceWithinMs: onceWithinMs() });
      await objects.remove([key], { onceWithinMs: onceWithinMs() });
      if (kept === null || !kept.bytes.equals(body)) throw unreadable(place.endpoint);
    },
    async applyLifecycle(onRefused) {
      try {
        await applyRules(bucket, `${place.prefix}${TRANSIT_FOLDER}/`);
      } catch (error) {
        onRefused(asScrapifieError(error));
      }
    },
    close: () => bucket.close(),
  };
}

/** What was found at a key: null bytes when it is damaged. */
interface Found {
  readonly bytes: Buffer | null;
  readonly ageMs: number;
}

function unreadable(endpoint: string): ScrapifieError {
  return new ScrapifieError('BLOBS_UNAVAILABLE', `What was stored at ${endpoint} could not be read back.`);
}
