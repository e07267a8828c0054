import { getDomain } from 'tldts';
import { type CookieJar, createCookieJar, type StoredCookie } from '../cookies/cookie-jar.ts';
import type { HeaderList } from '../http/request-headers.ts';

/** The cookies of a caller's jar that one render call needs. New cookies are returned to the caller. */
interface WorkerJar extends CookieJar {
  /** New cookies in order, without the `known` lines; the latest, when they do not fit into a message. */
  newCookies(known: ReadonlySet<string>): readonly NewCookies[];
}

interface NewCookies {
  readonly url: string;
  readonly lines: readonly string[];
}

const MOST_TOLD = 1_024;
/** The most bytes of the reported cookies as JSON. */
const MOST_TOLD_BYTES = 65_536;
/** Lines tell whole seconds. */
const SAME_EXPIRY_MS = 2_000;

export function createWorkerJar(lent: readonly StoredCookie[]): WorkerJar {
  const own = createCookieJar({ cookies: lent });
  const received: NewCookies[] = [];

  /** A browser tells of every cookie it has, and most are as they were. */
  function isNews(url: URL, line: string, now: number): boolean {
    const alone = createCookieJar();
    alone.store(url, line, now);
    const [cookie] = alone.list(now);
    return cookie === undefined || !own.list(now).some((each) => isSame(each, cookie));
  }

  return {
    get size() {
      return own.size;
    },
    cookiesFor: (url, now) => own.cookiesFor(url, now),
    list: (now) => own.list(now),

    store(url, setCookie, now) {
      const lines = typeof setCookie === 'string' ? [setCookie] : setCookie;
      const news = lines.filter((line) => isNews(url, line, now));
      if (news.length === 0) return;
      own.store(url, news, now);
      received.push({ url: url.href, lines: news });
      if (received.length > MOST_TOLD) received.shift();
    },

    newCookies(known) {
      const fitting: NewCookies[] = [];
      let bytes = 0;
      for (const { url, lines } of received.toReversed()) {
        const entry = { url, lines: lines.filter((line) => !known.has(line)) };
        if (entry.lines.length === 0) continue;
        bytes += Buffer.byteLength(JSON.stringify(entry));
        if (bytes > MOST_TOLD_BYTES) break;
        fitting.unshift(entry);
      }
      return fitting;
    },
  };
}

/** Cookies of one host, for those who do not say more about them than their names and values. */
export function plainCookies(
  { hostname, protocol }: URL,
  pairs: readonly (readonly [string, string])[],
): StoredCookie[] {
  const scope = { domain: hostname, isHostOnly: true, path: '/', isSecure: protocol === 'https:' };
  const rest = { isHttpOnly: false, sameSite: null, expiresAt: null };
  return pairs.map(([name, value]) => ({ name, value, ...scope, ...rest }));
}

/** The cookies that a page of this URL may come to need: those of its whole site, whichever host and path they are for. */
export function cookiesOfSite(jar: CookieJar, { hostname }: URL, now: number): StoredCookie[] {
  const site = siteOf(hostname);
  return jar.list(now).filter(({ domain }) => siteOf(domain) === site);
}

export function siteOf(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

function isSame(one: StoredCookie, other: StoredCookie): boolean {
  const isPlace = one.domain === other.domain && one.path === other.path && one.name === other.name;
  if (!isPlace || one.value !== other.value || one.isHostOnly !== other.isHostOnly) return false;
  if (one.isSecure !== other.isSecure) return false;
  if (one.expiresAt === null || other.expiresAt === null) return one.expiresAt === other.expiresAt;
  return Math.abs(one.expiresAt - other.expiresAt) <= SAME_EXPIRY_MS;
}

type CookiePair = [name: string, value: string];

/** Header lists as what a browser needs: headers by name, and cookies apart, one by one and in their order. */
export function splitCookies(list: HeaderList): [headers: Record<string, string>, cookies: CookiePair[]] {
  const headers: Record<string, string> = {};
  const cookies: CookiePair[] = [];
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] ?? '';
    const value = list[index + 1] ?? '';
    if (name === 'cookie') cookies.push(...pairsOf(value));
    else headers[name] = value;
  }
  return [headers, cookies];
}

function pairsOf(header: string): CookiePair[] {
  const pairs: CookiePair[] = [];
  for (const part of header.split('; ')) {
    const equals = part.indexOf('=');
    const last = pairs.at(-1);
    // Part of a value that has the separator in it.
    if (equals === -1 && last !== undefined) last[1] += `; ${part}`;
    else pairs.push([part.slice(0, Math.max(0, equals)), part.slice(equals + 1)]);
  }
  return pairs;
}
