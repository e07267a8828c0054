import type { PageLink } from '../../core/model/page.ts';
import { escapeMarkdown } from '../content/render/markdown-inline.ts';
import { collapse, cut, decodeEntities } from '../html/page-text.ts';
import { HtmlScanner } from '../html/scanner.ts';
import { visibleText } from '../html/visible-text.ts';
import {
  type DateContext,
  type DocumentProblem,
  type DocumentReading,
  type Feed,
  type FeedItem,
  isoDateOf,
  type LinkList,
} from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';

type RawText = string | null | undefined;

/** An item as it is written in the feed. */
export interface RawFeedItem {
  readonly id: RawText;
  readonly url: RawText;
  readonly title: RawText;
  readonly summary: RawText;
  readonly html: RawText;
  readonly isSummaryHtml: boolean;
  readonly author: RawText;
  readonly publishedAt: RawText;
  readonly modifiedAt: RawText;
  readonly categories: readonly string[] | undefined;
  readonly image: RawText;
  readonly enclosures:
    | readonly { readonly url: RawText; readonly type: RawText; readonly bytes: number | undefined }[]
    | undefined;
}

export type RawFeed = { readonly [name in Exclude<keyof Feed, 'format' | 'items'>]: RawText } & {
  readonly format: Feed['format'];
};

export interface FeedReading {
  readonly feed: Feed;
  readonly links: readonly PageLink[];
  readonly problems: readonly DocumentProblem[];
}

const NAME_CHARS = 500;
/** Length of the excerpt that replaces a missing summary. */
const EXCERPT_CHARS = 1_000;
const MARKUP = /<[a-z!/]|&(?:#\d|#x|[a-z]{2,8};)/i;

const scanner = new HtmlScanner();

/** Collects the items of a feed of any format and normalizes their values. */
export class FeedBuilder {
  readonly #links: LinkList;
  readonly #hints: DateContext;
  readonly #items: FeedItem[] = [];
  #isFull = false;

  constructor(links: LinkList, hints: DateContext) {
    this.#links = links;
    this.#hints = hints;
  }

  addItem(written: RawFeedItem): void {
    if (this.#items.length >= DOCUMENT_LIMITS.feedItems) {
      this.#isFull = true;
      return;
    }
    const title = plain(written.title, DOCUMENT_LIMITS.titleChars);
    const html = value(written.html, DOCUMENT_LIMITS.feedHtmlChars);
    const summary = written.isSummaryHtml
      ? plainBlock(written.summary, DOCUMENT_LIMITS.feedValueChars)
      : value(written.summary, DOCUMENT_LIMITS.feedValueChars);
    this.#items.push({
      id: value(written.id, NAME_CHARS * 4),
      url: this.#links.add(written.url, title ?? ''),
      title,
      summary: summary ?? plainBlock(html, EXCERPT_CHARS),
      html,
      author: plain(written.author, NAME_CHARS),
      publishedAt: isoDateOf(written.publishedAt, this.#hints),
      modifiedAt: isoDateOf(written.modifiedAt, this.#hints),
      categories: names(written.categories ?? []),
      image: this.#links.resolve(written.image),
      enclosures: (written.enclosures ?? [])
        .slice(0, DOCUMENT_LIMITS.feedEnclosures)
        .flatMap(({ url, type, bytes }) => {
          const resolved = this.#links.add(url, '', 'enclosure');
          const length = bytes !== undefined && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null;
          return resolved === null ? [] : [{ url: resolved, type: value(type, NAME_CHARS), bytes: length }];
        }),
    });
  }

  finish(written: RawFeed): FeedReading {
    const nextUrl = this.#links.add(written.nextUrl, '', 'next');
    const url = this.#links.add(written.url);
    return {
      feed: {
        format: written.format,
        version: value(written.version, NAME_CHARS),
        title: plain(written.title, DOCUMENT_LIMITS.titleChars),
        description: plainBlock(written.description, DOCUMENT_LIMITS.feedValueChars),
        url,
        nextUrl,
        language: value(written.language, NAME_CHARS),
        author: plain(written.author, NAME_CHARS),
        image: this.#links.resolve(written.image),
        modifiedAt: isoDateOf(written.modifiedAt, this.#hints),
        items: this.#items,
      },
      links: this.#links.all,
      problems: this.#isFull
        ? [{ code: 'feed-too-large', message: `It has more than ${DOCUMENT_LIMITS.feedItems} items.` }]
        : [],
    };
  }
}

function value(written: RawText, limit: number): string | null {
  const text = cut(written ?? '', limit).trim();
  return text === '' ? null : text;
}

/** One line of text, without markup, which some feeds write into plain fields. */
function plain(written: RawText, limit: number): string | null {
  const source = cut(written ?? '', limit * 8);
  const text = MARKUP.test(source) ? decodeEntities(visibleText(scanner, source)) : source;
  return value(collapse(text, limit), limit);
}

function plainBlock(written: RawText, limit: number): string | null {
  // Markup may be most of the text; the rest beyond this limit is ignored.
  const source = cut(written ?? '', limit * 8);
  return value(MARKUP.test(source) ? visibleText(scanner, source) : source, limit);
}

function names(written: readonly string[]): string[] {
  const found = written.map((name) => collapse(name, NAME_CHARS)).filter((name) => name !== '');
  return [...new Set(found)].slice(0, DOCUMENT_LIMITS.feedCategories);
}

/** A feed as text and Markdown: its items in order, with link, date and author. */
export function renderFeed(feed: Feed, links: readonly PageLink[]): DocumentReading {
  const text = [lines(feed.title, feed.description), ...feed.items.map(itemText)];
  const markdown = [
    feed.title === null ? null : `# ${escaped(feed.title)}`,
    feed.description === null ? null : paragraphs(feed.description),
    ...feed.items.flatMap(itemMarkdown),
  ];
  return {
    kind: 'feed',
    title: feed.title,
    author: feed.author,
    modifiedAt: feed.modifiedAt,
    language: feed.language,
    text: joined(text),
    markdown: joined(markdown),
    feed,
    links,
  };
}

function itemText(item: FeedItem): string {
  const { publishedAt, modifiedAt, author } = item;
  return lines(item.title, item.url, byline(publishedAt ?? modifiedAt, author), item.summary);
}

function itemMarkdown(item: FeedItem): (string | null)[] {
  const title = escaped(item.title ?? item.url ?? 'Untitled');
  const line = byline(item.publishedAt ?? item.modifiedAt, item.author);
  return [
    item.url === null ? `## ${title}` : `## [${title}](${percentEncoded(item.url)})`,
    line === null ? null : `*${escaped(line)}*`,
    item.summary === null ? null : paragraphs(item.summary),
  ];
}

function byline(moment: string | null, author: string | null): string | null {
  const line = [moment, author].filter((part) => part !== null).join(' · ');
  return line === '' ? null : line;
}

const escaped = (text: string): string => escapeMarkdown(text, false, false);

/** Lines of text, escaped for Markdown. */
function paragraphs(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeMarkdown(line, true, false))
    .join('\n');
}

const lines = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null).join('\n');
const joined = (parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part !== '').join('\n\n');

/** Brackets would end the link. */
function percentEncoded(url: string): string {
  return url.replace(
    /[()<>\s]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
}
