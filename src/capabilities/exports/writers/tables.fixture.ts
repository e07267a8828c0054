import type { Column, Row, Table, TableOptions, TableWriter } from '../table.ts';

/** A table of rows at hand, in batches of two. */
export const tableOf = (columns: readonly Column[], rows: readonly Row[]): Table => ({
  columns,
  async *rows() {
    for (let at = 0; at < rows.length; at += 2) yield rows.slice(at, at + 2);
  },
});

const OPTIONS: TableOptions = { title: 'full', isLarge: false, excel: false, onRows: () => undefined };

export async function bytesOf(
  write: TableWriter,
  table: Table,
  options: Partial<TableOptions> = {},
): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(write(table, { ...OPTIONS, ...options })));
}

/** Cells that break writers and their readers. */
export const HOSTILE_TEXTS: readonly string[] = [
  '=1+1',
  '+49 30 1234',
  '-2+3',
  '-5',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  "'=1",
  "'plain",
  '＝1+1',
  'a,b',
  'say "hi"',
  'two\r\nlines',
  ' leading and trailing ',
  '</script><script>alert(1)</script>',
  '_x000D_ and _X0041_',
  '😀 grinning',
  'x'.repeat(1_048_576),
  '',
];
