import type { QueryFieldType } from '../../core/model/query-fields.ts';
import {
  columnPartOf,
  isOfColumns,
  type PlanColumn,
  type QueryPlan,
  type QueryScope,
  type QueryStore,
  type RowPlace,
} from '../../core/ports/query-store.ts';
import { type EvaluatedRow, positionOf, tooLarge } from './evaluate.ts';
import { parseQuery, type QueryRequest, withDefaults, writeCursor } from './parse-query.ts';
import { createScanThreads, type ScanThreads, tooLong } from './scan-threads.ts';
import { columnsOf } from './source-rows.ts';
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

interface QueriesOptions {
  readonly limits?: ScanLimits;
}

const DEFAULT_LIMITS: ScanLimits = { pages: 20_000, limitMs: 10_000 };
/** At the same time in this process: of all accounts, and of one. */
const [MOST_RUNNING, MOST_OF_ACCOUNT] = [2, 1];

const PAGES_AT_ONCE = 250;
const BYTES_AT_ONCE = 8_388_608;

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

interface ScanLimits {
  /** Pages whose records one query may unpack. */
  readonly pages: number;
  readonly limitMs: number;
}

interface ScanResult {
  readonly rows: readonly EvaluatedRow[];
  /** Where to go on when the pages of one query were used up before its rows; null when they were not. */
  readonly next: RowPlace | null;
}

interface ScanParts {
  readonly store: Pick<QueryStore, 'scanRecords'>;
  readonly threads: ScanThreads;
  readonly limits: ScanLimits;
}

/**
 * Answers a plan from the records of pages. Conditions on columns are left to the database, which gives the pages in
 * batches; a thread unpacks them and applies the rest.
 */
async function scanPages(
  { store, threads, limits }: ScanParts,
  scope: QueryScope,
  plan: QueryPlan,
): Promise<ScanResult> {
  const endsAt = performance.now() + limits.limitMs;
  const thread = threads.take();
  // Rows of an ordered or grouped answer may come from any page.
  const isStreamed = !plan.isGrouped && plan.order.length === 0;
  const start = isStreamed ? plan.after : null;
  let from = start === null ? null : { job: start.row[0], page: start.row[1], isIncluded: true };
  let looked = 0;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) throw tooLong();
      const pages = await store.scanRecords({
        scope,
        where: columnPartOf(plan.where),
        columns: columnsOf(plan.source),
        from,
        limit: Math.min(PAGES_AT_ONCE, limits.pages - looked),
        maxBytes: BYTES_AT_ONCE,
        limitMs: Math.ceil(leftMs),
      });
      looked += pages.length;
      const last = pages.at(-1);
      if (last !== undefined) from = { job: last.job, page: last.page, isIncluded: false };
      const isUsedUp = last !== undefined && looked >= limits.pages;
      if (isUsedUp && !isStreamed) throw tooLarge(`the records of more than ${limits.pages} pages`);
      const isLast = last === undefined || isUsedUp;
      const answer = await thread.ask({ ...(isFirst ? { plan } : {}), pages, isLast }, endsAt);
      if (answer.kind === 'done') {
        const isShort = isUsedUp && answer.rows.length < plan.limit;
        return {
          rows: answer.rows,
          next: isShort ? [last.job, last.page, Number.MAX_SAFE_INTEGER] : null,
        };
      }
    }
  } finally {
    thread.release();
  }
}
