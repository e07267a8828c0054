import {
  type BasicType,
  ByteWriter,
  type ColumnSource,
  ParquetWriter,
  schemaFromColumnData,
} from 'hyparquet-writer';
import type { Cell, ColumnType, Table, TableOptions, TableWriters } from '../table.ts';

/** A row group ends with the first of these: it is held in memory until it is encoded. */
const GROUP_ROWS = 10_000;
const GROUP_BYTES = 2_097_152;
const FIRST_BYTES = 65_536;
/** A character of UTF-16 takes at most this many bytes of UTF-8. */
const MOST_BYTES_PER_CHAR = 3;

const TYPES: Readonly<Record<ColumnType, BasicType>> = {
  string: 'STRING',
  integer: 'INT64',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
  json: 'STRING',
};

/** The least and the greatest text of each group are held until the end of the file. */
const MOST_STATISTIC_BYTES = 64;

type Value = Cell | bigint | Date | Uint8Array;

/** As the encoder wants it. Null for what the type of the column cannot hold. */
const READERS: Readonly<Record<Exclude<ColumnType, 'string' | 'json'>, (value: Cell) => Value>> = {
  integer: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  timestamp: (value) => dateOf(value),
};

function dateOf(value: Cell): Date | null {
  const date = typeof value === 'string' ? new Date(value) : null;
  return date === null || Number.isNaN(date.getTime()) ? null : date;
}

/** The cells of one column in the group that is being gathered. */
interface GroupColumn {
  /** Returns about how many bytes the cell takes. */
  add(value: Cell): number;
  readonly length: number;
  values(): Value[];
  clear(): void;
}

function plainColumn(type: Exclude<ColumnType, 'string' | 'json'>): GroupColumn {
  const read = READERS[type];
  let cells: Cell[] = [];
  return {
    add: (value) => {
      cells.push(value);
      return 8;
    },
    get length() {
      return cells.length;
    },
    values: () => cells.map(read),
    clear: () => {
      cells = [];
    },
  };
}

/**
 * Texts are kept as bytes, in memory that the next group uses again: strings that live as long as a group would leave the
 * heap full of garbage that is collected late. A half of a surrogate pair becomes U+FFFD.
 */
function textColumn(): GroupColumn {
  let bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Where each text ends; of a null, -1. */
  let ends: number[] = [];
  let used = 0;
  return {
    add(value) {
      if (value === null) {
        ends.push(-1);
        return 0;
      }
      const text = String(value);
      const most = used + text.length * MOST_BYTES_PER_CHAR;
      if (most > bytes.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(most, bytes.length * 2));
        bytes.copy(larger, 0, 0, used);
        bytes = larger;
      }
      const size = bytes.write(text, used);
      used += size;
      ends.push(used);
      return size;
    },
    get length() {
      return ends.length;
    },
    values() {
      let start = 0;
      return ends.map((end) => {
        if (end === -1) return null;
        const text = bytes.subarray(start, end);
        start = end;
        return text;
      });
    },
    clear() {
      ends = [];
      used = 0;
      if (bytes.length > GROUP_BYTES) bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    },
  };
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
  const group = columns.map(({ type }) =>
    type === 'string' || type === 'json' ? textColumn() : plainColumn(type),
  );
  const sources = columns.map(({ name, type }, at): ColumnSource => {
    const column = group[at] as GroupColumn;
    return { name, type: TYPES[type], nullable: true, data: whenEncoded(column) };
  });
  const writer = new ParquetWriter({
    writer: sink,
    schema: schemaFromColumnData({ columnData: sources }),
  });
  let rowCount = 0;
  let bytes = 0;
  const flush = () => {
    writer.write({ columnData: sources, rowGroupSize: rowCount });
    keepShortStatistics(writer);
    for (const column of group) column.clear();
    rowCount = 0;
    bytes = 0;
  };
  for await (const rows of table.rows()) {
    for (const row of rows) {
      for (let at = 0; at < group.length; at += 1) bytes += group[at]?.add(row[at] ?? null) ?? 0;
      rowCount += 1;
      if (rowCount < GROUP_ROWS && bytes < GROUP_BYTES) continue;
      flush();
      yield* written();
    }
    onRows(rows.length);
  }
  if (rowCount > 0) flush();
  writer.finish();
  yield* written();
}

/** The encoder takes its share of a column when the turn of the column comes: only then are there values of it. */
function whenEncoded(column: GroupColumn): ColumnSource['data'] {
  const data = {
    get length() {
      return column.length;
    },
    slice: () => column.values(),
  };
  return data as unknown as ColumnSource['data'];
}

/** Readers skip groups by short values, such as URLs; whole pages would only be kept in memory for it. */
function keepShortStatistics({ row_groups: groups }: ParquetWriter): void {
  for (const { meta_data: facts } of groups.at(-1)?.columns ?? []) {
    const { min_value: min, max_value: max } = facts?.statistics ?? {};
    if (facts === undefined || !(min instanceof Uint8Array && max instanceof Uint8Array)) continue;
    if (Math.max(min.length, max.length) > MOST_STATISTIC_BYTES) delete facts.statistics;
    // Copies, because the next group writes over the texts.
    else
      Object.assign(facts.statistics ?? {}, {
        min_value: new Uint8Array(min),
        max_value: new Uint8Array(max),
      });
  }
}

export const writers = { parquet: writeParquet } satisfies TableWriters;
