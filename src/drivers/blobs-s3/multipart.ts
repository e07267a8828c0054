import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { S3Client } from './s3-client.ts';
import { escapeXml, readXml } from './s3-xml.ts';
import { sideBySide } from './side-by-side.ts';

/** Parts must have at least 5 MB but for the last, and there may be 10,000. */
const PART_BYTES = 8_388_608;
const PARTS_AT_ONCE = 4;

/**
 * Stores a large object in parts. Until the last request the key keeps what it held; when anything fails the parts
 * are removed again, or at the latest by the rule of `applyLifecycle`.
 */
export async function uploadInParts(client: S3Client, key: string, bytes: Uint8Array): Promise<void> {
  const begun = await client.request({ method: 'POST', key, query: { uploads: '' } });
  const uploadId = readXml(begun.body.toString('utf8'))?.one('UploadId') ?? null;
  if (uploadId === null) throw strange(client);
  try {
    const tags: string[] = [];
    const numbers = Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, at) => at + 1);
    await sideBySide(PARTS_AT_ONCE, numbers, async (partNumber) => {
      const start = (partNumber - 1) * PART_BYTES;
      const { headers } = await client.request({
        method: 'PUT',
        key,
        query: { partNumber: String(partNumber), uploadId },
        body: bytes.subarray(start, start + PART_BYTES),
      });
      if (typeof headers.etag !== 'string') throw strange(client);
      tags[partNumber - 1] = headers.etag;
    });
    const parts = tags.map(
      (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
    );
    // 404: an earlier try had worked, but its answer was lost. Whoever reads the body finds out whether it had.
    await client.request({
      method: 'POST',
      key,
      query: { uploadId },
      body: Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`),
      expects: [404],
    });
  } catch (error) {
    // The first error is the one to tell.
    await client
      .request({ method: 'DELETE', key, query: { uploadId }, expects: [404] })
      .catch(() => undefined);
    throw error;
  }
}

function strange({ place }: S3Client): ScrapifieError {
  return new ScrapifieError(
    'BLOBS_UNAVAILABLE',
    `What answers at ${place.origin} does not speak the protocol of an object store.`,
  );
}
