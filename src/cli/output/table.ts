import type { Screen } from './screen.ts';

type Row = readonly string[];

const GAP = '  ';
/** A column is not cut below this: less says nothing. */
const LEAST_WIDTH = 20;
/** Values of details are wrapped where they have this room. */
const LEAST_ROOM = 8;
/** Cells that tell a state, by the colour that the state has. */
const STATE_COLOURS = {
  green: ['completed', 'done', 'ok', 'active', 'enabled', 'usable', 'delivered', 'ready', 'started', 'ADDED'],
  yellow: [
    'running',
    'queued',
    'waiting',
    'pending',
    'paused',
    'failing',
    'partially completed',
    'warn',
    'MODIFIED',
  ],
  red: ['failed', 'FAIL', 'denied', 'disabled', 'revoked', 'expired', 'dead', 'REMOVED'],
} as const;
const COLOUR_OF: ReadonlyMap<string, keyof typeof STATE_COLOURS> = new Map(
  Object.entries(STATE_COLOURS).flatMap(([colour, words]) =>
    words.map((word) => [word, colour as keyof typeof STATE_COLOURS] as const),
  ),
);

/** Characters that take two columns of a terminal: East Asian wide and full-width forms, and pictures. */
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]/u;
/** Accents and joiners, which are drawn onto the character before them. */
const DRAWN_ON = /\p{Mn}|\p{Me}|[\u200b-\u200f\u2060]/u;
const ONE_EACH = /^[\x20-\x7e]*$/;
const ELLIPSIS = '…';

const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * A list with a line of headings, two spaces between columns. On a terminal that is too narrow the widest columns are
 * cut a little, never the first, which names the row; else each row takes two lines. Where that is too narrow as well,
 * each row becomes a block with a line for each cell, and nothing is cut.
 */
export function table(screen: Screen, [head = [], ...rows]: readonly Row[]): string {
  const cells = rows.map((row) => row.map(harmlessText));
  const natural = head.map((title, column) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[column] ?? ''))),
  );
  const widths = screen.columns === null ? [natural] : arranged(natural, screen.columns);
  if (widths === null) return blocks(head, cells, screen);
  const split = widths[0]?.length ?? 0;
  const linesOf = (row: Row, paint: (text: string) => string): string =>
    widths
      .map((line, at) => {
        const part = at === 0 ? row.slice(0, split) : row.slice(split);
        return part.length === 0 ? '' : `${at === 0 ? '' : GAP}${lineOf(part, line, paint)}`;
      })
      .join('');
  return [
    linesOf(head, (text) => screen.paint('bold', text)),
    ...cells.map((row) => linesOf(row, (text) => painted(text, screen))),
  ].join('');
}

/** Names with their values, without headings: what is too long for the last column goes on in the next line. */
export function details(screen: Screen, rows: readonly Row[]): string {
  const last = Math.max(1, ...rows.map((row) => row.length)) - 1;
  const widths = Array.from({ length: last }, (_, column) =>
    Math.max(...rows.map((row) => textWidth(row[column] ?? ''))),
  );
  const margin = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const room = (screen.columns ?? Number.POSITIVE_INFINITY) - margin;
  return rows
    .map((row) => {
      const names = widths.map((width, column) => {
        const name = row[column] ?? '';
        return `${painted(name, screen)}${padText('', width - textWidth(name))}${GAP}`;
      });
      const value = harmlessText(row[last] ?? '');
      const [first = '', ...others] = room < LEAST_ROOM ? [value] : wrapText(value, room);
      const lines = [
        names.join('') + painted(first, screen),
        ...others.map((line) => ' '.repeat(margin) + line),
      ];
      return lines.map((line) => `${line.trimEnd()}\n`).join('');
    })
    .join('');
}

/** The widths of the columns of each line: one line, or two. Null when two are not enough. */
function arranged(natural: readonly number[], columns: number): readonly (readonly number[])[] | null {
  const one = fitted(natural, columns, 1);
  if (one !== null) return [one];
  let count = 0;
  for (let used = 0; count < natural.length; count += 1) {
    used += (natural[count] ?? 0) + (count === 0 ? 0 : GAP.length);
    if (used > columns) break;
  }
  const second = count === 0 ? null : fitted(natural.slice(count), columns - GAP.length, 0);
  return second === null ? null : [natural.slice(0, count), second];
}

/** The widths that fit together, with the first `whole` columns uncut; null when there are none. */
function fitted(natural: readonly number[], columns: number, whole: number): readonly number[] | null {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - columns;
  while (excess > 0) {
    const others = widths.slice(whole);
    const widest = Math.max(0, ...others);
    if (widest <= LEAST_WIDTH) return null;
    // The widest one gives as much as makes it equal to the next, so that no column is cut more than it must.
    const next = Math.max(LEAST_WIDTH, ...others.filter((width) => width < widest));
    const given = Math.min(excess, widest - next);
    widths[others.lastIndexOf(widest) + whole] = widest - given;
    excess -= given;
  }
  return widths;
}

function lineOf(row: Row, widths: readonly number[], paint: (text: string) => string): string {
  const cells = row.map((cell, column) => {
    const width = widths[column] ?? textWidth(cell);
    const shown = cutText(cell, width);
    const spaces = column === row.length - 1 ? '' : padText('', width - textWidth(shown));
    return (shown === '' ? '' : paint(shown)) + spaces;
  });
  return `${cells.join(GAP).trimEnd()}\n`;
}

function blocks(head: Row, rows: readonly Row[], screen: Screen): string {
  return rows
    .map((row) =>
      details(
        screen,
        row.map((cell, column) => [head[column] ?? '', cell]),
      ),
    )
    .join('\n');
}

function painted(text: string, screen: Screen): string {
  const colour = COLOUR_OF.get(text);
  return colour === undefined ? text : screen.paint(colour, text);
}

const widthOfCharacter = (character: string): number =>
  DRAWN_ON.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;

/** Columns of a terminal that the text takes. */
export function textWidth(text: string): number {
  if (ONE_EACH.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** The text with spaces behind it, so that it takes so many columns. */
const padText = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));

/** The text, or as much of its beginning as fits, with an ellipsis in place of the rest. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width) break;
    cut += character;
  }
  return cut.trimEnd() + ELLIPSIS;
}

/** The text in lines of at most so many columns, broken between words; a longer word is broken anywhere. */
export function wrapText(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  const end = (): void => {
    lines.push(line);
    line = '';
  };
  for (const word of text.split(/ +/)) {
    if (line !== '' && textWidth(line) + 1 + textWidth(word) > width) end();
    if (line !== '') line += ' ';
    for (const character of word) {
      if (textWidth(line) + widthOfCharacter(character) > width) end();
      line += character;
    }
  }
  if (line !== '') end();
  return lines;
}

/** Text of a page on one line, without what could control a terminal. */
export const harmlessText = (text: string): string => text.replace(CONTROL, ' ');
