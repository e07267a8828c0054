import { hash } from 'node:crypto';
import { createSigner } from '../../src/drivers/blobs-s3/sign.ts';

/** An S3 server with one user and a bucket `scrapifie`. */
export interface S3Server {
  /** `http://key:secret@127.0.0.1:port/bucket?region=…` */
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
  // 409: it is there already.
  await request(account, 'PUT', `/${bucket}`, [200, 409]);
  await request(account, 'PUT', `/${bucket}/first`, [200]);
  await request(account, 'DELETE', `/${bucket}/first`, [200, 204]);
  return bucketUrl(account, bucket);
}

async function request(
  account: S3Account,
  method: string,
  path: string,
  expected: readonly number[],
): Promise<void> {
  const { port, region, key, secret } = account;
  const sign = createSigner({ accessKeyId: key, secretAccessKey: secret, region });
  const headers = { host: `127.0.0.1:${port}` };
  const signed = sign({ method, path, query: '', headers, payloadHash: hash('sha256', '') }, Date.now());
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: signed,
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const text = await response.text();
  if (!expected.includes(response.status)) {
    throw new Error(`The S3 server answers ${method} ${path} with ${response.status}: ${text.slice(0, 500)}`);
  }
}
