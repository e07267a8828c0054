import { collapse } from '../white-space.ts';
import { fenced } from './fence.ts';
import { readJsonFeed } from './json-feed.ts';
import { findJson, isWalkable, type JsonSource } from './json-source.ts';
import { LinkList } from './link-list.ts';
import type { MomentHints } from './moment.ts';
import type { OtherProblem, Reading } from './other-content.ts';
import { OTHER_LIMITS } from './other-limits.ts';
import { prettyJson } from './pretty-json.ts';
import { showFeed } from './show-feed.ts';

const WEB_URL = /^https?:\/\/\S{3,}$/i;
const TITLES: readonly (readonly string[])[] = [
  ['title'],
  ['headline'],
  ['name'],
  ['info', 'title'],
  ['data', 'title'],
  ['data', 'name'],
];

/** Reads JSON; null when the text is none. `isDeclared`: broken JSON is then JSON too, with a problem. */
export function readJson(text: string, url: string, hints: MomentHints, isDeclared: boolean): Reading | null {
  if (text.length > OTHER_LIMITS.jsonChars) {
    if (!isDeclared) return null;
    return unread(text, {
      code: 'json-too-large',
      message: `It has more than ${OTHER_LIMITS.jsonChars} characters.`,
    });
  }
  const found = findJson(text);
  if (found === null) {
    if (!isDeclared) return null;
    return unread(text, { code: 'json-broken', message: 'It is said to be JSON, but is not.' });
  }
  if (!isWalkable(found.value)) {
    const message = `It is nested more than ${OTHER_LIMITS.jsonDepth} deep or has more than ${OTHER_LIMITS.jsonValues} values.`;
    return unread(text, { code: 'json-too-large', message });
  }
  return readFound(found, url, hints);
}

function unread(text: string, problem: OtherProblem): Reading {
  return {
    kind: 'json',
    text,
    markdown: fenced(text.slice(0, OTHER_LIMITS.textChars), 'json'),
    problems: [problem],
  };
}

function readFound(found: JsonSource, url: string, hints: MomentHints): Reading {
  const { value, source } = found;
  const feed = readJsonFeed(value, url, hints);
  if (feed !== null) return { ...showFeed(feed.feed, feed.links), json: value, problems: feed.problems };
  const text = prettyJson(source, OTHER_LIMITS.textChars + 1);
  const links = new LinkList(url, 'json');
  addLinks(value, links);
  const problems: OtherProblem[] = [];
  if (found.badLines > 0) {
    problems.push({ code: 'json-broken', message: `Lines that could not be read: ${found.badLines}.` });
  }
  if (found.isCut)
    problems.push({ code: 'json-too-large', message: 'Only the first lines of it were read.' });
  return {
    kind: 'json',
    title: titleOf(value),
    text,
    markdown: fenced(text, 'json'),
    json: value,
    links: links.all,
    problems,
  };
}

/** Whole values that are URLs, and what `href` says, which is how JSON that links does it. */
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
      open.push(...Object.values(next).slice(0, OTHER_LIMITS.links).reverse());
    }
  }
}

function titleOf(value: unknown): string | null {
  for (const path of TITLES) {
    let at: unknown = value;
    for (const key of path) at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    const title = typeof at === 'string' ? collapse(at, OTHER_LIMITS.titleChars) : '';
    if (title !== '') return title;
  }
  return null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
