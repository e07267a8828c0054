import type { PageLink } from '../../model/page.ts';
import { HtmlScanner } from '../scanner.ts';
import { visibleText } from '../visible-text.ts';
import { collapse, cut, decodeText } from '../white-space.ts';
import type { LinkList } from './link-list.ts';
import { type MomentHints, momentOf } from './moment.ts';
import type { Feed, FeedItem, OtherProblem } from './other-content.ts';
import { OTHER_LIMITS } from './other-limits.ts';

type Written = string | null | undefined;

/** An item as it is written in the feed. */
export interface WrittenItem {
  readonly id: Written;
  readonly url: Written;
  readonly title: Written;
  readonly summary: Written;
  readonly html: Written;
  readonly isSummaryHtml: boolean;
  readonly author: Written;
  readonly publishedAt: Written;
  readonly modifiedAt: Written;
  readonly categories: readonly string[] | undefined;
  readonly image: Written;
  readonly enclosures:
    | readonly { readonly url: Written; readonly type: Written; readonly bytes: number | undefined }[]
    | undefined;
}

export type WrittenFeed = { readonly [name in Exclude<keyof Feed, 'format' | 'items'>]: Written } & {
  readonly format: Feed['format'];
};

export interface FeedReading {
  readonly feed: Feed;
  readonly links: readonly PageLink[];
  readonly problems: readonly OtherProblem[];
}

const NAME_CHARS = 500;
/** What stands for a summary that the feed does not have: the beginning of the content. */
const EXCERPT_CHARS = 1_000;
const MARKUP = /<[a-z!/]|&(?:#\d|#x|[a-z]{2,8};)/i;

const scanner = new HtmlScanner();

/** Collects the items of a feed, whatever it is written in, and gives all values the one form they have. */
export class FeedDraft {
  readonly #links: LinkList;
  readonly #hints: MomentHints;
  readonly #items: FeedItem[] = [];
  #isFull = false;

  constructor(links: LinkList, hints: MomentHints) {
    this.#links = links;
    this.#hints = hints;
  }

  addItem(written: WrittenItem): void {
    if (this.#items.length >= OTHER_LIMITS.feedItems) {
      this.#isFull = true;
      return;
    }
    const title = plain(written.title, OTHER_LIMITS.titleChars);
    const html = value(written.html, OTHER_LIMITS.feedHtmlChars);
    const summary = written.isSummaryHtml
      ? plainBlock(written.summary, OTHER_LIMITS.feedValueChars)
      : value(written.summary, OTHER_LIMITS.feedValueChars);
    this.#items.push({
      id: value(written.id, NAME_CHARS * 4),
      url: this.#links.add(written.url, title ?? ''),
      title,
      summary: summary ?? plainBlock(html, EXCERPT_CHARS),
      html,
      author: plain(written.author, NAME_CHARS),
      publishedAt: momentOf(written.publishedAt, this.#hints),
      modifiedAt: momentOf(written.modifiedAt, this.#hints),
      categories: names(written.categories ?? []),
      image: this.#links.resolve(written.image),
      enclosures: (written.enclosures ?? [])
        .slice(0, OTHER_LIMITS.feedEnclosures)
        .flatMap(({ url, type, bytes }) => {
          const resolved = this.#links.add(url, '', 'enclosure');
          const length = bytes !== undefined && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null;
          return resolved === null ? [] : [{ url: resolved, type: value(type, NAME_CHARS), bytes: length }];
        }),
    });
  }

  finish(written: WrittenFeed): FeedReading {
    const nextUrl = this.#links.add(written.nextUrl, '', 'next');
    const url = this.#links.add(written.url);
    return {
      feed: {
        format: written.format,
        version: value(written.version, NAME_CHARS),
        title: plain(written.title, OTHER_LIMITS.titleChars),
        description: plainBlock(written.description, OTHER_LIMITS.feedValueChars),
        url,
        nextUrl,
        language: value(written.language, NAME_CHARS),
        author: plain(written.author, NAME_CHARS),
        image: this.#links.resolve(written.image),
        modifiedAt: momentOf(written.modifiedAt, this.#hints),
        items: this.#items,
      },
      links: this.#links.all,
      problems: this.#isFull
        ? [{ code: 'feed-too-large', message: `It has more than ${OTHER_LIMITS.feedItems} items.` }]
        : [],
    };
  }
}

function value(written: Written, limit: number): string | null {
  const text = cut(written ?? '', limit).trim();
  return text === '' ? null : text;
}

/** One line of text, without the mark-up that some feeds put where none belongs. */
function plain(written: Written, limit: number): string | null {
  const source = cut(written ?? '', limit * 8);
  const text = MARKUP.test(source) ? decodeText(visibleText(scanner, source)) : source;
  return value(collapse(text, limit), limit);
}

function plainBlock(written: Written, limit: number): string | null {
  // Mark-up may be most of it; what is beyond this is not looked at.
  const source = cut(written ?? '', limit * 8);
  return value(MARKUP.test(source) ? visibleText(scanner, source) : source, limit);
}

function names(written: readonly string[]): string[] {
  const found = written.map((name) => collapse(name, NAME_CHARS)).filter((name) => name !== '');
  return [...new Set(found)].slice(0, OTHER_LIMITS.feedCategories);
}
