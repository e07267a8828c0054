import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BlobsS3, type BlobsS3Options, createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import { S3Client } from '../../src/drivers/blobs-s3/s3-client.ts';
import { parseS3Url } from '../../src/drivers/blobs-s3/s3-place.ts';
import { readXml } from '../../src/drivers/blobs-s3/s3-xml.ts';
import type { ContentHash } from '../../src/model/ids.ts';
import { blobOf, blobsContract, type CopyOptions, type OpenedBlobs } from './blobs-contract.ts';
import { newS3Place } from './blobs-places.ts';
import { openLine } from './breakable-line.ts';

const CHANCE = { now: Date.now, random: Math.random };
const clientOf = (url: string) =>
  new S3Client({ place: parseS3Url(url), maxConnections: 4, timeoutMs: 5_000, ...CHANCE });
const keyOf = ({ place }: S3Client, hash: ContentHash) => `${place.prefix}${hash.slice(0, 2)}/${hash}`;

async function openAt(url: string, options: CopyOptions = {}): Promise<OpenedBlobs> {
  const driver = await createBlobsS3({ url, ...CHANCE, ...options });
  const raw = clientOf(url);
  return {
    driver,
    async damage(hash, spoil) {
      const { body } = await raw.request({ method: 'GET', key: keyOf(raw, hash) });
      await raw.request({ method: 'PUT', key: keyOf(raw, hash), body: spoil(body) });
    },
    reopen: (changes = options) => openAt(url, changes),
    async close() {
      await driver.remove(await Array.fromAsync(driver.list()));
      await driver.close();
      await raw.close();
    },
  };
}

blobsContract('object store', () => openAt(newS3Place()));

describe('blobs in an object store', () => {
  let url: string;
  let raw: S3Client;
  let opened: BlobsS3[];
  beforeEach(() => {
    url = newS3Place();
    raw = clientOf(url);
    opened = [];
  });
  afterEach(async () => {
    for (const blobs of opened) await blobs.close();
    const { body } = await raw.request({
      method: 'GET',
      query: { 'list-type': '2', prefix: raw.place.prefix },
    });
    for (const key of readXml(body.toString())?.all('Contents/Key') ?? [])
      await raw.request({ method: 'DELETE', key });
    await raw.close();
  });

  const open = async (options: Partial<BlobsS3Options> = {}) => {
    const blobs = await createBlobsS3({ url, ...CHANCE, ...options });
    opened.push(blobs);
    return blobs;
  };
  const altered = (change: (url: URL) => void) => {
    const other = new URL(url);
    change(other);
    return other.href;
  };
  const uploads = async () => {
    const { body } = await raw.request({ method: 'GET', query: { uploads: '', prefix: raw.place.prefix } });
    return readXml(body.toString())?.all('Upload/UploadId');
  };

  test('of 40 MB that do not compress go up in parts and come back whole', async () => {
    const blobs = await open();
    const blob = blobOf(randomBytes(40_000_000));
    await blobs.put([blob]);
    const { headers } = await raw.request({ method: 'HEAD', key: keyOf(raw, blob.hash) });
    expect(headers.etag).toMatch(/-5"$/);
    expect(Buffer.compare((await blobs.get(blob.hash)) ?? Buffer.alloc(0), blob.bytes)).toBe(0);
    await blobs.put([blob]);
    expect(await uploads()).toEqual([]);
  });

  test('that are large and were cut off on the way can be put again', async () => {
    const { hostname: host, port } = new URL(url);
    const line = await openLine({ host, port: Number(port) });
    const blobs = await open({
      url: altered((it) => Object.assign(it, { port: line.port })),
      timeoutMs: 2_000,
    });
    const blob = blobOf(randomBytes(40_000_000));
    const put = blobs.put([blob]);
    const failed = expect(put).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
    await expect.poll(uploads, { timeout: 10_000, interval: 5 }).toHaveLength(1);
    line.set('cut');
    await failed;
    expect(await blobs.has(blob.hash).catch(() => 'away')).toBe('away');
    line.set('open');
    await blobs.put([blob]);
    expect(await blobs.has(blob.hash)).toBe(true);
    // The server could not be told while the line was cut.
    for (const uploadId of (await uploads()) ?? []) {
      await raw.request({ method: 'DELETE', key: keyOf(raw, blob.hash), query: { uploadId } });
    }
    await line.close();
  });

  test('that are there already are not written again, known here or not', async () => {
    const blob = blobOf('a body '.repeat(100));
    const writtenAt = async () => (await raw.request({ method: 'HEAD', key: keyOf(raw, blob.hash) })).headers;
    await (await open()).put([blob]);
    const before = await writtenAt();
    const other = await open();
    await other.put([blob]);
    await other.put([blob]);
    expect((await writtenAt())['last-modified']).toBe(before['last-modified']);
  });

  test('are put again after somebody else deleted them', async () => {
    const [one, other] = [await open(), await open()];
    const blob = blobOf('a body');
    await one.put([blob]);
    await other.delete([blob.hash]);
    await one.put([blob]);
    expect(await other.get(blob.hash)).toEqual(Buffer.from(blob.bytes));
  });

  test('ignore what others keep beside them', async () => {
    const blobs = await open();
    const blob = blobOf('a body');
    await blobs.put([blob]);
    for (const name of ['README', 'zz/notes', `00/${blob.hash}`, '\u0001odd']) {
      await raw.request({ method: 'PUT', key: `${raw.place.prefix}${name}`, body: Buffer.from('x') });
    }
    expect(await Array.fromAsync(blobs.list())).toMatchObject([{ hash: blob.hash }]);
  });

  test('refuse a hash that is none', async () => {
    const blobs = await open();
    const bad = { hash: '../escape' as ContentHash, bytes: Buffer.from('x') };
    await expect(blobs.put([bad])).rejects.toThrow(TypeError);
  });

  test('are not stored while the server does not answer, and are when it does again', async () => {
    const { hostname: host, port } = new URL(url);
    const line = await openLine({ host, port: Number(port) });
    const blobs = await open({
      url: altered((it) => Object.assign(it, { port: line.port })),
      timeoutMs: 200,
    });
    const blob = blobOf('a body');
    for (const state of ['silent', 'cut'] as const) {
      line.set(state);
      await expect(blobs.put([blob])).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
      await expect(blobs.get(blob.hash)).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
      await expect(blobs.check()).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
    }
    line.set('open');
    // What is left of the silence may cost the first tries.
    await expect
      .poll(() =>
        blobs.put([blob]).then(
          () => 'kept',
          () => 'away',
        ),
      )
      .toBe('kept');
    expect(await blobs.has(blob.hash)).toBe(true);
    await line.close();
  });

  test.each<[string, (url: URL) => void, Partial<BlobsS3Options>, RegExp]>([
    [
      'an unknown access key',
      (it) => Object.assign(it, { username: 'nobody' }),
      {},
      /does not know the access key.*InvalidAccessKeyId/,
    ],
    [
      'a wrong secret',
      (it) => Object.assign(it, { password: 'canary-secret' }),
      {},
      /secret does not belong.*SignatureDoesNotMatch/,
    ],
    [
      'no such bucket',
      (it) => Object.assign(it, { pathname: '/no-such-bucket' }),
      {},
      /no bucket no-such-bucket at http.*NoSuchBucket/,
    ],
  ])('say what is wrong: %s', async (_, change, options, message) => {
    const other = altered(change);
    const blobs = await open({ url: other, ...options });
    const secret = new URL(other).password;
    for (const use of [
      () => blobs.check(),
      () => blobs.put([blobOf('x')]),
      () => blobs.get(blobOf('x').hash),
      () => Array.fromAsync(blobs.list()),
      () => blobs.delete([blobOf('x').hash]),
    ]) {
      const error = await use().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'BLOBS_REFUSED', message: expect.stringMatching(message) });
      expect(String(error) + JSON.stringify(error)).not.toContain(secret);
    }
  });

  test('have unfinished uploads and old transit removed by the bucket, and leave the rules of others alone', async () => {
    const rules = async () => {
      const { body } = await raw.request({ method: 'GET', query: { lifecycle: '' } });
      const ids = readXml(body.toString())?.all('Rule/ID') ?? [];
      return ids.map((id) => id.replace(/-[0-9a-f]{12}$/, '-…')).toSorted();
    };
    const other =
      '<LifecycleConfiguration><Rule><ID>theirs</ID><Filter><Prefix>elsewhere/</Prefix></Filter>' +
      '<Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>';
    await raw.request({ method: 'PUT', query: { lifecycle: '' }, body: Buffer.from(other) });
    const blobs = await open();
    const refused: unknown[] = [];
    await blobs.applyLifecycle((error) => refused.push(error));
    await blobs.applyLifecycle((error) => refused.push(error));
    expect(refused).toEqual([]);
    expect(await rules()).toEqual(['scrapifie-transit-…', 'scrapifie-unfinished-uploads', 'theirs']);
    await raw.request({ method: 'DELETE', query: { lifecycle: '' } });
    await blobs.applyLifecycle((error) => refused.push(error));
    expect(await rules()).toEqual(['scrapifie-transit-…', 'scrapifie-unfinished-uploads']);
    await raw.request({ method: 'DELETE', query: { lifecycle: '' } });
  });

  test('only say so when the bucket will not have rules', async () => {
    const blobs = await open({ url: altered((it) => Object.assign(it, { password: 'wrong' })) });
    const refused: unknown[] = [];
    await blobs.applyLifecycle((error) => refused.push(error));
    expect(refused).toMatchObject([{ code: 'BLOBS_REFUSED' }]);
  });
});
