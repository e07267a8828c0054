import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { writeParquet } from './parquet.ts';
import { bytesOf, HOSTILE_TEXTS, tableOf } from './tables.fixture.ts';

const COLUMNS = [
  { name: 'text', type: 'string' },
  { name: 'count', type: 'integer' },
  { name: 'price', type: 'number' },
  { name: 'is_new', type: 'boolean' },
  { name: 'fetched_at', type: 'timestamp' },
  { name: 'record', type: 'json' },
] as const;
const AT = '2026-01-02T03:04:05.678Z';

const fileOf = async (bytes: Buffer) =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;

describe('Parquet', () => {
  it('hyparquet reads typed values, nulls and hostile texts', async () => {
    const texts = [...HOSTILE_TEXTS, 'nul \0 inside'];
    const rows = texts.map((text, at) => [text, at, at / 4, at % 2 === 0, AT, '{"a":1}'] as const);
    const empty = [null, null, null, null, null, null] as const;
    const file = await fileOf(await bytesOf(writeParquet, tableOf(COLUMNS, [...rows, empty])));
    const read = await parquetReadObjects({ file });
    expect(read).toHaveLength(texts.length + 1);
    expect(read.slice(0, -1).map(({ text }) => text)).toEqual(texts);
    expect(read[2]).toEqual({
      text: '-2+3',
      count: 2n,
      price: 0.5,
      is_new: true,
      fetched_at: new Date(AT),
      record: '{"a":1}',
    });
    expect(Object.values(read.at(-1) ?? {})).toEqual([null, null, null, null, null, null]);
  });

  it('has row groups of a bounded size, and keeps no long texts as statistics', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => [
      String(at).repeat(1_000_000),
      at,
      null,
      null,
      null,
      null,
    ]);
    const file = await fileOf(await bytesOf(writeParquet, tableOf(COLUMNS, rows)));
    const { row_groups: groups, num_rows: count } = parquetMetadata(file);
    expect(count).toBe(12n);
    expect(groups.length).toBeGreaterThan(1);
    const [text, number] = groups[0]?.columns ?? [];
    expect(text?.meta_data?.statistics).toBeUndefined();
    expect(number?.meta_data?.statistics?.min_value).toBe(0n);
  });

  it('each row group has its own statistics and values, whatever came behind it', async () => {
    const filler = 'x'.repeat(1_000_000);
    const rows = ['b', 'a', 'd', 'c', 'é', 'f'].map((text, at) => [text, at, null, null, null, filler]);
    const file = await fileOf(await bytesOf(writeParquet, tableOf(COLUMNS, rows)));
    const { row_groups: groups } = parquetMetadata(file);
    const bounds = groups.map(({ columns: [text] }) => {
      const { min_value: min, max_value: max } = text?.meta_data?.statistics ?? {};
      return [min, max];
    });
    expect(bounds).toEqual([
      ['a', 'd'],
      ['c', 'é'],
    ]);
    const read = await parquetReadObjects({ file, columns: ['text'] });
    expect(read.map(({ text }) => text)).toEqual(['b', 'a', 'd', 'c', 'é', 'f']);
  });

  it('a table without rows is a file with its columns', async () => {
    const file = await fileOf(await bytesOf(writeParquet, tableOf(COLUMNS, [])));
    expect(
      parquetMetadata(file)
        .schema.slice(1)
        .map(({ name }) => name),
    ).toEqual(COLUMNS.map(({ name }) => name));
    expect(await parquetReadObjects({ file })).toEqual([]);
  });
});

describe('Parquet, read by DuckDB', () => {
  it('has the same values and types', async () => {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const folder = await mkdtemp(join(tmpdir(), 'scrapifie-parquet-'));
    const path = join(folder, 'full.parquet');
    const texts = HOSTILE_TEXTS.filter((text) => text.length < 100);
    const rows = texts.map((text, at) => [text, at, at / 4, at % 2 === 0, AT, '{"a":1}'] as const);
    await writeFile(path, await bytesOf(writeParquet, tableOf(COLUMNS, rows)));
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    try {
      const types = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet('${path}')`);
      expect(types.getRowsJson().map(([, type]) => type)).toEqual([
        'VARCHAR',
        'BIGINT',
        'DOUBLE',
        'BOOLEAN',
        expect.stringMatching(/^TIMESTAMP/),
        'VARCHAR',
      ]);
      const read = await connection.runAndReadAll(
        `SELECT text, count, price, is_new, epoch_ms(fetched_at), record FROM read_parquet('${path}') ORDER BY count`,
      );
      const expected = rows.map(([text, count, price, isNew, at, record]) => [
        text,
        String(count),
        price,
        isNew,
        String(Date.parse(at)),
        record,
      ]);
      expect(read.getRowsJson()).toEqual(expected);
    } finally {
      connection.closeSync();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
