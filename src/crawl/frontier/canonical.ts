import { hash } from 'node:crypto';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey, UrlKey } from '../../core/model/ids.ts';
import type { Scope } from '../../core/model/job.ts';
import { redactUrl } from '../../core/observe/redact.ts';
import { createQueryCanonicalizer, normalizeEscapes } from './query-parameters.ts';

/** The one form in which a job knows a URL: two links to the same thing have the same `urlKey`. */
export interface CanonicalUrl {
  readonly url: string;
  readonly urlKey: UrlKey;
  readonly hostKey: HostKey;
  readonly origin: string;
}

/**
 * Brings a link into canonical form, or returns null when it is nothing that can be fetched: another scheme than
 * http and https, no host or one that DNS cannot name, no URL at all, or longer than MAX_URL_CHARS. It never throws. A relative link needs `base`;
 * one that is no URL counts as absent.
 *
 * The form is what the WHATWG parser makes of it, without credentials, fragment (unless kept), default port, the
 * dot behind a host name, session ids, tracking parameters and the job's ignored ones; query sorted by name, escapes
 * normalised. The scheme stays: http and https may serve different things, and asking for the other one unbidden
 * would be a guess. Canonicalising twice is canonicalising once.
 */
export type Canonicalizer = (raw: string, base?: string) => CanonicalUrl | null;

export const MAX_URL_CHARS = 8_192;

/** RFC 1035, 2.3.4: no name server can be asked for a longer name, nor for one with a longer part. */
const MAX_HOST_OCTETS = 253;
const MAX_LABEL_OCTETS = 63;

/** Characters of a path that neither the parser nor we would change; `/.` is looked at apart. */
const PLAIN_PATH = /^\/[\w\-~.!$&'()*+,=:@/]*$/;
/** A relative path without a colon cannot be mistaken for a scheme. */
const PLAIN_RELATIVE = /^[\w\-~][\w\-~.!$&'()*+,=@/]*$/;
const PLAIN_QUERY = /^[\w\-~.!$&()*+,=:@/;?]*$/;
const PATH_SESSIONS = /;(?:jsessionid|phpsessid|sessionid|cfid|cftoken)=[^/;]*/gi;

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** `example.com:8080/x` would otherwise be read as the scheme `example.com`. */
const HOST_WITH_PORT = /^[^\s/?#:@]+:\d{1,5}(?:[/?#]|$)/;
const IP_LITERAL = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;

interface Base {
  readonly origin: string;
  readonly hostKey: HostKey;
  /** The path up to its last slash, when it is plain. */
  readonly directory: string | null;
}

export function createCanonicalizer(
  options: Pick<Scope, 'ignoreQueryParameters' | 'keepFragment'>,
): Canonicalizer {
  const canonicalQuery = createQueryCanonicalizer(options.ignoreQueryParameters);
  const { keepFragment } = options;
  // All links of a page come in a row with the same base, so the last one is worth remembering.
  let lastRaw: string | undefined;
  let lastBase: Base | null = null;

  /** The path and query of most links on most pages can be taken as they are; undefined when these cannot. */
  const takePlain = (raw: string, base: Base): string | undefined => {
    const hashAt = raw.indexOf('#');
    if (hashAt !== -1 && keepFragment) return undefined;
    let start = 0;
    let isRelative = false;
    if (raw.charCodeAt(0) !== 47) {
      if (raw.startsWith(base.origin) && raw.charCodeAt(base.origin.length) === 47)
        start = base.origin.length;
      else isRelative = true;
    } else if (raw.charCodeAt(1) === 47) return undefined;

    const end = hashAt === -1 ? raw.length : hashAt;
    const queryMark = raw.indexOf('?', start);
    const queryAt = queryMark === -1 || queryMark > end ? end : queryMark;
    let path = raw.slice(start, queryAt);
    if (path.includes('/.')) return undefined;
    if (isRelative) {
      if (base.directory === null || !PLAIN_RELATIVE.test(path)) return undefined;
      path = base.directory + path;
    } else if (!PLAIN_PATH.test(path)) return undefined;
    if (queryAt === end) return path;
    const query = raw.slice(queryAt + 1, end);
    if (!PLAIN_QUERY.test(query)) return undefined;
    const kept = canonicalQuery(query);
    return kept === '' ? path : `${path}?${kept}`;
  };

  return (raw, base) => {
    if (raw.length > MAX_URL_CHARS) return null;
    if (base !== undefined && base !== lastRaw) {
      lastRaw = base;
      lastBase = readBase(base);
    }
    if (base !== undefined && lastBase !== null) {
      const plain = takePlain(raw, lastBase);
      if (plain !== undefined) return finish(lastBase.origin + plain, lastBase.hostKey, lastBase.origin);
    }
    const url = parse(raw, base);
    if (url === null || !isFetchable(url)) return null;
    const path = canonicalPath(url);
    const query = canonicalQuery(url.search.slice(1));
    const origin = url.origin;
    let text = origin + path;
    if (query !== '') text += `?${query}`;
    if (keepFragment) text += normalizeEscapes(url.hash);
    return finish(text, url.host as HostKey, origin);
  };
}

/**
 * Whether DNS could know the name. Hosts are looked up by it in the store, whose index takes no key of any length; so
 * a longer one is refused wherever URLs come in.
 */
export function canBeHostName(hostname: string): boolean {
  if (hostname.length <= MAX_LABEL_OCTETS) return true;
  const bare = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return bare.length <= MAX_HOST_OCTETS && bare.split('.').every((label) => label.length <= MAX_LABEL_OCTETS);
}

/** Every port of a name is a host of its own; the scheme makes no difference. */
export function hostKeyOf(url: URL): HostKey {
  const { host } = url;
  return host.replace(/\.+(?=:|$)/, '') as HostKey;
}

/**
 * What a person typed, as an absolute URL. Without a scheme, a host name gets https, and localhost and addresses get
 * http, because that is what they speak. Throws INVALID_URL, with a message for the person, for anything else.
 */
export function parseSeed(raw: string): string {
  const text = raw.trim();
  if (text === '') throw invalid(raw, 'The URL is empty.');
  if (text.length > MAX_URL_CHARS) {
    throw invalid(
      raw,
      `The URL has ${text.length} characters; the most that can be fetched is ${MAX_URL_CHARS}.`,
    );
  }
  const url = URL.parse(withScheme(text, raw));
  if (url === null) throw invalid(raw, `${quote(text)} is not a valid URL.`);
  if (!canBeHostName(url.hostname)) {
    throw invalid(
      raw,
      `The host name of ${quote(text)} is too long: a name has at most ${MAX_HOST_OCTETS} characters, ` +
        `and at most ${MAX_LABEL_OCTETS} between two dots.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(
      raw,
      'The URL contains a user name or password; send them in an Authorization header instead.',
    );
  }
  return url.href;
}

/**
 * A start URL as jobs store it: as it was submitted, which may be without a scheme (`example.com`). Returns null where
 * it cannot be fetched.
 */
export function parseStoredSeed(seed: string): URL | null {
  try {
    return new URL(parseSeed(seed));
  } catch {
    return null;
  }
}

function parse(raw: string, base: string | undefined): URL | null {
  // The base of an absolute link would only be parsed in vain.
  if (base === undefined || /^https?:\/\//.test(raw)) return URL.parse(raw);
  return URL.parse(raw, base) ?? URL.parse(raw);
}

function finish(url: string, hostKey: HostKey, origin: string): CanonicalUrl | null {
  if (url.length > MAX_URL_CHARS) return null;
  return { url, urlKey: urlKeyOf(url, hostKey), hostKey, origin };
}

/**
 * Six characters from the host and sixteen from the URL: keys of one host lie side by side in the store's index, so
 * the thirty links of a page touch one place of it and not thirty.
 */
function urlKeyOf(url: string, hostKey: HostKey): UrlKey {
  if (hostKey !== lastHostKey) {
    lastHostKey = hostKey;
    lastHostPart = hash('sha256', hostKey, 'base64url').slice(0, 6);
  }
  return (lastHostPart + hash('sha256', url, 'base64url').slice(0, 16)) as UrlKey;
}

// Links come in runs of the same host.
let lastHostKey = '';
let lastHostPart = '';

/** Takes the final dots off the host: they name the same server and would make a second host of it. */
function isFetchable(url: URL): boolean {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
  const { hostname } = url;
  if (!hostname.endsWith('.')) return hostname !== '' && canBeHostName(hostname);
  const bare = hostname.replace(/\.+$/, '');
  if (bare === '' || !canBeHostName(bare)) return false;
  url.hostname = bare;
  return !url.hostname.endsWith('.');
}

function canonicalPath(url: URL): string {
  const path = normalizeEscapes(url.pathname);
  if (!path.includes(';')) return path;
  const stripped = path.replace(PATH_SESSIONS, '');
  if (stripped === path) return path;
  // What stood before the session id may be `..`, which the parser must see again.
  url.pathname = stripped;
  return normalizeEscapes(url.pathname);
}

function readBase(raw: string): Base | null {
  const url = URL.parse(raw);
  if (url === null || !isFetchable(url)) return null;
  const path = url.pathname;
  const directory = PLAIN_PATH.test(path) ? path.slice(0, path.lastIndexOf('/') + 1) : null;
  return { origin: url.origin, hostKey: url.host as HostKey, directory };
}

function withScheme(text: string, raw: string): string {
  if (text.startsWith('//')) return `https:${text}`;
  if (!HOST_WITH_PORT.test(text)) {
    const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
    if (scheme === 'http' || scheme === 'https') return text;
    if (scheme !== undefined) {
      throw invalid(
        raw,
        `Only http and https URLs can be fetched, and ${quote(text)} begins with ${scheme}:.`,
      );
    }
  }
  const authority = /^[^/?#]*/.exec(text)?.[0] ?? '';
  const hostname = authority.replace(/:\d*$/, '').toLowerCase();
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || IP_LITERAL.test(hostname)) {
    return `http://${text}`;
  }
  if (!/^[^\s.@]+(?:\.[^\s.@]+)+\.?$/.test(hostname)) {
    throw invalid(raw, `${quote(text)} is not an absolute URL; write it like https://example.com/page.`);
  }
  return `https://${text}`;
}

function invalid(raw: string, message: string): ScrapifieError {
  return new ScrapifieError('INVALID_URL', message, {
    details: [{ field: 'url', message, value: redactUrl(raw).slice(0, 200) }],
  });
}

/** A URL that is refused may still contain a password. */
function quote(text: string): string {
  const shown = redactUrl(text);
  return `“${shown.length > 100 ? `${shown.slice(0, 100)}…` : shown}”`;
}

/** `Example.com:443` names the same host as `example.com`. Throws INVALID_URL for anything else. */
export function hostOf(text: string): HostKey {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : null;
  const isBare =
    url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  const isName =
    url !== null && url.hostname !== '' && canBeHostName(url.hostname) && !/\*|\.\.|^\./.test(url.hostname);
  if (url === null || !isBare || !isName || /[/?#@\\]/.test(text)) {
    throw new ScrapifieError('INVALID_URL', `"${redactUrl(text).slice(0, 100)}" is not a host name.`, {
      details: [{ field: 'host', message: 'not a host name' }],
    });
  }
  return url.host.replace(/\.$/, '') as HostKey;
}
