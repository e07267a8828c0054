import type { ErrorCode } from '../../errors/registry.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { S3Place } from './s3-place.ts';
import { readXml } from './s3-xml.ts';

/** An answer other than success. */
export interface S3Refusal {
  readonly status: number;
  /** S3's name for it, as `NoSuchKey`. */
  readonly code: string;
  /** The server's clock, where it said. */
  readonly serverAt: number | null;
  /** The region the bucket is in, where it said. */
  readonly region: string | null;
}

/** Passes by itself, though its status says that the request was wrong: it came damaged or too slowly. */
const DAMAGED_ON_THE_WAY: ReadonlySet<string> = new Set([
  'BadDigest',
  'IncompleteBody',
  'InvalidDigest',
  'RequestTimeout',
  'XAmzContentSHA256Mismatch',
]);
const BUSY: ReadonlySet<string> = new Set(['SlowDown', 'Throttling', 'TooManyRequests', 'OperationAborted']);
const FULL: ReadonlySet<string> = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
]);

export function readRefusal(status: number, body: Buffer, date: string | undefined): S3Refusal {
  const xml = body.length === 0 ? null : readXml(body.toString('utf8'));
  const serverAt = Date.parse(date ?? '');
  return {
    status,
    code: xml?.one('Code') ?? defaultCode(status),
    serverAt: Number.isNaN(serverAt) ? null : serverAt,
    region: xml?.one('Region') ?? null,
  };
}

/** An answer to HEAD has no body to say more. */
function defaultCode(status: number): string {
  if (status === 403) return 'AccessDenied';
  if (status === 404) return 'NoSuchKey';
  return `HTTP ${status}`;
}

export function isWorthAnotherTry({ status, code }: S3Refusal): boolean {
  if (FULL.has(code) || status === 501 || status === 507) return false;
  return status >= 500 || status === 429 || DAMAGED_ON_THE_WAY.has(code) || BUSY.has(code);
}

/** What a refusal means for us. The messages name bucket and endpoint, never a key. */
export function refusalError(refusal: S3Refusal, place: S3Place, now: number): ScrapifieError {
  const { code } = refusal;
  const where = `bucket ${place.bucket} at ${place.origin}`;
  const say = (kind: ErrorCode, message: string) => new ScrapifieError(kind, message);
  if (FULL.has(code) || refusal.status === 507)
    return say('DISK_FULL', `The object store is full: ${where} (${code}).`);
  if (isWorthAnotherTry(refusal)) {
    return say('BLOBS_UNAVAILABLE', `The object store does not serve ${where} at the moment (${code}).`);
  }
  switch (code) {
    case 'NoSuchBucket':
      return say('BLOBS_REFUSED', `The object store has no ${where} (${code}).`);
    case 'InvalidAccessKeyId':
      return say('BLOBS_REFUSED', `The object store does not know the access key for ${where} (${code}).`);
    case 'SignatureDoesNotMatch':
      return say('BLOBS_REFUSED', `The secret does not belong to the access key for ${where} (${code}).`);
    case 'AccessDenied':
      return say('BLOBS_REFUSED', `The access key is not allowed to use ${where} (${code}).`);
    case 'RequestTimeTooSkewed':
      return say(
        'BLOBS_REFUSED',
        `The object store refuses ${where} because ${clockDifference(refusal.serverAt, now)} (${code}).`,
      );
    default: {
      const region = refusal.region === null ? '' : `; the bucket is in the region ${refusal.region}`;
      return say('BLOBS_REFUSED', `The object store refuses a request for ${where} (${code}${region}).`);
    }
  }
}

function clockDifference(serverAt: number | null, now: number): string {
  if (serverAt === null) return "this machine's clock differs too much from its own";
  const seconds = Math.round(Math.abs(serverAt - now) / 1_000);
  const amount = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `this machine's clock is ${amount} ${now < serverAt ? 'behind' : 'ahead of'} its own`;
}
