import { harmlessText } from './harmless-text.ts';
import type { Screen } from './screen.ts';
import { cutText, padText, textWidth, wrapText } from './text-width.ts';

type Row = readonly string[];

const GAP = '  ';
/** A column is not cut below this: less says nothing. */
const LEAST_WIDTH = 8;
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

/**
 * A list with a line of headings, two spaces between columns. On a terminal that is too narrow the widest columns are
 * cut, never the first, which names the row; where even that is too wide, each row becomes a block of lines, uncut.
 */
export function table(screen: Screen, [head = [], ...rows]: readonly Row[]): string {
  const cells = rows.map((row) => row.map(harmlessText));
  const natural = head.map((title, column) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[column] ?? ''))),
  );
  const widths = screen.columns === null ? natural : fitted(natural, screen.columns);
  if (widths === null) return blocks(head, cells, screen);
  return [
    lineOf(head, widths, (text) => screen.paint('bold', text)),
    ...cells.map((row) => lineOf(row, widths, (text) => painted(text, screen))),
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
      const [first = '', ...others] = room < LEAST_WIDTH ? [value] : wrapText(value, room);
      const lines = [
        names.join('') + painted(first, screen),
        ...others.map((line) => ' '.repeat(margin) + line),
      ];
      return lines.map((line) => `${line.trimEnd()}\n`).join('');
    })
    .join('');
}

/** The widths of columns that fit together; null when there are none. */
function fitted(natural: readonly number[], columns: number): readonly number[] | null {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - columns;
  while (excess > 0) {
    const [, ...others] = widths;
    const widest = Math.max(0, ...others);
    if (widest <= LEAST_WIDTH) return null;
    // The widest one gives as much as makes it equal to the next, so that no column is cut more than it must.
    const at = others.lastIndexOf(widest) + 1;
    const next = Math.max(LEAST_WIDTH, ...others.filter((width) => width < widest));
    const given = Math.min(excess, Math.max(1, widest - next));
    widths[at] = widest - given;
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
