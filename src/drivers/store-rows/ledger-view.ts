import type { ErrorCode } from '../../core/errors/registry.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import type { TaskId } from '../../core/model/ids.ts';
import type { FoundBy, TaskKind, TaskState } from '../../core/model/task.ts';
import type { LedgerRow, LedgerRowQuery, LedgerViewStore } from '../../core/ports/ledger-view-store.ts';
import { countLedger, findLedgerStates, listLedgerPaths } from './ledger-counts.ts';
import {
  isFiltered,
  LEDGER_TABLES,
  type LedgerDialect,
  LedgerStatement,
  lookEnd,
  type RunStatement,
  rowsById,
} from './ledger-statement.ts';
import { cursorOf, type Row } from './rows.ts';

/** The ledger of a job as tables and counts, for any store that runs statements. */
export function createLedgerViewStore(run: RunStatement, dialect: LedgerDialect): LedgerViewStore {
  /** The ids of the wanted rows in their order, and where the next page begins. */
  async function idsOf(query: LedgerRowQuery): Promise<{ ids: number[]; next: number | null }> {
    const { job, filter, order, isDescending, limit, limitMs } = query;
    const after = query.cursor === undefined ? null : cursorOf(query.cursor, 0);
    const isByDiscovery = order === 'discoveredAt';
    const statement = new LedgerStatement(dialect);
    const conditions = [statement.where(job, filter)];
    const key = statement.key(order);
    const [later, direction] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
    let end: number | null = null;
    if (isByDiscovery) {
      if (after !== null) conditions.push(`t.id ${later} ${statement.number(after)}`);
      end = isFiltered(filter) ? await lookEnd(run, dialect, query, after) : null;
      if (end !== null) conditions.push(`t.id ${isDescending ? '>=' : '<='} ${statement.number(end)}`);
    } else if (after !== null) {
      conditions.push(await behind(statement, query, after));
    }
    const rows = await run(
      {
        sql: `SELECT t.id FROM ${LEDGER_TABLES} WHERE ${conditions.join(' AND ')}
          ORDER BY ${isByDiscovery ? '' : `${key} ${direction} NULLS LAST, `}t.id ${isByDiscovery ? direction : 'ASC'}
          LIMIT ${Math.floor(limit) + 1}`,
        values: statement.values,
      },
      limitMs,
    );
    const ids = rows.map(({ id }) => Number(id));
    if (ids.length > limit) return { ids: ids.slice(0, limit), next: ids[limit - 1] ?? null };
    return { ids, next: end };
  }

  /** Rows behind the one that the cursor names, whose value is read again. */
  async function behind(statement: LedgerStatement, query: LedgerRowQuery, after: number): Promise<string> {
    const { order, isDescending, job, limitMs } = query;
    const key = statement.key(order);
    const look = new LedgerStatement(dialect);
    const [row] = await run(
      {
        sql: `SELECT ${key} AS k FROM ${LEDGER_TABLES} WHERE t.id = ${look.number(after)} AND t.job_seq = ${look.number(job)}`,
        values: look.values,
      },
      limitMs,
    );
    const value = (row?.k ?? null) as string | number | null;
    const id = `t.id > ${statement.number(after)}`;
    if (value === null) return `${key} IS NULL AND ${id}`;
    const bound = typeof value === 'string' ? statement.text(value) : statement.number(value);
    return `(${key} ${isDescending ? '<' : '>'} ${bound} OR ${key} IS NULL OR (${key} = ${bound} AND ${id}))`;
  }

  return {
    async listLedgerRows(query) {
      const { ids, next } = await idsOf(query);
      const found = await rowsById(run, ids, SELECT_ROW, query.limitMs);
      const items = ids.map((id) => found.get(id)).filter((row) => row !== undefined);
      return { items: items.map(ledgerRowOf), nextCursor: next === null ? null : String(next) };
    },

    countLedger: (query) => countLedger(run, dialect, query),
    listLedgerPaths: (query) => listLedgerPaths(run, dialect, query),
    findLedgerStates: (...asked) => findLedgerStates(run, dialect, asked),
  };
}

const SELECT_ROW = `SELECT t.id, t.url, t.kind, t.state, t.rule, t.error_code, t.depth, t.found_by, t.trace, t.created_at,
    t.finished_at, f.url AS found_on_url, p.final_url, p.status_code, p.content_type, p.title, p.bytes, p.fetched_at,
    p.duplicate_of, p.content_hash
  FROM ${LEDGER_TABLES} LEFT JOIN tasks f ON f.id = t.found_on`;

function ledgerRowOf(row: Row): LedgerRow {
  const trace = row.trace === null ? [] : (JSON.parse(row.trace as string) as Attempt[]);
  const last = trace.at(-1);
  return {
    taskId: Number(row.id) as TaskId,
    url: row.url as string,
    kind: row.kind as TaskKind,
    state: row.state as TaskState,
    rule: row.rule as string | null,
    errorCode: row.error_code as ErrorCode | null,
    depth: Number(row.depth),
    foundBy: row.found_by as FoundBy,
    foundOn: row.found_on_url as string | null,
    discoveredAt: Number(row.created_at),
    finishedAt: row.finished_at as number | null,
    attempts: trace.length,
    engine: last?.engine ?? null,
    durationMs: last?.ms ?? null,
    microcredits: trace.reduce((sum, { microcredits = 0 }) => sum + microcredits, 0),
    statusCode: last?.statusCode ?? (row.status_code as number | null),
    page:
      row.final_url === null
        ? null
        : {
            finalUrl: row.final_url as string,
            contentType: row.content_type as string | null,
            title: row.title as string | null,
            bytes: Number(row.bytes),
            fetchedAt: Number(row.fetched_at),
            duplicateOf: row.duplicate_of as string | null,
            contentHash: row.content_hash as string | null,
          },
  };
}
