import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { writeXlsxStream } from 'hucre/xlsx';
import { ByteWriter, parquetWriteRows } from 'hyparquet-writer';
import { batches, COLUMNS } from './rows.ts';

/** What each format costs with its library alone, as its documentation shows it. Each counts the bytes. */
export const BARE_ROWS: Readonly<Record<string, (count: number) => Promise<number>>> = {
  async csv(count) {
    async function* rows() {
      for await (const batch of batches(count)) yield* batch;
    }
    const csv = stringify({
      header: true,
      columns: COLUMNS.map(({ name }) => name),
      record_delimiter: 'windows',
    });
    return bytesOf(Readable.from(rows()).pipe(csv));
  },
  async xlsx(count) {
    async function* rows() {
      for await (const batch of batches(count)) for (const row of batch) yield [...row];
    }
    const columns = COLUMNS.map(({ name }) => ({ header: name }));
    return bytesOf(
      writeXlsxStream(rows(), { name: 'full', columns }) as unknown as AsyncIterable<Uint8Array>,
    );
  },
  json: (count) => jsonTexts(count),
  ndjson: (count) => jsonTexts(count),
  async parquet(count) {
    const writer = new ByteWriter();
    let bytes = 0;
    const sink = Object.assign(writer, {
      flush() {
        bytes += writer.index;
        writer.index = 0;
      },
    });
    async function* rows() {
      for await (const batch of batches(count)) {
        for (const row of batch) {
          yield Object.fromEntries(
            COLUMNS.map(({ name, type }, at) => [name, typedValue(row[at] ?? null, type)]),
          );
        }
      }
    }
    const types = {
      string: 'STRING',
      integer: 'INT64',
      number: 'DOUBLE',
      boolean: 'BOOLEAN',
      timestamp: 'TIMESTAMP',
      json: 'STRING',
    } as const;
    const columns = COLUMNS.map(({ name, type }) => ({ name, type: types[type] }));
    await parquetWriteRows({ writer: sink, rows: rows(), columns, rowGroupSize: 20_000 });
    return bytes + writer.index;
  },
};

function typedValue(value: unknown, type: string): unknown {
  if (type === 'integer') return BigInt(Number(value));
  return type === 'timestamp' ? new Date(String(value)) : value;
}

async function bytesOf(chunks: AsyncIterable<Uint8Array | string>): Promise<number> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += Buffer.byteLength(chunk);
  return bytes;
}

async function jsonTexts(count: number): Promise<number> {
  let bytes = 0;
  for await (const batch of batches(count)) {
    let text = '';
    for (const row of batch) {
      text += `${JSON.stringify(Object.fromEntries(COLUMNS.map(({ name }, at) => [name, row[at]])))}\n`;
    }
    bytes += Buffer.from(text).length;
  }
  return bytes;
}
