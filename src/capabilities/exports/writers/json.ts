import type { Cell, Column, Row, Table, TableOptions, TableWriters } from '../table.ts';

const CHUNK_CHARS = 131_072;

/** Rows of a table as JSON texts. Cells that are JSON already stand in them as they are. */
async function* objectsOf({ columns, rows }: Table): AsyncGenerator<readonly string[]> {
  const names = columns.map(({ name }) => name);
  const hasJson = columns.some(({ type }) => type === 'json');
  for await (const batch of rows()) {
    yield batch.map((row) => (hasJson ? textOf(row, columns) : JSON.stringify(objectOf(row, names))));
  }
}

/** Always made in the same order, so that all rows have one shape, which JSON.stringify writes fastest. */
function objectOf(row: Row, names: readonly string[]): Record<string, Cell> {
  const object: Record<string, Cell> = {};
  for (let at = 0; at < names.length; at += 1) object[names[at] ?? ''] = row[at] ?? null;
  return object;
}

function textOf(row: Row, columns: readonly Column[]): string {
  const cells = columns.map(({ name, type }, at) => {
    const value = row[at] ?? null;
    const isJson = type === 'json' && typeof value === 'string';
    return `${JSON.stringify(name)}:${isJson ? value : JSON.stringify(value)}`;
  });
  return `{${cells.join(',')}}`;
}

async function* texts(
  table: Table,
  { onRows }: TableOptions,
  {
    start,
    between,
    end,
  }: { readonly start: string; readonly between: string; readonly end: (isEmpty: boolean) => string },
): AsyncGenerator<Uint8Array> {
  let text = start;
  let isFirst = true;
  for await (const objects of table.objects?.() ?? objectsOf(table)) {
    for (const object of objects) {
      text += isFirst ? object : between + object;
      isFirst = false;
      if (text.length < CHUNK_CHARS) continue;
      yield Buffer.from(text);
      text = '';
    }
    onRows(objects.length);
  }
  text += end(isFirst);
  if (text !== '') yield Buffer.from(text);
}

/** One array of objects, an object per line. */
export const writeJson = (table: Table, options: TableOptions) =>
  texts(table, options, { start: '[', between: ',\n', end: () => ']\n' });

/** One object per line. */
export const writeNdjson = (table: Table, options: TableOptions) =>
  texts(table, options, { start: '', between: '\n', end: (isEmpty) => (isEmpty ? '' : '\n') });

export const writers = { json: writeJson, ndjson: writeNdjson } satisfies TableWriters;
