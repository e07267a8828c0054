import { collapse } from '../white-space.ts';
import { fenced } from './fence.ts';
import { LinkList } from './link-list.ts';
import type { Reading } from './other-content.ts';
import { OTHER_LIMITS } from './other-limits.ts';

/** Types and names of files whose text is code, and what Markdown calls it. */
const CODE: readonly (readonly [RegExp, string])[] = [
  [/javascript|ecmascript|\.m?js$/, 'js'],
  [/typescript|\.ts$/, 'ts'],
  [/\/css|\.css$/, 'css'],
  [/yaml|\.ya?ml$/, 'yaml'],
  [/\/toml|\.toml$/, 'toml'],
  [/\/(?:x-)?sql|\.sql$/, 'sql'],
  [/x-sh|shellscript|\.sh$/, 'sh'],
  [/x-python|\.py$/, 'python'],
  [/calendar|\.ics$/, 'ics'],
];
const MARKDOWN = /markdown|\.(?:md|markdown)$/;
const HEADING = /^#{1,6}\s+(.{1,1000})$/m;
const HEAD_CHARS = 10_000;

/** Reads plain text. Markdown and prose are Markdown already; code becomes a block of it. */
export function readText(text: string, type: string, url: string): Reading {
  const path = URL.parse(url)?.pathname.toLowerCase() ?? '';
  const isMarkdown = MARKDOWN.test(type) || MARKDOWN.test(path);
  const language = CODE.find(
    ([pattern]) => pattern.test(type) || (type === 'text/plain' && pattern.test(path)),
  )?.[1];
  const links = new LinkList(url, 'text');
  links.addFrom(text);
  const heading = isMarkdown ? HEADING.exec(text.slice(0, HEAD_CHARS))?.[1] : undefined;
  const title =
    heading === undefined ? '' : collapse(heading.replace(/\s#+\s*$/, ''), OTHER_LIMITS.titleChars);
  return {
    kind: 'text',
    title: title === '' ? null : title,
    text,
    markdown: language === undefined ? text : fenced(text, language),
    links: links.all,
  };
}
