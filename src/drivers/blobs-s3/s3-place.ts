import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { encodePath } from './sign.ts';

/** Where the bodies go and with which keys; all that `SCRAPIFIE_S3_URL` says. */
export interface S3Place {
  /** Scheme, host and port, the bucket's own host included where that is asked for. */
  readonly origin: string;
  readonly host: string;
  readonly bucket: string;
  /** Before every key: empty, or ends with a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The encoded path of a key; of the bucket itself when there is none. */
  pathOf(key?: string): string;
}

const PARAMETERS: ReadonlySet<string> = new Set(['region', 'virtualHost']);

/**
 * Reads `http(s)://key:secret@host[:port]/bucket[/prefix]?region=us-east-1&virtualHost=true`, its parts
 * percent-encoded. Throws INVALID_SETTINGS, and never repeats the URL, because it holds a secret.
 */
export function parseS3Url(text: string): S3Place {
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('must begin with http:// or https://');
  if (url.username === '' || url.password === '')
    refuse('must have an access key and a secret before the host');
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.has(name)) refuse(`has an unknown parameter, ${name}`);
  const virtualHost = url.searchParams.get('virtualHost') ?? 'false';
  if (virtualHost !== 'true' && virtualHost !== 'false') refuse('must say true or false for virtualHost');
  const [bucket = '', ...folders] = url.pathname.split('/').slice(1).map(decoded);
  if (bucket === '') refuse('must name a bucket after the host');
  const folder = folders.filter((part) => part !== '').join('/');
  const host = virtualHost === 'true' ? `${bucket}.${url.host}` : url.host;
  const root = virtualHost === 'true' ? '/' : `/${encodePath(bucket)}`;
  return {
    origin: `${url.protocol}//${host}`,
    host,
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    region: url.searchParams.get('region') ?? 'us-east-1',
    accessKeyId: decoded(url.username),
    secretAccessKey: decoded(url.password),
    pathOf: (key) => (key === undefined ? root : `${root === '/' ? '' : root}/${encodePath(key)}`),
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
