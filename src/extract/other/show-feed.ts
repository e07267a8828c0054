import type { PageLink } from '../../model/page.ts';
import { escapeMarkdown } from '../markdown/markdown-inline.ts';
import type { Feed, FeedItem, Reading } from './other-content.ts';

/** A feed as text and Markdown: its items with where, when and by whom, in their order. */
export function showFeed(feed: Feed, links: readonly PageLink[]): Reading {
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

/** Lines of text as they are, with nothing in them that would be read as mark-up. */
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
