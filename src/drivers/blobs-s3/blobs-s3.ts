import { randomBytes } from 'node:crypto';
import { asScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import { decodeFrame, encodeFrame, isBody, isContentHash } from '../../model/blob-frame.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { Blob, Blobs } from '../../ports/blobs.ts';
import { removeUnfinishedUploads } from './lifecycle.ts';
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
  readonly now: () => number;
  readonly random: () => number;
}

/** Blobs in a bucket. Beyond the port: BLOBS_UNAVAILABLE when the object store is away, BLOBS_REFUSED when it will not. */
export interface BlobsS3 extends Blobs {
  /** Has the bucket clean up after uploads that were cut off. Never rejects: without it all works, it only costs space. */
  applyLifecycle(onRefused: (error: ScrapifieError) => void): Promise<void>;
}

/** Larger ones are sent in parts, so that a bad line costs a part and not all of it. */
const MOST_WHOLE_BYTES = 16_777_216;
const DELETED_AT_ONCE = 1_000;
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
  const remembered = new Set<ContentHash>();
  /** Not every server can store only what is absent; one that cannot is sent the same bytes again. */
  let canTellAbsent = true;

  // Two characters of the hash before it: object stores divide their load by the beginnings of keys.
  const keyOf = (hash: ContentHash) => `${place.prefix}${hash.slice(0, 2)}/${hash}`;

  async function get(hash: ContentHash): Promise<Buffer | null> {
    if (!isContentHash(hash)) return null;
    const { status, body } = await client.request({ method: 'GET', key: keyOf(hash), expects: [404] });
    const bytes = status === 404 ? null : decodeFrame(body);
    if (bytes !== null && isBody(bytes, hash)) return bytes;
    remembered.delete(hash);
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
    await client.request({ method: 'PUT', key, body: frame });
    return true;
  }

  /** Being there is not enough, because it may be damaged: what is there is read, and written again if need be. */
  async function store({ hash, bytes }: Blob): Promise<void> {
    if (remembered.has(hash) && (await get(hash)) !== null) return;
    const key = keyOf(hash);
    const frame = encodeFrame([bytes]);
    if (frame.length > MOST_WHOLE_BYTES) {
      if ((await get(hash)) === null) {
        await uploadInParts(client, key, frame);
        if ((await get(hash)) === null) throw unreadable(place.origin);
      }
    } else if (!(await putIfAbsent(key, frame)) && (await get(hash)) === null) {
      await client.request({ method: 'PUT', key, body: frame });
    }
    remember(hash);
  }

  function remember(hash: ContentHash): void {
    const [oldest] = remembered;
    if (remembered.size >= MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.add(hash);
  }

  async function deleteTogether(hashes: readonly ContentHash[]): Promise<void> {
    const objects = hashes.map((hash) => `<Object><Key>${escapeXml(keyOf(hash))}</Key></Object>`);
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`);
    const answer = await client.request({ method: 'POST', query: { delete: '' }, body });
    const [code] =
      readXml(answer.body.toString('utf8'))
        ?.all('Error/Code')
        .filter((each) => each !== 'NoSuchKey') ?? [];
    if (code === undefined) return;
    const status = code === 'InternalError' ? 500 : 400;
    throw refusalError({ status, code, serverAt: null, region: null }, place, options.now());
  }

  async function* list(): AsyncGenerator<ContentHash> {
    for (let token: string | null = null; ; ) {
      const query = { 'list-type': '2', prefix: place.prefix, 'encoding-type': 'url' };
      const page = await client.request({
        method: 'GET',
        query: token === null ? query : { ...query, 'continuation-token': token },
      });
      const xml: S3Xml | null = readXml(page.body.toString('utf8'));
      if (xml === null) throw unreadable(place.origin);
      for (const key of xml.all('Contents/Key')) {
        const hash = key.slice(-64) as ContentHash;
        // Others may keep things in this bucket too.
        if (isContentHash(hash) && decodeURIComponent(key.replaceAll('+', ' ')) === keyOf(hash)) yield hash;
      }
      token = xml.one('IsTruncated') === 'true' ? xml.one('NextContinuationToken') : null;
      if (token === null) return;
    }
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
      return status !== 404;
    },
    async delete(hashes) {
      const all = [...new Set(hashes.filter(isContentHash))];
      for (const hash of all) remembered.delete(hash);
      for (let at = 0; at < all.length; at += DELETED_AT_ONCE) {
        await deleteTogether(all.slice(at, at + DELETED_AT_ONCE));
      }
    },
    list,
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
        await removeUnfinishedUploads(client);
      } catch (error) {
        onRefused(asScrapifieError(error));
      }
    },
    close: () => client.close(),
  };
}

function unreadable(origin: string): ScrapifieError {
  return new ScrapifieError('BLOBS_UNAVAILABLE', `What was stored at ${origin} could not be read back.`);
}
