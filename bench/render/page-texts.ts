import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';

/** What each page shows, by its path. */
export type PageTexts = ReadonlyMap<string, string>;

interface Line {
  readonly url: string;
  readonly html: string | null;
}

/** The words of a document in their order, without what is not shown. */
export function textOf(html: string): string {
  const parts: string[] = [];
  let hidden = 0;
  const isHidden = (name: string) => name === 'script' || name === 'style' || name === 'head';
  const parser = new Parser({
    onopentag(name) {
      if (isHidden(name)) hidden += 1;
      parts.push(' ');
    },
    ontext(text) {
      if (hidden === 0) parts.push(text);
    },
    onclosetag(name) {
      if (isHidden(name)) hidden -= 1;
      parts.push(' ');
    },
  });
  parser.end(html);
  return parts.join('').replace(/\s+/g, ' ').trim();
}

const byPath = (lines: readonly Line[]): PageTexts =>
  new Map(lines.map(({ url, html }) => [new URL(url).pathname, html === null ? '' : textOf(html)]));

/** Reads the texts from `pages.ndjson`. */
export function textsOfLines(file: string): PageTexts {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return byPath(lines.map((line) => JSON.parse(line) as Line));
}

/** Reads the texts from a folder with one JSON file per page, as Crawlee writes them. */
export function textsOfFolder(folder: string): PageTexts {
  const files = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  return byPath(files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Line));
}

/** Paths whose text is not the same on both sides, or that only one of them has. */
export function differences(one: PageTexts, other: PageTexts): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
}
