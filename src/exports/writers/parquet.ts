import {
  type BasicType,
  ByteWriter,
  type ColumnSource,
  ParquetWriter,
  schemaFromColumnData,
} from 'hyparquet-writer';
import type { Cell, Column, ColumnType, Row, Table, TableOptions } from '../table/table.ts';

/** A row group ends with the first of these: it is held in memory while it is encoded. */
const GROUP_ROWS = 10_000;
const GROUP_CHARS = 4_194_304;

const TYPES: Readonly<Record<ColumnType, BasicType>> = {
  string: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  json: 'STRING',
};

/** The least and the greatest text of each group are held until the end of the file. */
const MOST_STATISTIC_CHARS = 64;

type Value = Cell | bigint | Date | undefined;

/** As the encoder wants it. Null for what the type of the column cannot hold. */
const READERS: Readonly<Record<ColumnType, (value: Cell) => Value>> = {
  string: (value) => (value === null ? null : String(value).toWellFormed()),
  integer: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  timestamp: (value) => dateOf(value),
  json: (value) => (value === null ? null : String(value)),
};

function dateOf(value: Cell): Date | null {
  const date = typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}

/** A Parquet file with a typed column for each of the table, all of them nullable, in row groups of a bounded size. */
export async function* writeParquet(table: Table, { onRows }: TableOptions): AsyncGenerator<Uint8Array> {
  const { columns } = table;
  const sink = new ByteWriter();
  function* written(): Generator<Uint8Array> {
    const bytes = new Uint8Array(sink.getBuffer());
    sink.index = 0;
    if (bytes.length > 0) yield bytes;
  }
  const sourcesOf = (rows: readonly Row[]): ColumnSource[] =>
    columns.map((column, at) => ({
      name: column.name,
      type: TYPES[column.type],
      nullable: true,
      data: valuesOf(rows, column, at) as ColumnSource['data'],
    }));
  const writer = new ParquetWriter({
    writer: sink,
    schema: schemaFromColumnData({ columnData: sourcesOf([]) }),
  });
  let group: Row[] = [];
  let chars = 0;
  const flush = () => {
    writer.write({ columnData: sourcesOf(group), rowGroupSize: Math.max(1, group.length) });
    dropLongStatistics(writer);
    group = [];
    chars = 0;
  };
  for await (const rows of table.rows()) {
    for (const row of rows) {
      group.push(row);
      for (const cell of row) chars += typeof cell === 'string' ? cell.length : 8;
      if (group.length < GROUP_ROWS && chars < GROUP_CHARS) continue;
      flush();
      yield* written();
    }
    onRows(rows.length);
  }
  if (group.length > 0) flush();
  writer.finish();
  yield* written();
}

function valuesOf(rows: readonly Row[], { type }: Column, at: number): Value[] {
  const read = READERS[type];
  return rows.map((row) => read(row[at] ?? null));
}

/** Readers skip groups by short values, such as URLs; whole pages would only be kept in memory for it. */
function dropLongStatistics({ row_groups: groups }: ParquetWriter): void {
  const isLong = (value: unknown) =>
    (typeof value === 'string' || value instanceof Uint8Array) && value.length > MOST_STATISTIC_CHARS;
  for (const { meta_data: facts } of groups.at(-1)?.columns ?? []) {
    const { min_value: min, max_value: max } = facts?.statistics ?? {};
    if (facts !== undefined && (isLong(min) || isLong(max))) delete facts.statistics;
  }
}
