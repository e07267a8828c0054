import type { Cell } from '../content/outline-content.ts';
import { markdownInline } from './markdown-inline.ts';

/** Rows as a table. Its first row is the head, because Markdown has no table without one. */
export function markdownTable(rows: readonly (readonly Cell[])[]): string {
  const lines = rows.map((row) =>
    row.flatMap(({ run, columns }) => [
      markdownInline(run, { isHeading: false, isCell: true }),
      ...new Array<string>(columns - 1).fill(''),
    ]),
  );
  const width = lines.reduce((most, { length }) => Math.max(most, length), 0);
  const [head = [], ...body] = lines;
  const rule = new Array<string>(width).fill('---');
  return [head, rule, ...body].map((cells) => lineOf(cells, width)).join('\n');
}

function lineOf(cells: readonly string[], width: number): string {
  const full = [...cells, ...new Array<string>(width - cells.length).fill('')];
  return `| ${full.join(' | ')} |`;
}
