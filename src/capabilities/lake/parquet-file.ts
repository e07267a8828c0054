import type { AsyncBuffer, SchemaElement } from 'hyparquet';
import type { LakeTable } from '../../core/ports/lake-store.ts';
import { LAKE_COLUMNS, LAKE_SCHEMA_VERSION, type LakeColumn, type LakeType } from './lake-layout.ts';
import type { LakeRow, LakeValue } from './lake-rows.ts';

const ELEMENTS: Readonly<Record<LakeType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MILLIS' },
  },
};

const elementOf = ({ name, type }: LakeColumn): SchemaElement => ({
  name,
  repetition_type: 'OPTIONAL',
  ...ELEMENTS[type],
});

/** A Parquet file in the making; each call of `write` makes one group of rows. Compressed by Snappy. */
export interface ParquetFile {
  write(rows: readonly LakeRow[]): Promise<void>;
  finish(): Promise<Uint8Array>;
}

export async function openParquet(table: LakeTable): Promise<ParquetFile> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const columns = LAKE_COLUMNS[table];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(elementOf)],
    kvMetadata: [
      { key: 'scrapifie.table', value: table },
      { key: 'scrapifie.schema', value: String(LAKE_SCHEMA_VERSION) },
    ],
  });
  return {
    async write(rows) {
      await writer.write({
        columnData: columns.map(({ name }) => ({ name, data: rows.map((row) => row[name] ?? null) })),
        rowGroupSize: rows.length,
      });
    },
    async finish() {
      await writer.finish();
      return bytes.getBytes();
    },
  };
}

/** The bytes of a file with these rows. */
export async function encodeParquet(table: LakeTable, rows: readonly LakeRow[]): Promise<Uint8Array> {
  const file = await openParquet(table);
  await file.write(rows);
  return file.finish();
}

/** The rows of a file of the lake, a group at a time. Columns that the file does not know are missing. */
export async function* decodeParquet(
  bytes: Uint8Array,
  columns?: readonly string[],
): AsyncGenerator<readonly LakeRow[]> {
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const file = asFile(bytes);
  const metadata = await parquetMetadataAsync(file);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({
      ...{ file, metadata, rowStart, rowEnd },
      ...(columns === undefined ? {} : { columns: [...columns] }),
    });
    yield rows.map(withoutGaps);
    rowStart = rowEnd;
  }
}

const withoutGaps = (row: Record<string, unknown>): LakeRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, (value ?? null) as LakeValue]));

function asFile(bytes: Uint8Array): AsyncBuffer {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  return { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) };
}
