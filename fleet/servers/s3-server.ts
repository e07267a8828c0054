import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

/** An S3 server with one user and a bucket `scrapifie`. */
export interface S3Server {
  /** Address with the login: `http://key:secret@127.0.0.1:port/bucket?region=…`. */
  readonly url: string;
  /** The process that speaks S3; 0 while it is down. */
  readonly pid: number;
  /** Resolves with the URL of the bucket, which may have been there already. */
  createBucket(name: string): Promise<string>;
  stop(): Promise<void>;
  /** Stops it when it is up, and starts it on the same port and data. */
  restart(): Promise<void>;
  /** kill -9 of the process that speaks S3. What it has acknowledged is kept. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
}

export interface S3Options {
  /** Made when it is not there; must be empty. */
  readonly dir: string;
}

export interface S3Account {
  readonly port: number;
  readonly region: string;
  readonly key: string;
  readonly secret: string;
}

const REQUEST_MS = 15_000;

export function bucketUrl({ port, region, key, secret }: S3Account, bucket: string): string {
  return `http://${key}:${secret}@127.0.0.1:${port}/${bucket}?region=${region}`;
}

/**
 * Makes a bucket, and writes and removes an object in it: servers prepare places for data with the first object,
 * and the first test should not wait for that.
 */
export async function makeBucket(account: S3Account, bucket: string): Promise<string> {
  const { port, region, key, secret } = account;
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region,
    credentials: { accessKeyId: key, secretAccessKey: secret },
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    requestHandler: { requestTimeout: REQUEST_MS, throwOnRequestTimeout: true },
  });
  const first = { Bucket: bucket, Key: 'first' };
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
      // A bucket that exists already can be used.
      if (!(error instanceof Error) || !/^Bucket(?:AlreadyExists|AlreadyOwnedByYou)$/.test(error.name))
        throw error;
    });
    await client.send(new PutObjectCommand({ ...first, Body: 'first' }));
    await client.send(new DeleteObjectCommand(first));
  } finally {
    client.destroy();
  }
  return bucketUrl(account, bucket);
}
