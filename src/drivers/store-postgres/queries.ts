import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import type { QueryStore } from '../../core/ports/query-store.ts';
import type { LedgerDialect } from '../store-rows/ledger-statement.ts';
import { createLedgerViewStore } from '../store-rows/ledger-view.ts';
import {
  IS_PUBLIC_PAGE,
  queryRowOf,
  rowStatement,
  type SqlDialect,
  type Statement,
  scannedPageOf,
  scanStatement,
  truncatedEvenly,
} from '../store-rows/query-sql.ts';
import { createReadReplica } from '../store-rows/read-replica.ts';
import type { Row } from '../store-rows/rows.ts';
import type { PostgresDatabase } from './database.ts';

const text = (column: string) => `(${column} COLLATE "C")`;
const TYPES = { string: 'text', number: 'float8', boolean: 'boolean' } as const;

const POSTGRES_DIALECT: SqlDialect = {
  tables: {
    pages: {
      from: 'jobs j JOIN pages p ON p.job_seq = j.seq',
      where: `j.account_id = ?
        AND NOT EXISTS (SELECT 1 FROM job_expiry e WHERE e.job_seq = j.seq AND e.ledger > 0)`,
      place: ['p.job_seq', 'p.seq'],
    },
    snapshots: {
      from: 'snapshots s',
      where: 's.account_id = ?',
      place: ['s.seq', 's.seq'],
    },
  },
  isPublic: {
    pages: IS_PUBLIC_PAGE.postgres,
    snapshots: 's.is_private = 0',
  },
  pages: {
    jobId: text('j.id'),
    jobKind: text('j.kind'),
    url: text('p.url'),
    host: text(`split_part(split_part(p.url, '//', 2), '/', 1)`),
    finalUrl: text('p.final_url'),
    statusCode: 'p.status_code',
    contentType: text('p.content_type'),
    charset: text('p.charset'),
    fetchedAt: 'p.fetched_at',
    depth: 'p.depth',
    contentHash: text('p.content_hash'),
    textHash: text('p.text_hash'),
    bytes: 'p.bytes',
    title: text('p.title'),
    etag: text('p.etag'),
    lastModified: text('p.last_modified'),
    duplicateOf: text('p.duplicate_of'),
    errorCode: text('p.error_code'),
    errorMessage: text('p.error_message'),
  },
  snapshots: {
    id: text('s.id'),
    url: text('s.url'),
    host: text(`split_part(split_part(s.url, '//', 2), '/', 1)`),
    hash: text('s.hash'),
    firstSeenAt: 's.first_seen_at',
    lastSeenAt: 's.last_seen_at',
    timesSeen: 's.times_seen',
    finalUrl: text('s.final_url'),
    statusCode: 's.status_code',
    contentType: text('s.content_type'),
    contentHash: text('s.content_hash'),
    bytes: 's.bytes',
    title: text('s.title'),
    price: 's.price',
    currency: text('s.currency'),
    availability: text('s.availability'),
    jobId: text('s.job_id'),
  },
  placeholder: (number, value) => `$${number}::${TYPES[typeof value as keyof typeof TYPES]}`,
  certain: (condition) => `coalesce(${condition}, false)`,
  textTests: {
    contains: (whole, part) => `strpos(${whole}, ${part}) > 0`,
    startsWith: (whole, part) => `starts_with(${whole}, ${part})`,
    endsWith: (whole, part) => `right(${whole}, length(${part})) = ${part}`,
    // lower() knows ASCII letters only by the collation "C", which is what is promised.
    icontains: (whole, part) => `strpos(lower(${whole}), lower(${part} COLLATE "C")) > 0`,
  },
  truncated(time, unit) {
    if (unit !== 'month' && unit !== 'year') return truncatedEvenly(time, unit);
    return `(extract(epoch FROM date_trunc('${unit}', to_timestamp(${time} / 1000) AT TIME ZONE 'UTC'))::bigint * 1000)`;
  },
  aggregates: {
    countDistinct: (value) => `count(DISTINCT ${value})`,
    sum: (value) => `sum(${value})::float8`,
    avg: (value) => `sum(${value})::float8 / nullif(count(${value}), 0)`,
    min: (value) => `min(${value})`,
    max: (value) => `max(${value})`,
  },
};

const LEDGER_TYPES = { text: 'text', integer: 'bigint', real: 'float8' } as const;

const POSTGRES_LEDGER_DIALECT: LedgerDialect = {
  placeholder: (number, type) => `$${number}::${LEDGER_TYPES[type]}`,
  withinLimit: '',
  lastText: (name) => `(t.trace -> -1 ->> '${name}')`,
  lastNumber: (name) => `(t.trace -> -1 ->> '${name}')::float8`,
  upTo: (whole, character) => `split_part(${whole}, '${character}', 1)`,
  contains: (whole, part) => POSTGRES_DIALECT.textTests.icontains(text(whole), part),
  byBytes: text,
};

const QUERY_CANCELED = '57014';

/** A replica is asked while it keeps up with the database. */
export function createPostgresQueryStore(
  database: PostgresDatabase,
  replica: PostgresDatabase | null = null,
  onReplicaChange?: (isUsed: boolean, why: string) => void,
): QueryStore & LedgerViewStore {
  const reads =
    replica === null
      ? null
      : createReadReplica({ primary: database.query, replica: replica.query, onChange: onReplicaChange });

  function run(statement: Statement, limitMs: number): Promise<Row[]> {
    const onPrimary = () => runOn(database, statement, limitMs);
    if (reads === null || replica === null) return onPrimary();
    return reads.read(() => runOn(replica, statement, limitMs), onPrimary);
  }

  /** In a transaction that cannot write, whose statement the server ends when its time is over. */
  async function runOn(at: PostgresDatabase, { sql, values }: Statement, limitMs: number): Promise<Row[]> {
    try {
      return await at.transaction(async (query) => {
        await query('SET TRANSACTION READ ONLY');
        return query(sql, values);
      }, limitMs);
    } catch (error) {
      if (!isCancelled(error)) throw error;
      throw new ScrapifieError(
        'QUERY_TIMEOUT',
        'The query took too long. Narrow it, by `jobId` for example.',
        {
          cause: error,
        },
      );
    }
  }

  return {
    ...createLedgerViewStore(run, POSTGRES_LEDGER_DIALECT),

    async queryRows(query) {
      const rows = await run(rowStatement(query, POSTGRES_DIALECT), query.limitMs);
      return rows.map((row) => queryRowOf(row, query.plan));
    },

    async scanRecords(scan) {
      const { sql, values } = scanStatement(scan, POSTGRES_DIALECT);
      // Records are kept apart from their rows, and those beyond the limit are not read for this.
      const rows = await run(
        {
          sql: `SELECT * FROM (
              SELECT found.*, sum(coalesce(octet_length(record), 0)) OVER w - coalesce(octet_length(record), 0) AS bytes_before
              FROM (${sql}) found WINDOW w AS (ORDER BY place_job, place_page)
            ) counted WHERE bytes_before < $${values.length + 1}::float8 ORDER BY place_job, place_page`,
          values: [...values, scan.maxBytes],
        },
        scan.limitMs,
      );
      return rows.map((row) => scannedPageOf(row, scan.columns));
    },
  };
}

/** Whether the server ended a statement because of its time limit. */
function isCancelled(error: unknown): boolean {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if ((each as { code?: unknown }).code === QUERY_CANCELED) return true;
  }
  return false;
}
