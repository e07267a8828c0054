import { isRefused, type S3Bucket, type S3Terms } from './s3-bucket.ts';
import { refusalError, strangeAnswerError } from './s3-error.ts';

/** An object as it lies in the bucket. */
export interface StoredObject {
  readonly bytes: Buffer;
  readonly ageMs: number;
}

export interface ListedObject {
  readonly key: string;
  readonly storedBytes: number;
  readonly ageMs: number;
}

export interface ObjectPage {
  /** The objects in the order of their keys. */
  readonly objects: readonly ListedObject[];
  /** For the next page; null after the last one. */
  readonly token: string | null;
}

/** A write that succeeds only where the key holds nothing. `unsupported`: this server cannot tell. */
export type WriteResult = 'written' | 'taken' | 'unsupported';

/** Objects of one bucket by their keys. Every method throws BLOBS_UNAVAILABLE, BLOBS_REFUSED or DISK_FULL. */
export interface S3Objects {
  /** Null when the key holds nothing. */
  read(key: string, terms?: S3Terms): Promise<StoredObject | null>;
  has(key: string): Promise<boolean>;
  write(key: string, bytes: Uint8Array, terms?: S3Terms): Promise<void>;
  writeIfAbsent(key: string, bytes: Uint8Array): Promise<WriteResult>;
  list(prefix: string, token?: string | null): Promise<ObjectPage>;
  /** Keys that hold nothing count as removed. At most 1,000. */
  remove(keys: readonly string[], terms?: S3Terms): Promise<void>;
}

export function createS3Objects(bucket: S3Bucket, now: () => number): S3Objects {
  const { commands, place } = bucket;
  const Bucket = place.bucket;

  /** By the server's own clock, where it tells the time with the answer. */
  const ageOf = (modified: Date | undefined, serverAt: number | null) => {
    const modifiedAt = modified?.getTime() ?? Number.NaN;
    return Number.isNaN(modifiedAt) ? 0 : Math.max(0, (serverAt ?? now()) - modifiedAt);
  };

  const put = (key: string, bytes: Uint8Array, terms: S3Terms, condition: { IfNoneMatch?: '*' } = {}) =>
    bucket.ask(
      (client, options) =>
        client.send(new commands.PutObjectCommand({ Bucket, Key: key, Body: bytes, ...condition }), options),
      { bytes: bytes.length, ...terms },
    );

  return {
    async read(key, terms) {
      const found = await bucket.ask(
        (client, options) => client.send(new commands.GetObjectCommand({ Bucket, Key: key }), options),
        { ...terms, expects: [404] },
      );
      if (isRefused(found)) return null;
      const bytes = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
      return { bytes, ageMs: ageOf(found.LastModified, bucket.answeredAt(found)) };
    },
    async has(key) {
      const found = await bucket.ask(
        (client, options) => client.send(new commands.HeadObjectCommand({ Bucket, Key: key }), options),
        { expects: [404] },
      );
      return !isRefused(found);
    },
    async write(key, bytes, terms = {}) {
      await put(key, bytes, terms);
    },
    async writeIfAbsent(key, bytes) {
      const stored = await put(key, bytes, { expects: [409, 412, 501] }, { IfNoneMatch: '*' });
      if (!isRefused(stored)) return 'written';
      return stored.refusedWith === 501 ? 'unsupported' : 'taken';
    },
    async list(prefix, token = null) {
      const page = await bucket.ask((client, options) =>
        client.send(
          new commands.ListObjectsV2Command({
            Bucket,
            Prefix: prefix,
            EncodingType: 'url',
            ...(token === null ? {} : { ContinuationToken: token }),
          }),
          options,
        ),
      );
      // An answer that is no list must not be taken for an empty one.
      if (isRefused(page) || page.IsTruncated === undefined) throw strangeAnswerError(place);
      const serverAt = bucket.answeredAt(page);
      return {
        objects: (page.Contents ?? []).map(({ Key = '', Size = 0, LastModified }) => ({
          key: decodedKey(Key),
          storedBytes: Size,
          ageMs: ageOf(LastModified, serverAt),
        })),
        token: page.IsTruncated ? (page.NextContinuationToken ?? null) : null,
      };
    },
    async remove(keys, terms) {
      const Objects = keys.map((Key) => ({ Key }));
      const answer = await bucket.ask(
        (client, options) =>
          client.send(
            new commands.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
            options,
          ),
        terms,
      );
      const errors = isRefused(answer) ? [] : (answer.Errors ?? []);
      const failed = errors.find(({ Code }) => Code !== 'NoSuchKey');
      if (failed === undefined) return;
      const { Code: code = 'InternalError' } = failed;
      const status = code === 'InternalError' ? 500 : 400;
      throw refusalError({ status, code, serverAt: null, region: null }, place, now());
    },
  };
}

/** Some servers encode no keys: a percent sign there may stand for itself. */
function decodedKey(listed: string): string {
  try {
    return decodeURIComponent(listed.replaceAll('+', ' '));
  } catch {
    return listed;
  }
}
