import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { QueryStore, RecordScan, RowQuery, ScannedPage } from '../../core/ports/query-store.ts';
import {
  queryRowOf,
  rowStatement,
  type Statement,
  scannedPageOf,
  scanStatement,
} from '../store-rows/query-sql.ts';
import type { Row } from '../store-rows/rows.ts';
import { failureOf, type ThreadFailure } from './messages.ts';
import { SQLITE_DIALECT, WITHIN_LIMIT } from './query-dialect.ts';

/**
 * The thread that answers queries, with a connection of its own that can only read: however long a query takes, the
 * thread of the store goes on. SQLite asks `within_limit` for every row that it looks at, which ends a query that has had
 * its time.
 */
export type QueryCall = { readonly id: number } & (
  | { readonly method: 'queryRows'; readonly query: RowQuery }
  | { readonly method: 'scanRecords'; readonly query: RecordScan }
  | { readonly method: 'run'; readonly query: { readonly statement: Statement; readonly limitMs: number } }
);
export type QueryAnswer =
  | {
      readonly id: number;
      readonly result: Awaited<ReturnType<QueryStore[keyof QueryStore]>> | readonly Row[];
    }
  | { readonly id: number; readonly failure: ThreadFailure };

/** Rows that are read between two looks at the clock. */
const ROWS_PER_LOOK = 512;
const CACHE_KIB = 8_192;
const BUSY_MS = 2_000;

if (parentPort === null) throw new Error('The query thread has no parent.');
const port = parentPort;
const { path } = workerData as { readonly path: string };
const connection = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
connection.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA trusted_schema = OFF`);

let rows = 0;
let endsAt = 0;
connection.function(WITHIN_LIMIT, { varargs: true, directOnly: true }, () => {
  rows += 1;
  if (rows % ROWS_PER_LOOK === 0 && performance.now() > endsAt) throw tooLong();
  return 1;
});

const tooLong = () =>
  new ScrapifieError('QUERY_TIMEOUT', 'The query took too long. Narrow it, by `jobId` for example.');

function* rowsOf({ sql, values }: Statement, limitMs: number) {
  rows = 0;
  endsAt = performance.now() + limitMs;
  const bound: SQLInputValue[] = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
  for (const row of connection.prepare(sql).iterate(...bound)) {
    if (performance.now() > endsAt) throw tooLong();
    yield row;
  }
}

function scan(query: RecordScan): readonly ScannedPage[] {
  const pages: ScannedPage[] = [];
  let bytes = 0;
  for (const row of rowsOf(scanStatement(query, SQLITE_DIALECT), query.limitMs)) {
    const page = scannedPageOf(row, query.columns);
    pages.push(page);
    bytes += page.record?.byteLength ?? 0;
    if (bytes >= query.maxBytes) break;
  }
  return pages;
}

function answer(call: QueryCall): void {
  const { id } = call;
  try {
    if (call.method === 'queryRows') {
      const { plan, limitMs } = call.query;
      const found = [...rowsOf(rowStatement(call.query, SQLITE_DIALECT), limitMs)];
      port.postMessage({ id, result: found.map((row) => queryRowOf(row, plan)) } satisfies QueryAnswer);
      return;
    }
    if (call.method === 'run') {
      const { statement, limitMs } = call.query;
      port.postMessage({ id, result: [...rowsOf(statement, limitMs)] } satisfies QueryAnswer);
      return;
    }
    const result = scan(call.query);
    // Records are handed over, not copied.
    const buffers = result.flatMap(({ record }) => (record === null ? [] : [record.buffer as ArrayBuffer]));
    port.postMessage({ id, result } satisfies QueryAnswer, buffers);
  } catch (error) {
    port.postMessage({ id, failure: failureOf(error) } satisfies QueryAnswer);
  }
}

listen(port, 'message', answer);
