import { MAX_VALUE_CHARS, type SitemapItem, type SitemapReader, type SitemapStop } from './sitemap-item.ts';

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
