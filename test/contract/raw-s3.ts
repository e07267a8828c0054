import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { parseS3Url, type S3Place } from '../../src/core/config/place-urls.ts';
import type { ContentHash } from '../../src/core/model/ids.ts';

/** A bucket past the driver, for tests that look at its objects and damage them. */
export interface RawS3 {
  readonly client: S3Client;
  readonly place: S3Place;
  keyOf(hash: ContentHash): string;
  read(key: string): Promise<Buffer>;
  write(key: string, bytes: Uint8Array): Promise<void>;
  head(key: string): Promise<HeadObjectCommandOutput>;
  /** Ids of uploads in parts that are not finished. */
  uploads(): Promise<string[]>;
  /** Removes every object below the prefix. */
  empty(): Promise<void>;
  close(): void;
}

export function openRawS3(url: string): RawS3 {
  const place = parseS3Url(url);
  const { endpoint, region, keys, bucket: Bucket, prefix: Prefix } = place;
  if (keys === null || region === null) throw new Error('The URL of a test bucket has keys and a region.');
  const client = new S3Client({
    endpoint,
    region,
    credentials: keys,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return {
    client,
    place,
    keyOf: (hash) => `${Prefix}${hash.slice(0, 2)}/${hash}`,
    async read(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async write(Key, Body) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    },
    head: (Key) => client.send(new HeadObjectCommand({ Bucket, Key })),
    async uploads() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
      return Uploads.flatMap(({ UploadId }) => UploadId ?? []);
    },
    async empty() {
      // Encoded by the server, so that keys with characters that XML cannot hold are listed.
      const list = new ListObjectsV2Command({ Bucket, Prefix, EncodingType: 'url' });
      const { Contents = [] } = await client.send(list);
      for (const { Key = '' } of Contents) {
        const key = decodeURIComponent(Key.replaceAll('+', ' '));
        await client.send(new DeleteObjectCommand({ Bucket, Key: key }));
      }
    },
    close: () => client.destroy(),
  };
}
