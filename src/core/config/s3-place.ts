import { ScrapifieError } from '../errors/scrapifie-error.ts';

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Where the bodies go; all that `SCRAPIFIE_S3_URL` says. */
export interface S3Place {
  /** Scheme, host and port of the object store. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Before every key: empty, or ends with a slash. */
  readonly prefix: string;
  /** Null: AWS_REGION, or the region of the shared configuration files, else us-east-1. */
  readonly region: string | null;
  /** Null: the credentials come from the AWS credential chain. */
  readonly keys: S3Keys | null;
  /** The bucket is the first label of the host name and not the first part of the path. */
  readonly isVirtualHost: boolean;
}

const PARAMETERS: ReadonlySet<string> = new Set(['region', 'virtualHost']);

/**
 * Reads `http(s)://[key:secret@]host[:port]/bucket[/prefix]?region=us-east-1&virtualHost=true`, its parts
 * percent-encoded. Throws INVALID_SETTINGS, and never repeats the URL, because it may hold a secret.
 */
export function parseS3Url(text: string): S3Place {
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('must begin with http:// or https://');
  if ((url.username === '') !== (url.password === ''))
    refuse('must have both an access key and a secret before the host, or neither of them');
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.has(name)) refuse(`has an unknown parameter, ${name}`);
  const virtualHost = url.searchParams.get('virtualHost') ?? 'false';
  if (virtualHost !== 'true' && virtualHost !== 'false') refuse('must say true or false for virtualHost');
  const [bucket = '', ...folders] = url.pathname.split('/').slice(1).map(decoded);
  if (bucket === '') refuse('must name a bucket after the host');
  const folder = folders.filter((part) => part !== '').join('/');
  const keys = { accessKeyId: decoded(url.username), secretAccessKey: decoded(url.password) };
  return {
    endpoint: url.origin,
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    region: url.searchParams.get('region'),
    keys: url.username === '' ? null : keys,
    isVirtualHost: virtualHost === 'true',
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuse('has a percent sign that encodes nothing (write %25 for a percent sign)');
  }
}

function refuse(problem: string): never {
  throw new ScrapifieError('INVALID_SETTINGS', `The URL of the object store ${problem}.`);
}
