import {
  compareWatched,
  type PageComparison,
  type WatchedPage,
  type WatchedText,
} from '../../extract/diff/compare-pages.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import type { PageFields } from '../../extract/diff/json-diff.ts';

/**
 * What the rules leave of a page as lines, which is how a monitor remembers and compares it: one line for each field, then
 * the lines of each text. Lines that begin with a control character say where a text begins, and never change.
 */
const FIELD = '\u0004';
const TEXT = '\u0005';
/** What follows is left out: no page that people read is longer. */
const MOST_LINES = 5_000;
const MOST_CHARS = 2_000;
/** The most characters of all lines together. */
const MOST_ALL_CHARS = 1_000_000;
/** The most characters that are read of a text, white space included. */
const MOST_READ_CHARS = 4_000_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they mark lines that are no text.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

export function linesOf({ texts, fields }: WatchedPage): readonly string[] {
  const ofFields = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${FIELD}${name}${FIELD}${JSON.stringify(value)}`);
  const ofTexts = texts.flatMap(({ name, text }) => [`${TEXT}${name}`, ...textLines(text)]);
  const lines = [...ofFields, ...ofTexts].slice(0, MOST_LINES);
  let chars = 0;
  const end = lines.findIndex((line) => {
    chars += line.length;
    return chars > MOST_ALL_CHARS;
  });
  return end < 0 ? lines : lines.slice(0, end);
}

function textLines(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.slice(0, MOST_READ_CHARS).split('\n')) {
    if (lines.length >= MOST_LINES) break;
    const plain = line.replace(CONTROL, ' ').replace(/\s+/g, ' ').trim();
    if (plain !== '') lines.push(plain.slice(0, MOST_CHARS));
  }
  return lines;
}

/** Whether the line is content, and not the beginning of a text. */
export const isContentLine = (line: string): boolean => !line.startsWith(TEXT);

/** The page that the lines were made of, as far as it is compared. */
export function pageOfLines(lines: readonly string[]): WatchedPage {
  const fields: Record<string, unknown> = {};
  const texts: { readonly name: string; readonly lines: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith(TEXT)) texts.push({ name: line.slice(TEXT.length), lines: [] });
    else if (line.startsWith(FIELD)) {
      const [, name = '', json = ''] = line.split(FIELD);
      fields[name] = parsedValue(json);
    } else texts.at(-1)?.lines.push(line);
  }
  return {
    textHash: null,
    fields: fields as PageFields,
    texts: texts.map(({ name, lines: own }): WatchedText => ({ name, text: own.join('\n') })),
    screenshot: null,
  };
}

function parsedValue(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // A value that was cut is compared as the text that is left.
    return json;
  }
}

/** Characters of a diff that are kept. */
const SHOWN_CHARS = 20_000;
const CONTEXT_CHARS = 80;

/** What changed between two contents, by the rules; without entries when it is less than the threshold. */
export function compareContents(
  before: readonly string[],
  after: readonly string[],
  { threshold }: Pick<DiffRules, 'threshold'>,
): PageComparison {
  const [from, to] = withSameTexts(pageOfLines(before), pageOfLines(after));
  return compareWatched(
    from,
    to,
    { threshold },
    { by: 'word', contextChars: CONTEXT_CHARS, shownChars: SHOWN_CHARS },
  );
}

/** Texts are compared in their order; a content that is empty has none of them. */
function withSameTexts(a: WatchedPage, b: WatchedPage): readonly [WatchedPage, WatchedPage] {
  const names = [...new Set([...a.texts, ...b.texts].map(({ name }) => name))];
  const filled = (page: WatchedPage): WatchedPage => ({
    ...page,
    texts: names.map((name) => page.texts.find((text) => text.name === name) ?? { name, text: '' }),
  });
  return [filled(a), filled(b)];
}
