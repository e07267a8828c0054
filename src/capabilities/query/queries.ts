import type { QueryFieldType } from '../../core/model/query-fields.ts';
import { isOfColumns, type PlanColumn, type QueryPlan, type RowPlace } from '../../core/model/query-plan.ts';
import type { QueryScope, QueryStore } from '../../core/ports/query-store.ts';
import { type EvaluatedRow, positionOf } from './evaluate.ts';
import { parseQuery, type QueryRequest, withDefaults } from './parse-query.ts';
import { writeCursor } from './query-cursor.ts';
import { type ScanLimits, scanPages } from './scan-pages.ts';
import { createScanThreads } from './scan-threads.ts';
import { createTurns } from './turns.ts';

/** Typed queries over what an account has stored. */
export interface Queries {
  /** Throws VALIDATION_FAILED, QUERY_TIMEOUT, QUERY_TOO_LARGE, and TOO_MANY_QUERIES. */
  run(scope: QueryScope, request: QueryRequest): Promise<QueryResult>;
}

export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly type: QueryFieldType }[];
  /** Each with the names of `columns`; times in ISO 8601. */
  readonly items: readonly Readonly<Record<string, unknown>>[];
  /** Where the next rows begin; null at the end, and of groups. */
  readonly nextCursor: string | null;
  /** There are more groups than `limit`. */
  readonly isTruncated: boolean;
}

export interface QueriesOptions {
  readonly limits?: ScanLimits;
}

const DEFAULT_LIMITS: ScanLimits = { pages: 20_000, limitMs: 10_000 };
/** At the same time in this process: of all accounts, and of one. */
const [MOST_RUNNING, MOST_OF_ACCOUNT] = [2, 1];

export function createQueries(store: QueryStore, options: QueriesOptions = {}): Queries {
  const { limits = DEFAULT_LIMITS } = options;
  const turns = createTurns({ mostRunning: MOST_RUNNING, mostOfAccount: MOST_OF_ACCOUNT });
  const threads = createScanThreads();

  /** One row more than the query wants, which tells whether there are more. */
  async function rowsOf(scope: QueryScope, plan: QueryPlan) {
    const wider = { ...plan, limit: plan.limit + 1 };
    if (!isOfColumns(plan)) return scanPages({ store, threads, limits }, scope, wider);
    const rows: readonly EvaluatedRow[] = await store.queryRows({
      scope,
      plan: wider,
      limitMs: limits.limitMs,
    });
    return { rows, next: null };
  }

  return {
    async run(scope, request) {
      const plan = parseQuery(withDefaults(request));
      const leave = await turns.enter(scope.accountId);
      const { rows, next } = await rowsOf(scope, plan).finally(leave);
      const shown = rows.slice(0, plan.limit);
      const isMore = rows.length > plan.limit;
      return {
        columns: plan.columns.map((column) => ({ name: column.as, type: typeOf(column) })),
        items: shown.map(({ values }) => itemOf(values, plan)),
        nextCursor: cursorAfter(plan, isMore ? shown.at(-1) : undefined, next),
        isTruncated: plan.isGrouped && isMore,
      };
    },
  };
}

function cursorAfter(plan: QueryPlan, last: EvaluatedRow | undefined, next: RowPlace | null): string | null {
  if (plan.isGrouped) return null;
  if (last !== undefined) return writeCursor(plan, positionOf(last));
  return next === null ? null : writeCursor(plan, { values: [], row: next });
}

function typeOf({ kind, field }: PlanColumn): QueryFieldType {
  return kind === 'field' || kind === 'min' || kind === 'max' ? (field?.type ?? 'number') : 'number';
}

function itemOf(values: readonly unknown[], { columns }: QueryPlan): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    columns.map((column, index) => {
      const value = values[index] ?? null;
      const isTime = typeOf(column) === 'time' && typeof value === 'number';
      return [column.as, isTime ? new Date(value).toISOString() : value];
    }),
  );
}
