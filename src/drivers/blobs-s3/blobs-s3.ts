import { randomBytes } from 'node:crypto';
import { asScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../model/blob-frame.ts';
import type { ContentHash } from '../../model/ids.ts';
import { type Blob, type BlobCopy, type Blobs, RELIED_ON_MS } from '../../ports/blobs.ts';
import { applyRules } from './lifecycle.ts';
import { uploadInParts } from './multipart.ts';
import { S3Client } from './s3-client.ts';
import { refusalError } from './s3-error.ts';
import { parseS3Url } from './s3-place.ts';
import { escapeXml, readXml, type S3Xml } from './s3-xml.ts';
import { sideBySide } from './side-by-side.ts';

export interface BlobsS3Options {
  /** See `parseS3Url`. */
  readonly url: string;
  /** Connections to the object store, and bodies of one put on their way at once. */
  readonly maxConnections?: number;
  /** For one try of one request. */
  readonly timeoutMs?: number;
  /** For all of `check`, which does not try again. */
  readonly checkMs?: number;
  /** The age up to which a put relies on what is there; without end, a blob has one copy at most. */
  readonly reliedOnMs?: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** Blobs in a bucket. Beyond the port: BLOBS_UNAVAILABLE when the object store is away, BLOBS_REFUSED when it will not. */
export interface BlobsS3 extends Blobs {
  /**
   * Has the bucket clean up after uploads that were cut off, and expire what is left in the folder for transit. Never
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
  const client = new S3Client({
    place: parseS3Url(options.url),
    maxConnections,
    timeoutMs: options.timeoutMs ?? 5_000,
    now: options.now,
    random: options.random,
  });
  const { place } = client;
  const reliedOnMs = options.reliedOnMs ?? RELIED_ON_MS;
  const hasSpares = reliedOnMs !== Number.POSITIVE_INFINITY;
  /** Where this process has seen or stored a body last. */
  const remembered = new Map<ContentHash, string>();
  /** Not every server can store only what is absent; one that cannot is asked first. */
  let canTellAbsent = true;

  // Two characters of the hash before it: object stores divide their load by the beginnings of keys.
  const keyOf = (hash: ContentHash) => `${place.prefix}${hash.slice(0, 2)}/${hash}`;

  /** What lies at a key; null when nothing does. */
  async function lookAt(key: string, hash: ContentHash): Promise<Found | null> {
    const { status, body, headers } = await client.request({ method: 'GET', key, expects: [404] });
    if (status === 404) return null;
    const bytes = decodeFrame(body);
    return {
      bytes: bytes !== null && isBody(bytes, hash) ? bytes : null,
      ageMs: ageBetween(headers['last-modified'], headers.date, options.now()),
    };
  }

  /** Keys of further copies of a body, which puts have stored when the first one was old. */
  async function spareKeys(hash: ContentHash): Promise<string[]> {
    if (!hasSpares) return [];
    const query = { 'list-type': '2', prefix: `${keyOf(hash)}.`, 'encoding-type': 'url' };
    const { body } = await client.request({ method: 'GET', query });
    return (readXml(body.toString('utf8'))?.all('Contents/Key') ?? []).map(decodedKey);
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
      const headers = { 'if-none-match': '*' };
      const { status } = await client.request({
        method: 'PUT',
        key,
        body: frame,
        headers,
        expects: [409, 412, 501],
      });
      if (status < 300) return true;
      if (status !== 501) return false;
      canTellAbsent = false;
    }
    const { status } = await client.request({ method: 'HEAD', key, expects: [404] });
    if (status !== 404) return false;
    await client.request({ method: 'PUT', key, body: frame });
    return true;
  }

  const isReliable = (found: Found | null) => found?.bytes && found.ageMs < reliedOnMs;

  /**
   * Being there is not enough, because it may be damaged, or old and about to be removed: what is there is read. An old
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
      await client.request({ method: 'PUT', key, body: frame });
      return;
    }
    await uploadInParts(client, key, frame);
    if (!(await lookAt(key, hash))?.bytes) throw unreadable(place.origin);
  }

  function remember(hash: ContentHash, key: string): void {
    const [oldest] = remembered.keys();
    if (remembered.size >= MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(hash, key);
  }

  /** `isOnce`: sent once, so that a request which is repeated does not remove what was put after the first. */
  async function deleteTogether(keys: readonly string[], isOnce: boolean): Promise<void> {
    const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`);
    const answer = await client.request({
      method: 'POST',
      query: { delete: '' },
      body,
      ...(isOnce ? { onceWithinMs: REMOVE_MS } : {}),
    });
    const [code] =
      readXml(answer.body.toString('utf8'))
        ?.all('Error/Code')
        .filter((each) => each !== 'NoSuchKey') ?? [];
    if (code === undefined) return;
    const status = code === 'InternalError' ? 500 : 400;
    throw refusalError({ status, code, serverAt: null, region: null }, place, options.now());
  }

  async function* list(): AsyncGenerator<BlobCopy> {
    let last: ContentHash | null = null;
    for (let token: string | null = null; ; ) {
      const query = { 'list-type': '2', prefix: place.prefix, 'encoding-type': 'url' };
      const page = await client.request({
        method: 'GET',
        query: token === null ? query : { ...query, 'continuation-token': token },
      });
      const xml: S3Xml | null = readXml(page.body.toString('utf8'));
      if (xml === null) throw unreadable(place.origin);
      const [sizes, times] = [xml.all('Contents/Size'), xml.all('Contents/LastModified')];
      for (const [at, listed] of xml.all('Contents/Key').entries()) {
        const id = decodedKey(listed);
        const hash = hashOfKey(id);
        // Others may keep things in this bucket too.
        if (hash === null) continue;
        // Keys come in order: the copies of a body follow the one that is looked for first.
        const isSpare = id !== keyOf(hash) && last === hash;
        if (id === keyOf(hash)) last = hash;
        const ageMs = ageBetween(times[at], page.headers.date, options.now());
        yield { hash, id, storedBytes: Number(sizes[at] ?? 0), ageMs, isSpare };
      }
      token = xml.one('IsTruncated') === 'true' ? xml.one('NextContinuationToken') : null;
      if (token === null) return;
    }
  }

  /** Null for a key that is none of ours. */
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
      const { status } = await client.request({ method: 'HEAD', key: keyOf(hash), expects: [404] });
      return status !== 404 || (await spareKeys(hash)).length > 0;
    },
    async delete(hashes) {
      const all = [...new Set(hashes.filter(isContentHash))];
      const keys = all.map(keyOf);
      for (const hash of all) {
        remembered.delete(hash);
        keys.push(...(await spareKeys(hash)));
      }
      for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
        await deleteTogether(keys.slice(at, at + DELETED_AT_ONCE), false);
      }
    },
    list,
    async remove(copies) {
      for (let at = 0; at < copies.length; at += DELETED_AT_ONCE) {
        const some = copies.slice(at, at + DELETED_AT_ONCE);
        await deleteTogether(
          some.map(({ id }) => id),
          true,
        );
      }
    },
    // An object that is removed takes no space.
    compact: async () => undefined,
    async check() {
      const endsAt = performance.now() + checkMs;
      const onceWithinMs = () => Math.max(1, endsAt - performance.now());
      // Random, so that several checks at once do not remove each other's probe; no hash, so that nobody lists it.
      const body = randomBytes(16);
      const key = `${place.prefix}probe-${body.toString('hex')}`;
      await client.request({ method: 'PUT', key, body, onceWithinMs: onceWithinMs() });
      const kept = await client.request({ method: 'GET', key, expects: [404], onceWithinMs: onceWithinMs() });
      await client.request({ method: 'DELETE', key, onceWithinMs: onceWithinMs() });
      if (!kept.body.equals(body)) throw unreadable(place.origin);
    },
    async applyLifecycle(onRefused) {
      try {
        await applyRules(client, `${place.prefix}${TRANSIT_FOLDER}/`);
      } catch (error) {
        onRefused(asScrapifieError(error));
      }
    },
    close: () => client.close(),
  };
}

/** What was found at a key: null bytes when it is damaged. */
interface Found {
  readonly bytes: Buffer | null;
  readonly ageMs: number;
}

/** By the server's own clock, where it tells the time with the answer. */
function ageBetween(modified: unknown, date: unknown, now: number): number {
  const modifiedAt = Date.parse(String(modified));
  const serverAt = Date.parse(String(date));
  if (Number.isNaN(modifiedAt)) return 0;
  return Math.max(0, (Number.isNaN(serverAt) ? now : serverAt) - modifiedAt);
}

/** Some servers encode no keys: a percent sign there may stand for itself. */
function decodedKey(listed: string): string {
  try {
    return decodeURIComponent(listed.replaceAll('+', ' '));
  } catch {
    return listed;
  }
}

function unreadable(origin: string): ScrapifieError {
  return new ScrapifieError('BLOBS_UNAVAILABLE', `What was stored at ${origin} could not be read back.`);
}
