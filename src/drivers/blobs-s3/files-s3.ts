import { parseS3Url } from '../../core/config/place-urls.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Files, StoredFile } from '../../core/ports/blobs.ts';
import { isRefused, openS3Bucket, type S3Bucket } from './s3-bucket.ts';
import { strangeAnswerError } from './s3-error.ts';
import { createS3Objects } from './s3-objects.ts';

const TIMEOUT_MS = 30_000;
const READ_BYTES = 8_388_608;
/** There may be 10,000 parts of one object: after each thousand they become larger, up to an object of 5 TB. */
const FIRST_PART_BYTES = 8_388_608;
const PARTS_OF_A_SIZE = 1_000;
const DAY_MS = 86_400_000;

/** Objects below a prefix of a bucket. An object is sent in parts, and there once the last one has been confirmed. */
export async function createFilesS3(url: string): Promise<Files> {
  const bucket = await openS3Bucket({
    place: parseS3Url(url),
    maxConnections: 4,
    timeoutMs: TIMEOUT_MS,
    now: Date.now,
    random: Math.random,
  });
  const { commands, place } = bucket;
  const objects = createS3Objects(bucket, Date.now);
  const keyOf = (name: string) => `${place.prefix}${name}`;
  const has = (name: string) => objects.has(keyOf(name));

  async function bytesOf(key: string, from: number, bytes: number): Promise<Uint8Array | null> {
    const Range = `bytes=${from}-${from + bytes - 1}`;
    const found = await bucket.ask(
      (client, options) =>
        client.send(new commands.GetObjectCommand({ Bucket: place.bucket, Key: key, Range }), options),
      { bytes, expects: [404, 416] },
    );
    // 416: the object ends before.
    if (isRefused(found)) return found.refusedWith === 404 ? null : new Uint8Array();
    return (await found.Body?.transformToByteArray()) ?? new Uint8Array();
  }

  return {
    async write(name, chunks) {
      if (await has(name)) {
        throw new ScrapifieError('CONFLICT', `${name} is in the bucket already. Choose another name.`);
      }
      await uploadStream(bucket, keyOf(name), chunks);
    },
    async *read(name, { start, end } = { start: 0, end: Number.MAX_SAFE_INTEGER }) {
      for (let from = start; from < end; ) {
        const wanted = Math.min(READ_BYTES, end - from);
        const bytes = await bytesOf(keyOf(name), from, wanted);
        if (bytes === null) throw new ScrapifieError('NOT_FOUND', `There is no ${name} in the bucket.`);
        if (bytes.length > 0) yield bytes;
        from += bytes.length;
        if (bytes.length < wanted) return;
      }
    },
    has,
    async list() {
      const files: StoredFile[] = [];
      let token: string | null = null;
      do {
        const page = await objects.list(place.prefix, token);
        for (const { key, storedBytes } of page.objects) {
          const name = key.slice(place.prefix.length);
          if (!name.includes('/')) files.push({ name, bytes: storedBytes });
        }
        token = page.token;
      } while (token !== null);
      return files;
    },
    remove: (name) => objects.remove([keyOf(name)]),
    async removeRemains() {
      const Bucket = place.bucket;
      const found = await bucket.ask((client, options) =>
        client.send(new commands.ListMultipartUploadsCommand({ Bucket, Prefix: place.prefix }), options),
      );
      for (const { Key, UploadId, Initiated } of isRefused(found) ? [] : (found.Uploads ?? [])) {
        const isOld = Initiated !== undefined && Date.now() - Initiated.getTime() > DAY_MS;
        if (!isOld || Key === undefined || UploadId === undefined) continue;
        await bucket.ask(
          (client, options) =>
            client.send(new commands.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), options),
          { expects: [404] },
        );
      }
    },
    close: () => bucket.close(),
  };
}

/** Until the last request the key keeps what it held. When anything fails the parts are removed again. */
async function uploadStream(bucket: S3Bucket, key: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const { commands, place } = bucket;
  const object = { Bucket: place.bucket, Key: key };
  const begun = await bucket.ask((client, options) =>
    client.send(new commands.CreateMultipartUploadCommand(object), options),
  );
  const uploadId = isRefused(begun) ? undefined : begun.UploadId;
  if (uploadId === undefined || uploadId === '') throw strangeAnswerError(place);
  const upload = { ...object, UploadId: uploadId };
  const parts: { PartNumber: number; ETag: string }[] = [];
  const send = async (Body: Uint8Array) => {
    const PartNumber = parts.length + 1;
    const stored = await bucket.ask(
      (client, options) =>
        client.send(new commands.UploadPartCommand({ ...upload, PartNumber, Body }), options),
      { bytes: Body.length },
    );
    if (isRefused(stored) || stored.ETag === undefined) throw strangeAnswerError(place);
    parts.push({ PartNumber, ETag: stored.ETag });
  };
  try {
    let held: Uint8Array[] = [];
    let heldBytes = 0;
    for await (const chunk of chunks) {
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes < FIRST_PART_BYTES * 2 ** Math.floor(parts.length / PARTS_OF_A_SIZE)) continue;
      await send(Buffer.concat(held));
      [held, heldBytes] = [[], 0];
    }
    if (heldBytes > 0 || parts.length === 0) await send(Buffer.concat(held));
    // 404: an earlier try had worked, but its answer was lost.
    const done = await bucket.ask(
      (client, options) =>
        client.send(
          new commands.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
          options,
        ),
      { expects: [404] },
    );
    if (isRefused(done) && !(await createS3Objects(bucket, Date.now).has(key)))
      throw strangeAnswerError(place);
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
