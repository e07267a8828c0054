import { codeFence } from '../content/render/markdown-inline.ts';
import { collapse } from '../html/white-space.ts';
import type { DateContext, DocumentProblem, DocumentReading } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { renderFeed } from './feed.ts';
import { readJsonFeed } from './json-feed.ts';
import { findJson, isWalkable, type JsonSource, prettyJson } from './json-text.ts';
import { LinkList } from './link-list.ts';

const WEB_URL = /^https?:\/\/\S{3,}$/i;
const TITLES: readonly (readonly string[])[] = [
  ['title'],
  ['headline'],
  ['name'],
  ['info', 'title'],
  ['data', 'title'],
  ['data', 'name'],
];

/** Reads JSON; null for any other text. With `isDeclared`, broken JSON is JSON with a problem. */
export function readJson(
  text: string,
  url: string,
  hints: DateContext,
  isDeclared: boolean,
): DocumentReading | null {
  if (text.length > DOCUMENT_LIMITS.jsonChars) {
    if (!isDeclared) return null;
    return unread(text, {
      code: 'json-too-large',
      message: `It has more than ${DOCUMENT_LIMITS.jsonChars} characters.`,
    });
  }
  const found = findJson(text);
  if (found === null) {
    if (!isDeclared) return null;
    return unread(text, { code: 'json-broken', message: 'It is said to be JSON, but is not.' });
  }
  if (!isWalkable(found.value)) {
    const message = `It is nested more than ${DOCUMENT_LIMITS.jsonDepth} deep or has more than ${DOCUMENT_LIMITS.jsonValues} values.`;
    return unread(text, { code: 'json-too-large', message });
  }
  return readFound(found, url, hints);
}

function unread(text: string, problem: DocumentProblem): DocumentReading {
  return {
    kind: 'json',
    text,
    markdown: codeFence(text.slice(0, DOCUMENT_LIMITS.textChars), 'json'),
    problems: [problem],
  };
}

function readFound(found: JsonSource, url: string, hints: DateContext): DocumentReading {
  const { value, source } = found;
  const feed = readJsonFeed(value, url, hints);
  if (feed !== null) return { ...renderFeed(feed.feed, feed.links), json: value, problems: feed.problems };
  const text = prettyJson(source, DOCUMENT_LIMITS.textChars + 1);
  const links = new LinkList(url, 'json');
  addLinks(value, links);
  const problems: DocumentProblem[] = [];
  if (found.badLines > 0) {
    problems.push({ code: 'json-broken', message: `Lines that could not be read: ${found.badLines}.` });
  }
  if (found.isCut)
    problems.push({ code: 'json-too-large', message: 'Only the first lines of it were read.' });
  return {
    kind: 'json',
    title: titleOf(value),
    text,
    markdown: codeFence(text, 'json'),
    json: value,
    links: links.all,
    problems,
  };
}

/** Adds string values that are URLs, and the values of `href`. */
function addLinks(value: unknown, links: LinkList): void {
  const open: unknown[] = [value];
  while (open.length > 0 && !links.isFull) {
    const next = open.pop();
    if (typeof next === 'string') {
      if (WEB_URL.test(next)) links.add(next);
    } else if (Array.isArray(next)) {
      for (let at = next.length - 1; at >= 0; at--) open.push(next[at]);
    } else if (typeof next === 'object' && next !== null) {
      const { href, title } = next as { readonly href?: unknown; readonly title?: unknown };
      if (typeof href === 'string') links.add(href, typeof title === 'string' ? title : '');
      open.push(...Object.values(next).slice(0, DOCUMENT_LIMITS.links).reverse());
    }
  }
}

function titleOf(value: unknown): string | null {
  for (const path of TITLES) {
    let at: unknown = value;
    for (const key of path) at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    const title = typeof at === 'string' ? collapse(at, DOCUMENT_LIMITS.titleChars) : '';
    if (title !== '') return title;
  }
  return null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
