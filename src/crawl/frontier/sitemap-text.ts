/** One URL that a sitemap or feed names, as it is written there: resolve it against the file's own URL. */
export interface SitemapItem {
  /** url: a page. sitemap: a further sitemap. feed-entry: a page that an RSS or Atom feed announces. */
  readonly kind: 'url' | 'sitemap' | 'feed-entry';
  readonly url: string;
  /** When the page was last changed, by ISO 8601 in UTC. */
  readonly lastModified?: string;
  /** The priority that the site gives the URL, from 0 to 1. */
  readonly priority?: number;
  readonly changeFrequency?: ChangeFrequency;
  /** Set on the alternates of a page in other languages, which are items of their own. */
  readonly language?: string;
}

export const CHANGE_FREQUENCIES = [
  'always',
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'yearly',
  'never',
] as const;
export type ChangeFrequency = (typeof CHANGE_FREQUENCIES)[number];

/** Why nothing more will be read. */
export interface SitemapStop {
  /** The file has, or may have, more than was read. */
  readonly truncated: boolean;
  readonly reason: string;
}

/** Turns text, given in pieces, into items. Never throws for what the text says. */
export interface SitemapReader {
  /** Set once the rest of the text does not matter; what was found before is still to be taken. */
  readonly stopped: SitemapStop | null;
  write(text: string): void;
  /** The text is over; sets `stopped` when something is missing. */
  end(): void;
  /** The items found since the last call. */
  take(): readonly SitemapItem[];
}

/** The longest text that is worth keeping as a value of an item. */
export const MAX_VALUE_CHARS = 8_192;

/** Lines that are no URL before the first that is one, until the file is taken for something else. */
const MAX_STRANGE_LINES = 100;

/** Reads a list of absolute URLs, one per line. Other lines are passed over. */
export function createTextReader(maxUrls: number): SitemapReader {
  let items: SitemapItem[] = [];
  let stopped: SitemapStop | null = null;
  let count = 0;
  let strange = 0;
  /** The beginning of a line whose end has not come; null when it is too long to be a URL. */
  let rest: string | null = '';

  const readLine = (line: string): void => {
    const url = line.trim();
    if (url === '' || url.startsWith('#')) return;
    if (!/^https?:\/\//i.test(url) || url.length > MAX_VALUE_CHARS) {
      strange++;
      if (count === 0 && strange > MAX_STRANGE_LINES) stopped = { truncated: false, reason: 'not-a-sitemap' };
    } else if (count === maxUrls) {
      stopped = { truncated: true, reason: 'url-limit' };
    } else {
      count++;
      items.push({ kind: 'url', url });
    }
  };

  return {
    get stopped() {
      return stopped;
    },
    write(text) {
      let start = 0;
      while (stopped === null) {
        const end = text.indexOf('\n', start);
        if (end === -1) break;
        if (rest === null) strange++;
        else readLine(rest + text.slice(start, end));
        rest = '';
        start = end + 1;
      }
      if (rest === null) strange++;
      else rest += text.slice(start);
      if (rest !== null && rest.length > MAX_VALUE_CHARS) rest = null;
      if (count === 0 && strange > MAX_STRANGE_LINES)
        stopped ??= { truncated: false, reason: 'not-a-sitemap' };
    },
    end() {
      if (stopped !== null) return;
      if (rest === null) strange++;
      else readLine(rest);
      if (stopped === null && count === 0) {
        stopped = { truncated: false, reason: strange === 0 ? 'empty' : 'not-a-sitemap' };
      }
    },
    take() {
      const taken = items;
      items = [];
      return taken;
    },
  };
}
