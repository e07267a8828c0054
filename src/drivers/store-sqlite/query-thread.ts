import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { QueryStore, RecordScan, RowQuery, ScannedPage } from '../../core/ports/query-store.ts';
import { answerCalls, handOver } from '../../lib/threads/answer-calls.ts';
import {
  queryRowOf,
  rowStatement,
  type Statement,
  scannedPageOf,
  scanStatement,
} from '../store-rows/query-sql.ts';
import type { Row } from '../store-rows/rows.ts';
import { SQLITE_DIALECT, WITHIN_LIMIT } from './query-dialect.ts';

/**
 * The thread that answers queries, with a connection of its own that can only read: however long a query takes, the
 * thread of the store goes on. SQLite asks `within_limit` for every row that it looks at, which ends a query that has had
 * its time.
 */
export interface QueryMethods {
  queryRows(query: RowQuery): Awaited<ReturnType<QueryStore['queryRows']>>;
  scanRecords(query: RecordScan): readonly ScannedPage[];
  run(statement: Statement, limitMs: number): readonly Row[];
}

/** Rows that are read between two looks at the clock. */
const ROWS_PER_LOOK = 512;
const CACHE_KIB = 8_192;
const BUSY_MS = 2_000;

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

answerCalls<QueryMethods>({
  queryRows(query) {
    const rowsFound = [...rowsOf(rowStatement(query, SQLITE_DIALECT), query.limitMs)];
    return rowsFound.map((row) => queryRowOf(row, query.plan));
  },
  scanRecords(query) {
    const pages = scan(query);
    return handOver(
      pages,
      pages.flatMap(({ record }) => (record === null ? [] : [record.buffer as ArrayBuffer])),
    );
  },
  run: (statement, limitMs) => [...rowsOf(statement, limitMs)],
});
