import { randomBytes, randomUUID } from 'node:crypto';
import { parseS3Url } from '../../core/config/place-urls.ts';
import { asScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { BucketFacts } from '../../core/ports/server-facts.ts';
import { hasRules } from './lifecycle.ts';
import { isRefused, openS3Bucket, type S3Terms } from './s3-bucket.ts';

const TRY_MS = 5_000;

/**
 * Writes a small object, reads it, lists it and deletes it. Throws BLOBS_UNAVAILABLE, or BLOBS_REFUSED that says which of
 * the four is not allowed.
 */
export async function inspectBucket(url: string, transitFolder: string): Promise<BucketFacts> {
  const place = parseS3Url(url);
  const times = { now: Date.now, random: Math.random };
  const bucket = await openS3Bucket({ place, maxConnections: 2, timeoutMs: TRY_MS, ...times });
  const { commands } = bucket;
  const Bucket = place.bucket;
  const Key = `${place.prefix}doctor-${randomUUID()}`;
  const Body = randomBytes(64);
  const once: S3Terms = { onceWithinMs: TRY_MS };
  const step = async <T>(right: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const known = asScrapifieError(error);
      if (known.code !== 'BLOBS_REFUSED') throw error;
      throw new ScrapifieError(known.code, `${right} does not work: ${known.message}`, { cause: error });
    }
  };
  try {
    const written = await step('PutObject', () =>
      bucket.ask(
        (client, options) => client.send(new commands.PutObjectCommand({ Bucket, Key, Body }), options),
        once,
      ),
    );
    const answeredAt = bucket.answeredAt(written);
    try {
      const read = await step('GetObject', () =>
        bucket.ask(async (client, options) => {
          const output = await client.send(new commands.GetObjectCommand({ Bucket, Key }), options);
          return { bytes: Buffer.from((await output.Body?.transformToByteArray()) ?? []) };
        }, once),
      );
      if (isRefused(read) || !read.bytes.equals(Body)) {
        throw new ScrapifieError(
          'BLOBS_REFUSED',
          'GetObject returned other bytes than PutObject had stored.',
        );
      }
      await step('ListBucket', () =>
        bucket.ask(
          (client, options) =>
            client.send(new commands.ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: 1 }), options),
          once,
        ),
      );
    } finally {
      await step('DeleteObject', () =>
        bucket.ask(
          (client, options) => client.send(new commands.DeleteObjectCommand({ Bucket, Key }), options),
          once,
        ),
      );
    }
    return {
      endpoint: place.endpoint,
      bucket: Bucket,
      prefix: place.prefix,
      hasLifecycleRules: await hasRules(bucket, `${place.prefix}${transitFolder}/`).catch(() => null),
      aheadMs: answeredAt === null ? null : answeredAt - Date.now(),
    };
  } finally {
    await bucket.close();
  }
}
