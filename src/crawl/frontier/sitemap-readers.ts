import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { defined } from '../../lib/defined.ts';

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

const CHANGE_FREQUENCIES = ['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never'] as const;
type ChangeFrequency = (typeof CHANGE_FREQUENCIES)[number];

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
const MAX_VALUE_CHARS = 8_192;

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

const MAX_DEPTH = 256;
/** A tag, text or comment this long is an attack or not a sitemap; the parser would keep it whole. */
const MAX_TOKEN_CHARS = 1_048_576;
const MAX_ALTERNATES = 500;
/** Flaws that the parser gets over by itself and that cost no more than one value. */
const HARMLESS = /entity|: disallowed character\.$/;

/** What the root element says about the file: where its entries are and which of their children matter. */
interface Format {
  readonly entries: ReadonlyMap<string, SitemapItem['kind']>;
  readonly fields: ReadonlyMap<string, Field>;
  /** Only entries right below the root count. */
  readonly isFlat: boolean;
}
type Field = 'url' | 'guid' | 'lastModified' | 'changeFrequency' | 'priority';

const SITEMAP: Format = {
  entries: new Map([
    ['url', 'url'],
    ['sitemap', 'sitemap'],
  ]),
  fields: new Map([
    ['loc', 'url'],
    ['lastmod', 'lastModified'],
    ['changefreq', 'changeFrequency'],
    ['priority', 'priority'],
  ]),
  isFlat: true,
};
const RSS: Format = {
  entries: new Map([['item', 'feed-entry']]),
  fields: new Map([
    ['link', 'url'],
    ['guid', 'guid'],
    ['pubDate', 'lastModified'],
    ['dc:date', 'lastModified'],
  ]),
  isFlat: false,
};
const ATOM: Format = {
  entries: new Map([['entry', 'feed-entry']]),
  fields: new Map([['updated', 'lastModified']]),
  isFlat: true,
};
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['urlset', SITEMAP],
  ['sitemapindex', SITEMAP],
  ['rss', RSS],
  ['RDF', RSS],
  ['feed', ATOM],
]);

interface Entry {
  readonly kind: SitemapItem['kind'];
  readonly depth: number;
  readonly values: Partial<Record<Field, string>>;
  readonly alternates: { readonly url: string; readonly language: string | undefined }[];
}

/** Reads sitemaps, sitemap indexes, RSS and Atom. Document types are passed over, so no entity is ever expanded. */
export function createXmlReader(maxUrls: number): SitemapReader {
  let items: SitemapItem[] = [];
  let stopped: SitemapStop | null = null;
  let format: Format | null = null;
  /** Prefix of the names that count, with its colon: that of the root, because some files qualify everything. */
  let prefix = '';
  let depth = 0;
  let entries = 0;
  let entry: Entry | null = null;
  let field: Field | null = null;
  let value = '';
  let silentChars = 0;
  let isBegun = false;
  let held = '';

  const parser = new SaxesParser({ xmlns: false, position: false });
  const stop = (truncated: boolean, reason: string): void => {
    stopped ??= { truncated, reason };
  };

  const openRoot = (name: string): void => {
    const colon = name.indexOf(':');
    const local = name.slice(colon + 1);
    format = FORMATS.get(local) ?? null;
    if (format === null) stop(false, local.toLowerCase() === 'html' ? 'html-page' : 'not-a-sitemap');
    // RSS 1.0 qualifies its root but not its items.
    prefix = format === RSS ? '' : name.slice(0, colon + 1);
  };
  const openTag = (tag: SaxesTagPlain): void => {
    silentChars = 0;
    depth++;
    if (stopped !== null || format === null || depth === 1) return;
    if (depth > MAX_DEPTH) stop(true, `broken-xml: elements nested more than ${MAX_DEPTH} deep`);
    else if (entry !== null) {
      if (depth === entry.depth + 1) openChild(tag, format, entry);
    } else if ((depth === 2 || !format.isFlat) && tag.name.startsWith(prefix)) {
      const kind = format.entries.get(tag.name.slice(prefix.length));
      if (kind !== undefined) entry = { kind, depth, values: {}, alternates: [] };
    }
  };
  const openChild = (tag: SaxesTagPlain, { fields }: Format, { values, alternates }: Entry): void => {
    const { href, rel } = tag.attributes;
    if (href !== undefined && /(?:^|:)link$/.test(tag.name)) {
      const isAlternate = rel === undefined || rel === 'alternate';
      if (!isAlternate || href.length > MAX_VALUE_CHARS) return;
      if (fields === ATOM.fields) values.url ??= href;
      else if (alternates.length < MAX_ALTERNATES) {
        alternates.push({ url: href.trim(), language: tag.attributes.hreflang });
      }
      return;
    }
    if (!tag.name.startsWith(prefix)) return;
    field = fields.get(tag.name.slice(prefix.length)) ?? null;
    if (field === 'guid' && tag.attributes.isPermaLink === 'false') field = null;
    value = '';
  };
  const closeTag = (): void => {
    silentChars = 0;
    if (stopped === null && entry !== null) {
      if (depth === entry.depth) closeEntry(entry);
      else if (depth === entry.depth + 1 && field !== null) {
        const text = value.trim();
        if (text !== '' && text.length <= MAX_VALUE_CHARS) entry.values[field] ??= text;
        field = null;
      }
    }
    depth--;
  };
  const closeEntry = ({ kind, values, alternates }: Entry): void => {
    entry = null;
    const guid = values.guid !== undefined && /^https?:\/\//i.test(values.guid) ? values.guid : undefined;
    const url = values.url ?? guid;
    if (url === undefined) return;
    if (entries === maxUrls) {
      stop(true, 'url-limit');
      return;
    }
    entries++;
    items.push({ kind, url, ...detailsOf(values) });
    for (const alternate of alternates) {
      if (alternate.url === url || alternate.url === '') continue;
      const { language } = alternate;
      items.push({ kind, url: alternate.url, ...defined({ language }) });
    }
  };
  const addText = (text: string): void => {
    silentChars = 0;
    if (field !== null && entry !== null && depth === entry.depth + 1 && value.length <= MAX_VALUE_CHARS) {
      value += text;
    }
  };

  // unguarded: the parser calls these while it is written to, and what writes to it gets their errors.
  // Before the attributes, whose flaws would hide that this is an HTML page.
  parser.on('opentagstart', ({ name }) => {
    if (depth === 0 && stopped === null) openRoot(name);
  });
  parser.on('opentag', openTag);
  parser.on('closetag', closeTag);
  parser.on('text', addText);
  // Mending has escaped the ampersands here too, where they need no escape.
  parser.on('cdata', (text) => addText(text.replaceAll('&amp;', '&')));
  parser.on('comment', () => {
    silentChars = 0;
  });
  parser.on('error', (error) => {
    if (!HARMLESS.test(`: ${error.message}`)) stop(true, `broken-xml: ${error.message}`);
  });

  return {
    get stopped() {
      return stopped;
    },
    write(text) {
      if (stopped !== null) return;
      const [whole, cut] = splitBeforeEntity(held + (isBegun ? text : text.trimStart()));
      isBegun = true;
      held = cut;
      silentChars += whole.length;
      parser.write(mendAmpersands(whole));
      if (silentChars > MAX_TOKEN_CHARS) {
        stop(true, `broken-xml: more than ${MAX_TOKEN_CHARS} characters in one piece`);
      }
      // The parser knows `<!DOCTYPE` only in capitals, and many pages have it otherwise.
      if (stopped !== null && format === null && /<!doctype\s+html|<html[\s>]/i.test(whole)) {
        stopped = { truncated: false, reason: 'html-page' };
      }
    },
    end() {
      if (stopped !== null) return;
      parser.write(mendAmpersands(held));
      parser.close();
    },
    take() {
      const taken = items;
      items = [];
      return taken;
    },
  };
}

const ENTITY_CHARS = 34;

/** Keeps back an ampersand at the end whose entity may still follow. */
function splitBeforeEntity(text: string): readonly [string, string] {
  const at = text.lastIndexOf('&');
  if (at === -1 || at < text.length - ENTITY_CHARS || text.includes(';', at)) return [text, ''];
  return [text.slice(0, at), text.slice(at)];
}

/** The commonest flaw of sitemaps is `?a=1&b=2` written as it is. */
function mendAmpersands(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?!(?:[A-Za-z][A-Za-z0-9]{0,30}|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)/g, '&amp;');
}

function detailsOf(values: Entry['values']): Omit<SitemapItem, 'kind' | 'url' | 'language'> {
  const details: { lastModified?: string; priority?: number; changeFrequency?: ChangeFrequency } = {};
  const modifiedAt = values.lastModified === undefined ? Number.NaN : Date.parse(values.lastModified);
  if (!Number.isNaN(modifiedAt)) details.lastModified = new Date(modifiedAt).toISOString();
  const priority = values.priority === undefined ? Number.NaN : Number(values.priority);
  if (priority >= 0 && priority <= 1) details.priority = priority;
  const frequency = CHANGE_FREQUENCIES.find((known) => known === values.changeFrequency?.toLowerCase());
  if (frequency !== undefined) details.changeFrequency = frequency;
  return details;
}
