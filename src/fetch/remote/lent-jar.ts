import { type CookieJar, createCookieJar } from '../http/cookie-jar.ts';

/** The part of somebody's cookies that one request needs. What it is told to keep is for its owner to take. */
export interface LentJar extends CookieJar {
  /** What it was told to keep, in order, `known` lines aside; of more than fits into a message, the latest. */
  told(known: ReadonlySet<string>): readonly ToldCookies[];
}

export interface ToldCookies {
  readonly url: string;
  readonly lines: readonly string[];
}

const MOST_TOLD = 256;
/** In JSON. */
const MOST_TOLD_BYTES = 32_768;

/** `cookies` are sent to this URL and to no other. */
export function createLentJar(lentTo: URL, cookies: readonly (readonly [string, string])[]): LentJar {
  const own = createCookieJar();
  let lent = cookies;
  const told: ToldCookies[] = [];

  return {
    get size() {
      return lent.length + own.size;
    },

    cookiesFor(url, now) {
      const kept = own.cookiesFor(url, now);
      return url.href === lentTo.href ? [...lent, ...kept] : kept;
    },

    store(url, setCookie, now) {
      const lines = typeof setCookie === 'string' ? [setCookie] : setCookie;
      own.store(url, lines, now);
      // Once a site speaks of a cookie, to set or to end it, the lent one of that name is out of date. Where that
      // is not quite so, a loop of redirects goes unseen here, and the owner of the cookies sees it.
      const names = new Set(lines.map(nameOf));
      lent = lent.filter(([name]) => !names.has(name));
      told.push({ url: url.href, lines: [...lines] });
      if (told.length > MOST_TOLD) told.shift();
    },

    told(known) {
      const fitting: ToldCookies[] = [];
      let bytes = 0;
      for (const { url, lines } of told.toReversed()) {
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

const nameOf = (line: string): string => line.slice(0, line.indexOf('=')).trim();
