import { columnPartOf, type QueryPlan, type RowPlace } from '../../core/model/query-plan.ts';
import type { QueryScope, QueryStore } from '../../core/ports/query-store.ts';
import { type EvaluatedRow, tooLarge } from './evaluate.ts';
import { type ScanThreads, tooLong } from './scan-threads.ts';
import { columnsOf } from './source-rows.ts';

export interface ScanLimits {
  /** Pages whose records one query may unpack. */
  readonly pages: number;
  readonly limitMs: number;
}

export interface ScanResult {
  readonly rows: readonly EvaluatedRow[];
  /** Where to go on when the pages of one query were used up before its rows; null when they were not. */
  readonly next: RowPlace | null;
}

export interface ScanParts {
  readonly store: Pick<QueryStore, 'scanRecords'>;
  readonly threads: ScanThreads;
  readonly limits: ScanLimits;
}

const PAGES_AT_ONCE = 250;
const BYTES_AT_ONCE = 8_388_608;

/**
 * Answers a plan from the records of pages. Conditions on columns are left to the database, which gives the pages in
 * batches; a thread unpacks them and applies the rest.
 */
export async function scanPages(
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
