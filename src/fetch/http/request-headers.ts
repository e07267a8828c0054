import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Identity } from '../../core/model/identity.ts';
import type { Validators } from '../engine.ts';

/** Headers that the engine writes itself, or that concern one connection only: a request may not bring them. */
export const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers that tell no secret: what is asked for and what the client understands. Every other header may hold a key, so
 * it goes to the origin of the requested URL alone.
 */
const PORTABLE_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-datetime',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'device-memory',
  'dnt',
  'downlink',
  'dpr',
  'ect',
  'if-modified-since',
  'pragma',
  'priority',
  'range',
  'referer',
  'rtt',
  'save-data',
  'sec-gpc',
  'upgrade-insecure-requests',
  'user-agent',
  'viewport-width',
  'width',
]);
const PORTABLE_FAMILIES = /^sec-(?:ch|fetch)-/;

/** Whether a header of the request may go to another origin than the request's; `also`: what the caller allows. */
export function isPortable(name: string, also: readonly string[] = []): boolean {
  const lower = name.toLowerCase();
  return PORTABLE_HEADERS.has(lower) || PORTABLE_FAMILIES.test(lower) || also.includes(lower);
}

/** Headers that describe a body and go when a redirect drops it. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
]);

/** Names in lower case and values in turn, as undici takes them. */
export type HeaderList = readonly string[];

export function defaultHeaders(userAgent: string): HeaderList {
  return [
    'user-agent',
    userAgent,
    'accept',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'accept-language',
    'en-US,en;q=0.9,*;q=0.5',
    'accept-encoding',
    'gzip, deflate, br, zstd',
  ];
}

/**
 * The headers of a request before cookies. The defaults themselves come back when nothing is added, which is the
 * common case and costs nothing.
 */
export function requestHeaders(
  defaults: HeaderList,
  given: Readonly<Record<string, string>>,
  conditional: Validators | null,
): HeaderList {
  const extra: [string, string][] = [];
  for (const name in given) {
    const value = given[name];
    if (value !== undefined) extra.push([checked(name), value]);
  }
  if (conditional?.etag != null) extra.push(['if-none-match', conditional.etag]);
  if (conditional?.lastModified != null) extra.push(['if-modified-since', conditional.lastModified]);
  if (extra.length === 0) return defaults;

  // In their place, since a browser is known by the order of its headers.
  const left = new Map(extra);
  const headers: string[] = [];
  for (let index = 0; index < defaults.length; index += 2) {
    const name = defaults[index] ?? '';
    headers.push(name, left.get(name) ?? defaults[index + 1] ?? '');
    left.delete(name);
  }
  for (const [name, value] of left) headers.push(name, value);
  return headers;
}

function checked(name: string): string {
  const lower = name.toLowerCase();
  if (!FORBIDDEN_HEADERS.has(lower)) return lower;
  throw new ScrapifieError('VALIDATION_FAILED', `The header ${lower} cannot be set on a request`, {
    details: [{ path: `headers.${name}`, message: 'is set by the engine' }],
  });
}

/** What of the request's own headers still goes along on a redirect. */
export function redirectHeaders(
  given: Readonly<Record<string, string>>,
  { isSameOrigin, keepsBody, also }: { isSameOrigin: boolean; keepsBody: boolean; also: readonly string[] },
): Readonly<Record<string, string>> {
  if (isSameOrigin && keepsBody) return given;
  const kept = Object.entries(given).filter(
    ([name]) =>
      (isSameOrigin || isPortable(name, also)) && (keepsBody || !BODY_HEADERS.has(name.toLowerCase())),
  );
  return Object.fromEntries(kept);
}

/** The Cookie header for `stored` cookies with `given` ones laid over them; empty when there is none. */
export function cookieHeader(
  stored: readonly (readonly [string, string])[],
  given: Readonly<Record<string, string>>,
): string {
  let header = '';
  for (const [name, value] of stored) {
    if (!Object.hasOwn(given, name)) header += `${header === '' ? '' : '; '}${name}=${value}`;
  }
  for (const name in given) header += `${header === '' ? '' : '; '}${name}=${given[name]}`;
  return header;
}

/**
 * Adds the Cookie header; one that the request brought itself keeps its place in front. It comes last, or before the
 * priority, which browsers write after it.
 */
export function withCookies(headers: HeaderList, cookies: string): HeaderList {
  if (cookies === '') return headers;
  const at = headers.indexOf('cookie');
  if (at === -1 || at % 2 === 1) {
    const priority = headers.lastIndexOf('priority');
    const end = priority === -1 || priority % 2 === 1 ? headers.length : priority;
    return headers.toSpliced(end, 0, 'cookie', cookies);
  }
  return headers.with(at + 1, `${headers[at + 1]}; ${cookies}`);
}

/** What the identity sends with every request, in its order. */
export function identityHeaders({ headers }: Identity): HeaderList {
  return headers.flat();
}

/** Browsers send these only over secure connections. */
const FOR_SECURE_ORIGINS = /^sec-(?:ch|fetch)-/;
/** What browsers accept where something in the middle might choke on newer codings. */
const CODINGS_IN_CLEAR = 'gzip, deflate';

/**
 * The headers of a request over plain http as a browser writes them: names with capitals, and without what it keeps
 * for secure origins. What the request brought itself stays as it is.
 */
export function headersInClear(headers: HeaderList, identity: Identity, { hostname }: URL): HeaderList {
  const own = new Map(identity.headers);
  const isTrusted = isOwnMachine(hostname);
  const written: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    let value = headers[index + 1] ?? '';
    if (own.get(name) === value) {
      // The header `priority` has a meaning in HTTP/2 only.
      if (name === 'priority' || (!isTrusted && FOR_SECURE_ORIGINS.test(name))) continue;
      if (!isTrusted && name === 'accept-encoding') value = CODINGS_IN_CLEAR;
    }
    written.push(name.startsWith('sec-ch-') ? name : capitalised(name), value);
  }
  return written;
}

function capitalised(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/** Browsers trust loopback like a secure connection. */
function isOwnMachine(hostname: string): boolean {
  return /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/.test(hostname);
}
