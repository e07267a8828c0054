import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { TLS_FILE_PARAMETERS, tlsFileProblem } from './tls-files.ts';

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
  /** Null: without TLS. Files are empty where none is named. */
  readonly tls: Readonly<Record<(typeof TLS_FILE_PARAMETERS)[number], string>> | null;
}

const FORM =
  'must be redis://[user][:password@]host[:port][/number], the password percent-encoded; ' +
  'for a cluster redis+cluster://host[:port],host[:port]…, and with sentinels redis+sentinel://host[:port],…/name';
/** Scheme, kind, login, hosts, path, parameters. */
const PATTERN =
  /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i;
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]\s]*)(?::(\d{1,5}))?$/i;
const PORTS = { server: 6_379, cluster: 6_379, sentinel: 26_379 } as const;

/**
 * Reads `redis://`, `redis+cluster://` and `redis+sentinel://` URLs, each also with `rediss` for TLS. Throws
 * INVALID_SETTINGS, and never repeats the URL, because it may hold a password.
 */
export function parseRedisUrl(text: string): RedisPlace {
  const found = PATTERN.exec(text) ?? refuse(FORM);
  const [, scheme = '', kindText, login = '', hostsText = '', path = '', query = ''] = found;
  const kind = (kindText?.toLowerCase() ?? 'server') as RedisPlace['kind'];
  if (text.endsWith('://')) refuse(FORM);
  const [username, ...rest] = login.split(':');
  const hosts = hostsText.split(',').map((one) => hostOf(one, PORTS[kind]));
  const [first, ...others] = hosts;
  if (first === undefined || (kind === 'server' && others.length > 0)) refuse(FORM);
  const parameters = new URLSearchParams(query);
  const tls = tlsOf(parameters, scheme.toLowerCase() === 'rediss');
  const [name, number] = kind === 'sentinel' ? path.split('/') : ['', path];
  if (!/^\d*$/.test(number ?? '')) refuse(FORM);
  const database = Number(number ?? '');
  if (kind === 'sentinel' && (name ?? '') === '') refuse('must name the primary after the sentinels: …/name');
  if (kind === 'cluster' && database !== 0) refuse('names a database, and a cluster has only number 0');
  return {
    kind,
    hosts: [first, ...others],
    username: decoded(username ?? ''),
    password: decoded(rest.join(':')),
    database,
    primaryName: decoded(name ?? ''),
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
  const found = HOST.exec(text) ?? refuse(FORM);
  const port = found[2] === undefined ? defaultPort : Number(found[2]);
  if (port > 65_535) refuse(FORM);
  const host = (found[1] ?? '').replace(/^\[|\]$/g, '');
  return { host: host === '' ? 'localhost' : decoded(host), port };
}

function tlsOf(parameters: URLSearchParams, isTls: boolean): RedisPlace['tls'] {
  const known: readonly string[] = TLS_FILE_PARAMETERS;
  for (const name of parameters.keys()) {
    if (!known.includes(name)) refuse(`has an unknown parameter, ${name}`);
    if (!isTls) refuse(`has ${name}, which needs rediss://`);
  }
  const file = (name: string) => parameters.get(name) ?? '';
  return isTls
    ? { sslrootcert: file('sslrootcert'), sslcert: file('sslcert'), sslkey: file('sslkey') }
    : null;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuse(FORM);
  }
}

function refuse(problem: string): never {
  throw new ScrapifieError('INVALID_SETTINGS', `The URL of Redis ${problem}.`);
}
