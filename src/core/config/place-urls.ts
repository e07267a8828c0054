import { readFileSync } from 'node:fs';
import { ScrapifieError } from '../errors/scrapifie-error.ts';

/** Parameters of server URLs that name PEM files: authorities to trust, our certificate, and its key. */
const TLS_FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'] as const;

/** The first parameter whose file cannot be read, as the end of a sentence; null when all can be. Names no values. */
function tlsFileProblem(parameters: URLSearchParams): string | null {
  for (const name of TLS_FILE_PARAMETERS) {
    const file = parameters.get(name);
    const code = file === null || file === '' ? null : whyUnreadable(file);
    if (code !== null) return `names a file that cannot be read (${name}, ${code})`;
  }
  return null;
}

function whyUnreadable(file: string): string | null {
  try {
    readFileSync(file);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  }
}

/**
 * What keeps a URL that can be parsed from being one of PostgreSQL: a stray percent sign, a certificate that cannot be
 * read. Null when nothing does. Names parameters, but no values.
 */
export function postgresUrlProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return null;
  try {
    for (const part of [url.username, url.password, url.hostname]) decodeURIComponent(part);
    decodeURI(url.pathname);
  } catch {
    return 'has a percent sign that stands for nothing; write it as %25';
  }
  const pooled = url.searchParams.get(POOLED) ?? 'false';
  if (pooled !== 'true' && pooled !== 'false') return `must say true or false for ${POOLED}`;
  return tlsFileProblem(url.searchParams);
}

const POOLED = 'pgbouncer';

/**
 * Whether the URL leads to a pooler such as PgBouncer (`?pgbouncer=true`). A pooler hands the connections of the server from
 * one client to the next, so a client can have no settings of its own: time limits are those of the database's user.
 */
export const isPooledUrl = (url: string): boolean => URL.parse(url)?.searchParams.get(POOLED) === 'true';

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Which servers Redis is made of; all that `SCRAPIFIE_REDIS_URL` says. */
export interface RedisPlace {
  /**
   * `server`: the one server that is named. `cluster`: named are nodes of a Redis Cluster. `sentinel`: named are
   * sentinels, which know the server that is the primary now.
   */
  readonly kind: 'server' | 'cluster' | 'sentinel';
  /** Addresses of the servers, at least one. */
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  /** Empty without one, as is the password. */
  readonly username: string;
  readonly password: string;
  readonly database: number;
  /** What the sentinels call the primary; empty for the other kinds. */
  readonly primaryName: string;
  /** Null when the connection has no TLS. Files are empty where none is named. */
  readonly tls: Readonly<Record<(typeof TLS_FILE_PARAMETERS)[number], string>> | null;
}

const REDIS_FORM =
  'must be redis://[user][:password@]host[:port][/number], the password percent-encoded; ' +
  'for a cluster redis+cluster://host[:port],host[:port]…, and with sentinels redis+sentinel://host[:port],…/name';
/** Scheme, kind, login, hosts, path, parameters. */
const REDIS_URL =
  /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;
const REDIS_HOST = /^(\[[0-9a-f:.]+\]|[^:[\]\s]*)(?::(\d{1,5}))?$/i;
const PORTS = { server: 6_379, cluster: 6_379, sentinel: 26_379 } as const;

/**
 * Reads `redis://`, `redis+cluster://` and `redis+sentinel://` URLs, each also with `rediss` for TLS. Throws
 * INVALID_SETTINGS, and never repeats the URL, because it may hold a password.
 */
export function parseRedisUrl(text: string): RedisPlace {
  const found = REDIS_URL.exec(text) ?? refuseRedis(REDIS_FORM);
  const [, scheme = '', kindText, login = '', hostsText = '', path = '', query = ''] = found;
  const kind = (kindText?.toLowerCase() ?? 'server') as RedisPlace['kind'];
  if (text.endsWith('://')) refuseRedis(REDIS_FORM);
  const [username, ...rest] = login.split(':');
  const hosts = hostsText.split(',').map((one) => hostOf(one, PORTS[kind]));
  const [first, ...others] = hosts;
  if (first === undefined || (kind === 'server' && others.length > 0)) refuseRedis(REDIS_FORM);
  const parameters = new URLSearchParams(query);
  const tls = tlsOf(parameters, scheme.toLowerCase() === 'rediss');
  const [name, number] = kind === 'sentinel' ? path.split('/') : ['', path];
  if (!/^\d*$/.test(number ?? '')) refuseRedis(REDIS_FORM);
  const database = Number(number ?? '');
  if (kind === 'sentinel' && (name ?? '') === '')
    refuseRedis('must name the primary after the sentinels: …/name');
  if (kind === 'cluster' && database !== 0) refuseRedis('names a database, and a cluster has only number 0');
  return {
    kind,
    hosts: [first, ...others],
    username: decodedText(username ?? ''),
    password: decodedText(rest.join(':')),
    database,
    primaryName: decodedText(name ?? ''),
    tls,
  };
}

/** What is wrong with the text, files that cannot be read included; null when nothing is. */
export function redisUrlProblem(text: string): string | null {
  try {
    parseRedisUrl(text);
  } catch (error) {
    return (error as Error).message.replace(/^The URL of Redis /, '').replace(/\.$/, '');
  }
  return tlsFileProblem(new URLSearchParams(text.split('?')[1] ?? ''));
}

/** Where the URL leads, for messages: never its user or password. */
export function redisAddress(url: string): string {
  const { hosts } = parseRedisUrl(url);
  return hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
}

function hostOf(text: string, defaultPort: number): RedisHost {
  const found = REDIS_HOST.exec(text) ?? refuseRedis(REDIS_FORM);
  const port = found[2] === undefined ? defaultPort : Number(found[2]);
  if (port > 65_535) refuseRedis(REDIS_FORM);
  const host = (found[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? 'localhost' : decodedText(host), port };
}

function tlsOf(parameters: URLSearchParams, isTls: boolean): RedisPlace['tls'] {
  const known: readonly string[] = TLS_FILE_PARAMETERS;
  for (const name of parameters.keys()) {
    if (!known.includes(name)) refuseRedis(`has an unknown parameter, ${name}`);
    if (!isTls) refuseRedis(`has ${name}, which needs rediss://`);
  }
  const file = (name: string) => parameters.get(name) ?? '';
  return isTls
    ? { sslrootcert: file('sslrootcert'), sslcert: file('sslcert'), sslkey: file('sslkey') }
    : null;
}

function decodedText(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuseRedis(REDIS_FORM);
  }
}

function refuseRedis(problem: string): never {
  throw new ScrapifieError('INVALID_SETTINGS', `The URL of Redis ${problem}.`);
}

interface S3Keys {
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
  /** When null, it is AWS_REGION, or the region of the shared configuration files, else us-east-1. */
  readonly region: string | null;
  /** When null, the credentials come from the AWS credential chain. */
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
  const url = URL.canParse(text) ? new URL(text) : refuseBucket('is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    refuseBucket('must begin with http:// or https://');
  if ((url.username === '') !== (url.password === ''))
    refuseBucket('must have both an access key and a secret before the host, or neither of them');
  for (const name of url.searchParams.keys())
    if (!PARAMETERS.has(name)) refuseBucket(`has an unknown parameter, ${name}`);
  const virtualHost = url.searchParams.get('virtualHost') ?? 'false';
  if (virtualHost !== 'true' && virtualHost !== 'false')
    refuseBucket('must say true or false for virtualHost');
  const [bucket = '', ...folders] = url.pathname.split('/').slice(1).map(decodedPart);
  if (bucket === '') refuseBucket('must name a bucket after the host');
  const folder = folders.filter((part) => part !== '').join('/');
  const keys = { accessKeyId: decodedPart(url.username), secretAccessKey: decodedPart(url.password) };
  return {
    endpoint: url.origin,
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    region: url.searchParams.get('region'),
    keys: url.username === '' ? null : keys,
    isVirtualHost: virtualHost === 'true',
  };
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuseBucket('has a percent sign that encodes nothing (write %25 for a percent sign)');
  }
}

function refuseBucket(problem: string): never {
  throw new ScrapifieError('INVALID_SETTINGS', `The URL of the object store ${problem}.`);
}
