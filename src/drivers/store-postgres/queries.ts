import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import type { QueryStore } from '../../core/ports/query-store.ts';
import { createLedgerViewStore } from '../store-rows/ledger-view.ts';
import {
  queryRowOf,
  rowStatement,
  type Statement,
  scannedPageOf,
  scanStatement,
} from '../store-rows/query-sql.ts';
import { createReadReplica } from '../store-rows/read-replica.ts';
import type { Row } from '../store-rows/rows.ts';
import type { PostgresDatabase } from './database.ts';
import { POSTGRES_DIALECT, POSTGRES_LEDGER_DIALECT } from './query-dialect.ts';

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
