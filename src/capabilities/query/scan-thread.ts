import type { PageRecord } from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import type { QueryPlan, ScannedPage } from '../../core/ports/query-store.ts';
import { answerCalls } from '../../lib/threads/answer-calls.ts';
import { type EvaluatedRow, type Evaluation, evaluate } from './evaluate.ts';
import { rowsOfPage } from './source-rows.ts';

/** Pages of a scan; `isLast`: none follow. */
export interface ScanBatch {
  /** The plan of the query, which comes with its first pages. */
  readonly plan?: QueryPlan;
  readonly pages: readonly ScannedPage[];
  readonly isLast: boolean;
}

export type ScanAnswer =
  /** Send the next pages. */
  { readonly kind: 'more' } | { readonly kind: 'done'; readonly rows: readonly EvaluatedRow[] };

export interface ScanMethods {
  add(batch: ScanBatch): ScanAnswer;
}

/** A thread for queries that need the records of pages: they are unpacked and evaluated away from the event loop. */
let current: { readonly plan: QueryPlan; readonly evaluation: Evaluation } | null = null;

function recordOf({ record }: ScannedPage): PageRecord | null {
  if (record === null) return null;
  try {
    return JSON.parse(unpackRecord(record).toString('utf8')) as PageRecord;
  } catch {
    // A record that cannot be read is a page without one, for every other reader as well.
    return null;
  }
}

function add({ plan: begun, pages, isLast }: ScanBatch): ScanAnswer {
  if (begun !== undefined) current = { plan: begun, evaluation: evaluate(begun) };
  if (current === null) throw new Error('The scan has not begun.');
  const { plan, evaluation } = current;
  for (const page of pages) {
    for (const row of rowsOfPage(plan.source, page, recordOf(page))) {
      if (evaluation.add(row)) return { kind: 'done', rows: evaluation.finish() };
    }
  }
  return isLast ? { kind: 'done', rows: evaluation.finish() } : { kind: 'more' };
}

answerCalls<ScanMethods>({
  add(batch) {
    const answer = add(batch);
    if (answer.kind === 'done') current = null;
    return answer;
  },
});
