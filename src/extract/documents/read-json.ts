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

/** JSON found in a text. */
interface JsonSource {
  readonly value: unknown;
  /** The JSON without the text around it; for JSON lines, their values as one list. */
  readonly source: string;
  /** Lines that could not be read. */
  readonly badLines: number;
  /** True when there are more lines than the limit. */
  readonly isCut: boolean;
}

/** Prefixes that keep other sites from running the response as a script. */
const GUARD = /^(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);|throw [^;]{1,40};)\s*/;
const CALLBACK = /^(?:\/\*\*\/)?\s*[A-Za-z_$][\w$.]{0,100}\s*\(\s*(?=[{[])/;
const CALL_END = /\)\s*;?\s*$/;
const LINE_LIMIT = 200_000;

/** Reads JSON: plain, guarded against scripts, in a call (JSONP), or a value on each line. Null for any other text. */
function findJson(text: string): JsonSource | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return one(trimmed) ?? one(unwrapped(trimmed)) ?? lines(trimmed);
}

function one(source: string | null): JsonSource | null {
  if (source === null) return null;
  try {
    return { value: JSON.parse(source) as unknown, source, badLines: 0, isCut: false };
  } catch {
    return null;
  }
}

function unwrapped(text: string): string | null {
  const guarded = GUARD.exec(text);
  if (guarded !== null) return text.slice(guarded[0].length);
  const call = CALLBACK.exec(text);
  if (call === null) return null;
  // Only the end is searched: the pattern would try every space of a long text.
  const tail = text.slice(-100);
  const end = CALL_END.exec(tail);
  return end === null ? null : text.slice(call[0].length, text.length - tail.length + end.index);
}

/** A value on each line. A few invalid lines are skipped: a truncated file has one. */
function lines(text: string): JsonSource | null {
  if (!/^[{[]/.test(text)) return null;
  const values: unknown[] = [];
  const sources: string[] = [];
  let badLines = 0;
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end).trim();
    start = end === -1 ? text.length : end + 1;
    if (line === '') continue;
    const read = /^[{[]/.test(line) ? one(line) : null;
    if (read === null) {
      badLines++;
      // JSON that is broken somewhere has lines too, but hardly any of them is whole.
      if (badLines > 3 && badLines > values.length / 10) return null;
    } else {
      values.push(read.value);
      sources.push(line);
      if (values.length >= LINE_LIMIT) break;
    }
  }
  if (values.length < 2) return null;
  return { value: values, source: `[${sources.join(',')}]`, badLines, isCut: start < text.length };
}

/** True when a value is neither too deep nor too large to be walked through. */
function isWalkable(value: unknown): boolean {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DOCUMENT_LIMITS.jsonDepth) return false;
    count += level.length;
    if (count > DOCUMENT_LIMITS.jsonValues) return false;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      for (const child of Object.values(each)) next.push(child);
    }
    level = next;
  }
  return true;
}

const INDENT = '  ';

/**
 * Valid JSON with a line for each value. It works on the text itself, so that numbers stay as they were written and keys
 * that stand twice stay both. Cut after `limit` characters.
 */
function prettyJson(json: string, limit: number): string {
  const out: string[] = [];
  let length = 0;
  let depth = 0;
  const put = (piece: string): void => {
    out.push(piece);
    length += piece.length;
  };
  const breakLine = (): void => put(`\n${INDENT.repeat(depth)}`);
  let at = 0;
  while (at < json.length && length < limit) {
    const char = json[at] ?? '';
    if (char === '"') {
      const end = stringEnd(json, at);
      put(json.slice(at, end));
      at = end;
    } else if (char === '{' || char === '[') {
      const next = skipSpace(json, at + 1);
      if (json[next] === '}' || json[next] === ']') {
        put(char + json[next]);
        at = next + 1;
        continue;
      }
      depth++;
      put(char);
      breakLine();
      at = next;
    } else if (char === '}' || char === ']') {
      depth--;
      breakLine();
      put(char);
      at++;
    } else if (char === ',') {
      put(char);
      breakLine();
      at++;
    } else if (char === ':') {
      put(': ');
      at++;
    } else if (isSpace(char)) at++;
    else {
      const end = literalEnd(json, at);
      put(json.slice(at, end));
      at = end;
    }
  }
  const text = out.join('');
  return text.length > limit ? text.slice(0, limit) : text;
}

function stringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const char = json[at];
    if (char === '\\') at++;
    else if (char === '"') return at + 1;
  }
  return json.length;
}

function literalEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && !',]}'.includes(json[at] ?? '') && !isSpace(json[at] ?? '')) at++;
  return at;
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (at < json.length && isSpace(json[at] ?? '')) at++;
  return at;
}

const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t';
