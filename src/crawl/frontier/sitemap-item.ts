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
