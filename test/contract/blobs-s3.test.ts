import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContentHash } from '../../src/core/model/ids.ts';
import { type BlobsS3, type BlobsS3Options, createBlobsS3 } from '../../src/drivers/blobs-s3/blobs-s3.ts';
import { blobOf, blobsContract, type CopyOptions, type OpenedBlobs } from './blobs-contract.ts';
import { newS3Place } from './blobs-places.ts';
import { openLine } from './breakable-line.ts';
import { openRawS3, type RawS3 } from './raw-s3.ts';

const CHANCE = { now: Date.now, random: Math.random };

async function openAt(url: string, options: CopyOptions = {}): Promise<OpenedBlobs> {
  const driver = await createBlobsS3({ url, ...CHANCE, ...options });
  const raw = openRawS3(url);
  return {
    driver,
    async damage(hash, spoil) {
      const key = raw.keyOf(hash);
      await raw.write(key, spoil(await raw.read(key)));
    },
    reopen: (changes = options) => openAt(url, changes),
    async close() {
      await driver.remove(await Array.fromAsync(driver.list()));
      await driver.close();
      raw.close();
    },
  };
}

blobsContract('object store', () => openAt(newS3Place()));

describe('blobs in an object store', () => {
  let url: string;
  let raw: RawS3;
  let opened: BlobsS3[];
  beforeEach(() => {
    url = newS3Place();
    raw = openRawS3(url);
    opened = [];
  });
  afterEach(async () => {
    for (const blobs of opened) await blobs.close();
    await raw.empty();
    raw.close();
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
  test('of 40 MB that do not compress go up in parts and come back whole', async () => {
    const blobs = await open();
    const blob = blobOf(randomBytes(40_000_000));
    await blobs.put([blob]);
    expect((await raw.head(raw.keyOf(blob.hash))).ETag).toMatch(/-5"$/);
    expect(Buffer.compare((await blobs.get(blob.hash)) ?? Buffer.alloc(0), blob.bytes)).toBe(0);
    await blobs.put([blob]);
    expect(await raw.uploads()).toEqual([]);
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
    await expect.poll(() => raw.uploads(), { timeout: 20_000, interval: 5 }).toHaveLength(1);
    line.set('cut');
    await failed;
    expect(await blobs.has(blob.hash).catch(() => 'away')).toBe('away');
    line.set('open');
    await blobs.put([blob]);
    expect(await blobs.has(blob.hash)).toBe(true);
    // The server could not be told while the line was cut.
    const object = { Bucket: raw.place.bucket, Key: raw.keyOf(blob.hash) };
    for (const UploadId of await raw.uploads()) {
      await raw.client.send(new AbortMultipartUploadCommand({ ...object, UploadId }));
    }
    await line.close();
  });

  test('that are there already are not written again, known here or not', async () => {
    const blob = blobOf('a body '.repeat(100));
    const writtenAt = async () => (await raw.head(raw.keyOf(blob.hash))).LastModified;
    await (await open()).put([blob]);
    const before = await writtenAt();
    const other = await open();
    await other.put([blob]);
    await other.put([blob]);
    expect(await writtenAt()).toEqual(before);
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
      await raw.write(`${raw.place.prefix}${name}`, Buffer.from('x'));
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
    const Bucket = raw.place.bucket;
    const rules = async () => {
      const { Rules = [] } = await raw.client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
      return Rules;
    };
    const ids = async () =>
      (await rules()).map(({ ID = '' }) => ID.replace(/-[0-9a-f]{12}$/, '-…')).toSorted();
    const removeRules = () => raw.client.send(new DeleteBucketLifecycleCommand({ Bucket }));
    const theirs = {
      ID: 'theirs',
      Filter: { And: { Prefix: 'elsewhere/', Tags: [{ Key: 'kind', Value: 'a & b' }] } },
      Status: 'Enabled' as const,
      Expiration: { Days: 30 },
      NoncurrentVersionExpiration: { NoncurrentDays: 7 },
    };
    const LifecycleConfiguration = { Rules: [theirs] };
    await raw.client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
    const before = await rules();
    const blobs = await open();
    const refused: unknown[] = [];
    await blobs.applyLifecycle((error) => refused.push(error));
    await blobs.applyLifecycle((error) => refused.push(error));
    expect(refused).toEqual([]);
    expect(await ids()).toEqual(['scrapifie-transit-…', 'scrapifie-unfinished-uploads', 'theirs']);
    expect((await rules()).filter(({ ID }) => ID === 'theirs')).toEqual(before);
    await removeRules();
    await blobs.applyLifecycle((error) => refused.push(error));
    expect(await ids()).toEqual(['scrapifie-transit-…', 'scrapifie-unfinished-uploads']);
    await removeRules();
  });

  test('only say so when the bucket will not have rules', async () => {
    const blobs = await open({ url: altered((it) => Object.assign(it, { password: 'wrong' })) });
    const refused: unknown[] = [];
    await blobs.applyLifecycle((error) => refused.push(error));
    expect(refused).toMatchObject([{ code: 'BLOBS_REFUSED' }]);
  });
});
