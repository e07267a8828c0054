import type { S3Place } from '../../core/config/place-urls.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

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
/** Names that the SDK gives to an answer without one of its own. */
const NAMELESS: ReadonlySet<string> = new Set([
  '',
  'Unknown',
  'UnknownError',
  'NotFound',
  'Error',
  'SyntaxError',
]);

/** The fields of an error of the SDK that was made from an answer; all of them may be missing. */
interface SdkError {
  readonly name?: unknown;
  readonly Code?: unknown;
  readonly Region?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
}

/** Returns null for an error that is no answer of the object store: there was no connection, or no answer in time. */
export function refusalOf(error: unknown): S3Refusal | null {
  const { name, Code, Region, $metadata, $response } = (error ?? {}) as SdkError;
  const answered = $metadata?.httpStatusCode ?? $response?.statusCode;
  if (answered === undefined) return null;
  // A request may be answered 200 before it is done, and be said to have failed in the body.
  const status = answered < 300 ? 500 : answered;
  const told = [Code, name].find(
    (each) => typeof each === 'string' && !NAMELESS.has(each) && !/^\d+$/.test(each),
  );
  const serverAt = Date.parse($response?.headers?.date ?? '');
  return {
    status,
    code: typeof told === 'string' ? told : defaultCode(status),
    serverAt: Number.isNaN(serverAt) ? null : serverAt,
    region: typeof Region === 'string' ? Region : null,
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
  const where = `bucket ${place.bucket} at ${place.endpoint}`;
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

export function unreachableError(error: unknown, { endpoint }: S3Place): ScrapifieError {
  const message = `The object store at ${endpoint} cannot be reached: ${reasonOf(error)}.`;
  return new ScrapifieError('BLOBS_UNAVAILABLE', message, { cause: error });
}

/**
 * No credentials were found or given out. Where there were some before, their source is away and will be back; where
 * there were none, the settings are wrong.
 */
export function credentialsError(error: unknown, place: S3Place, hadSome: boolean): ScrapifieError {
  const where = `bucket ${place.bucket} at ${place.endpoint}`;
  const advice = hadSome
    ? ''
    : ' Put key:secret@ before the host of SCRAPIFIE_S3_URL, or give this process a role or keys in one of the' +
      ' places where AWS programs look for them.';
  return new ScrapifieError(
    hadSome ? 'BLOBS_UNAVAILABLE' : 'BLOBS_REFUSED',
    `There are no credentials for ${where}: ${reasonOf(error).replace(/\.$/, '')}.${advice}`,
    { cause: error },
  );
}

/** For an answer that no object store gives. */
export function strangeAnswerError({ endpoint }: S3Place): ScrapifieError {
  return new ScrapifieError(
    'BLOBS_UNAVAILABLE',
    `What answers at ${endpoint} does not speak the protocol of an object store.`,
  );
}

/** The system's or undici's name for a failed connection; an error without one is told by its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

function clockDifference(serverAt: number | null, now: number): string {
  if (serverAt === null) return "this machine's clock differs too much from its own";
  const seconds = Math.round(Math.abs(serverAt - now) / 1_000);
  const amount = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `this machine's clock is ${amount} ${now < serverAt ? 'behind' : 'ahead of'} its own`;
}
