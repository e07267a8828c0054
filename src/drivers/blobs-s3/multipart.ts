import { isRefused, type S3Bucket } from './s3-bucket.ts';
import { strangeAnswerError } from './s3-error.ts';

/** Parts must have at least 5 MB but for the last, and there may be 10,000. */
const PART_BYTES = 8_388_608;
const PARTS_AT_ONCE = 4;

/**
 * Stores a large object in parts. Until the last request the key keeps what it held; when anything fails the parts
 * are removed again, or at the latest by the rule of `applyLifecycle`.
 */
export async function uploadInParts(bucket: S3Bucket, key: string, bytes: Uint8Array): Promise<void> {
  const { commands, place } = bucket;
  const object = { Bucket: place.bucket, Key: key };
  const begun = await bucket.ask((client, options) =>
    client.send(new commands.CreateMultipartUploadCommand(object), options),
  );
  const uploadId = isRefused(begun) ? undefined : begun.UploadId;
  if (uploadId === undefined || uploadId === '') throw strangeAnswerError(place);
  const upload = { ...object, UploadId: uploadId };
  try {
    const parts: { PartNumber: number; ETag: string }[] = [];
    const numbers = Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, at) => at + 1);
    await sideBySide(PARTS_AT_ONCE, numbers, async (PartNumber) => {
      const start = (PartNumber - 1) * PART_BYTES;
      const Body = bytes.subarray(start, start + PART_BYTES);
      const stored = await bucket.ask(
        (client, options) =>
          client.send(new commands.UploadPartCommand({ ...upload, PartNumber, Body }), options),
        { bytes: Body.length },
      );
      if (isRefused(stored) || stored.ETag === undefined) throw strangeAnswerError(place);
      parts[PartNumber - 1] = { PartNumber, ETag: stored.ETag };
    });
    // 404: an earlier try had worked, but its answer was lost. The caller reads the body and finds out whether it had.
    await bucket.ask(
      (client, options) =>
        client.send(
          new commands.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
          options,
        ),
      { expects: [404] },
    );
  } catch (error) {
    // The first error is the one to tell.
    await bucket
      .ask((client, options) => client.send(new commands.AbortMultipartUploadCommand(upload), options), {
        expects: [404],
      })
      .catch(() => undefined);
    throw error;
  }
}

/**
 * Works on all items, at most `limit` at once. After a failure no more are begun; it rejects with the first one when
 * those under way have ended, so that no item is being worked on once the call has settled.
 */
export async function sideBySide<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const failures: unknown[] = [];
  const lane = async () => {
    for (const item of waiting) {
      if (failures.length > 0) return;
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
}
