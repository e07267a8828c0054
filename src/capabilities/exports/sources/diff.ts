import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ExportSpec } from '../../../core/model/export.ts';
import type { Job } from '../../../core/model/job.ts';
import type { JobStore } from '../../../core/ports/store.ts';
import { diffRulesSchema } from '../../../extract/diff/diff-rules.ts';
import { createSorter } from '../../../lib/external-sorter.ts';
import { type ComparisonDeps, createComparisons } from '../../compare/comparisons.ts';
import { DIFF_COLUMNS, diffRow } from '../../compare/site-change.ts';
import type { ColumnType, Row, Table } from '../table/table.ts';

/** Columns that are no texts. */
const TYPES: Readonly<Partial<Record<(typeof DIFF_COLUMNS)[number], ColumnType>>> = {
  prev_crawl_at: 'timestamp',
  curr_crawl_at: 'timestamp',
  price_prev: 'number',
  price_curr: 'number',
  share_changed: 'number',
};
const ROWS_AT_ONCE = 500;

export interface DiffParts extends ComparisonDeps {
  readonly store: ComparisonDeps['store'] & Pick<JobStore, 'getJob'>;
}

/** One row for each URL of the job and of the one before, with what has changed, in the order of the URLs. */
export async function diffTable(
  job: Job,
  { against, rules }: ExportSpec,
  { store, blobs }: DiffParts,
): Promise<Table> {
  const previous = against === undefined ? null : await store.getJob(against);
  if (previous === null || previous.accountId !== job.accountId) {
    throw new ScrapifieError('NOT_FOUND', `There is no job ${against} to compare with.`);
  }
  const pair = { previous, current: job, rules: diffRulesSchema.parse(rules ?? {}) };
  return {
    columns: DIFF_COLUMNS.map((name) => ({ name, type: TYPES[name] ?? 'string' })),
    async *rows() {
      const comparisons = createComparisons({ store, blobs });
      const sorter = createSorter();
      try {
        for await (const change of comparisons.changes(pair)) {
          const row = diffRow(change);
          sorter.add(change.url, JSON.stringify(DIFF_COLUMNS.map((name) => row[name])));
        }
        let batch: Row[] = [];
        for (const text of sorter.values()) {
          batch.push(JSON.parse(text) as Row);
          if (batch.length < ROWS_AT_ONCE) continue;
          yield batch;
          batch = [];
        }
        if (batch.length > 0) yield batch;
      } finally {
        sorter.close();
        await comparisons.close();
      }
    },
  };
}
