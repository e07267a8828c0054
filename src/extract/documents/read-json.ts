import { z } from 'zod';
import { codeFence } from '../content/render/markdown-inline.ts';
import { collapse } from '../html/page-text.ts';
import {
  type DateContext,
  type DocumentProblem,
  type DocumentReading,
  LinkList,
} from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { FeedBuilder, type FeedReading, renderFeed } from './feed.ts';
import { findJson, isWalkable, type JsonSource, prettyJson } from './json-text.ts';

const WEB_URL = /^https?:\/\/\S{3,}$/i;
const TITLES: readonly (readonly string[])[] = [
  ['title'],
  ['headline'],
  ['name'],
  ['info', 'title'],
  ['data', 'title'],
  ['data', 'name'],
];

/** Values of a wrong type are treated as missing: one odd value must not lose the feed. */
const text = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const person = z.object({ name: text, url: text }).optional().catch(undefined);
const people = z.array(person).optional().catch(undefined);

const item = z.object({
  id: text,
  url: text,
  external_url: text,
  title: text,
  summary: text,
  content_html: text,
  content_text: text,
  date_published: text,
  date_modified: text,
  author: person,
  authors: people,
  image: text,
  banner_image: text,
  tags: z.array(text).optional().catch(undefined),
  attachments: z
    .array(z.object({ url: text, mime_type: text, size_in_bytes: z.number().optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
const feed = z.object({
  version: z.string().regex(/^https?:\/\/(?:www\.)?jsonfeed\.org\/version\//i),
  title: text,
  home_page_url: text,
  next_url: text,
  description: text,
  language: text,
  icon: text,
  favicon: text,
  author: person,
  authors: people,
  items: z.array(z.unknown()),
});

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

type Person = z.infer<typeof person>;

/** Reads a JSON Feed; null for any other value. */
function readJsonFeed(value: unknown, url: string, hints: DateContext): FeedReading | null {
  const parsed = feed.safeParse(value);
  if (!parsed.success) return null;
  const { data } = parsed;
  const draft = new FeedBuilder(new LinkList(url, 'feed'), {
    ...hints,
    locale: data.language ?? hints.locale,
  });
  for (const each of data.items.slice(0, DOCUMENT_LIMITS.feedItems + 1)) {
    const entry = item.safeParse(each);
    if (!entry.success) continue;
    const { data: found } = entry;
    draft.addItem({
      id: found.id,
      url: found.url ?? found.external_url,
      title: found.title,
      summary: found.summary ?? found.content_text,
      html: found.content_html,
      isSummaryHtml: false,
      author: nameOf(found.authors, found.author),
      publishedAt: found.date_published,
      modifiedAt: found.date_modified,
      categories: found.tags?.filter((tag) => tag !== undefined),
      image: found.image ?? found.banner_image,
      enclosures: found.attachments?.map((each) => ({
        url: each.url,
        type: each.mime_type,
        bytes: each.size_in_bytes,
      })),
    });
  }
  return draft.finish({
    format: 'json',
    version: data.version.slice(data.version.lastIndexOf('/') + 1),
    title: data.title,
    description: data.description,
    url: data.home_page_url,
    nextUrl: data.next_url,
    language: data.language,
    author: nameOf(data.authors, data.author),
    image: data.icon ?? data.favicon,
    modifiedAt: undefined,
  });
}

function nameOf(all: readonly Person[] | undefined, single: Person): string | undefined {
  const names = [...(all ?? []), single].map((each) => each?.name).filter((name) => name !== undefined);
  return names.length === 0 ? undefined : [...new Set(names)].join(', ');
}
