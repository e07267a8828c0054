import { parseS3Url } from '../../core/config/place-urls.ts';
import type { LakeFiles } from '../../core/ports/lake-store.ts';
import { openS3Bucket, type S3Bucket } from './s3-bucket.ts';
import { createS3Objects, type S3Objects } from './s3-objects.ts';

const TIMEOUT_MS = 30_000;
const MOST_REMOVED = 1_000;

/** A lake below a prefix of a bucket. The object store is not asked for anything before the first use. */
export function createLakeS3(url: string): LakeFiles {
  const place = parseS3Url(url);
  let opened: Promise<{ bucket: S3Bucket; objects: S3Objects }> | null = null;
  const open = () => {
    opened ??= openS3Bucket({
      place,
      maxConnections: 8,
      timeoutMs: TIMEOUT_MS,
      now: Date.now,
      random: Math.random,
    }).then((bucket) => ({ bucket, objects: createS3Objects(bucket, Date.now) }));
    return opened;
  };
  const keyOf = (path: string) => `${place.prefix}${path}`;
  return {
    name: `s3://${place.bucket}/${place.prefix}`,
    async write(path, bytes) {
      await (await open()).objects.write(keyOf(path), bytes, { bytes: bytes.length });
    },
    read: async (path) => (await (await open()).objects.read(keyOf(path)))?.bytes ?? null,
    async remove(paths) {
      const { objects } = await open();
      for (let at = 0; at < paths.length; at += MOST_REMOVED) {
        await objects.remove(paths.slice(at, at + MOST_REMOVED).map(keyOf));
      }
    },
    async *list(prefix) {
      const { objects } = await open();
      let token: string | null = null;
      do {
        const page = await objects.list(keyOf(prefix), token);
        for (const { key, storedBytes } of page.objects) {
          yield { path: key.slice(place.prefix.length), bytes: storedBytes };
        }
        token = page.token;
      } while (token !== null);
    },
    localPath: () => null,
    async close() {
      await (await opened)?.bucket.close();
    },
  };
}
