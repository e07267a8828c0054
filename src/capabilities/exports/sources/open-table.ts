import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ExportSpec } from '../../../core/model/export.ts';
import type { ExportType } from '../../../core/model/export-registry.ts';
import type { Job } from '../../../core/model/job.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { PageLink } from '../../../core/model/page.ts';
import type { Blobs } from '../../../core/ports/blobs.ts';
import type { JobStore } from '../../../core/ports/job-store.ts';
import { diffRulesSchema } from '../../../extract/diff/diff-rules.ts';
import { createSorter } from '../../../lib/external-sorter.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { type ComparisonDeps, createComparisons } from '../../compare/comparisons.ts';
import { DIFF_COLUMNS, diffRow } from '../../compare/site-change.ts';
import { rawTextOf } from '../../jobs/results/page-result.ts';
import type { ColumnType, ExportPage, PageSource, Row, Table } from '../table.ts';
import { recordsTable, resultsTable } from './extracted.ts';
import { column, fullTable, pageTable, seoTable } from './page-tables.ts';

/** What the rows of an export are made from. */
export interface TableParts {
  readonly job: Job;
  readonly spec: ExportSpec;
  /** The pages of the job. */
  readonly pages: PageSource;
  readonly store: DiffParts['store'] & Pick<JobStore, 'getSources'>;
  readonly blobs: Blobs;
}

const TABLES: Readonly<Record<ExportType, (parts: TableParts) => Table | Promise<Table>>> = {
  full: ({ pages }) => fullTable(pages),
  seo: ({ pages }) => seoTable(pages),
  diff: ({ job, spec, store, blobs }) => diffTable(job, spec, { store, blobs }),
  raw: ({ pages }) => rawTable(pages),
  links: ({ pages }) => linksTable(pages),
  records: ({ pages }) => recordsTable(pages),
  results: resultsOf,
};

interface FoundLink extends PageLink {
  readonly page: string;
  /** From 1, in the order of the page. */
  readonly position: number;
}

const LINK_COLUMNS = [
  column<FoundLink>('url', 'string', ({ page }) => page),
  column<FoundLink>('position', 'integer', ({ position }) => position),
  column<FoundLink>('target', 'string', ({ url }) => url),
  column<FoundLink>('text', 'string', ({ text }) => text),
  column<FoundLink>('rel', 'string', ({ rel }) => rel),
  column<FoundLink>('found_in', 'string', ({ from }) => from),
];

interface RawPage extends ExportPage {
  readonly html: string | null;
}

const RAW_COLUMNS = [
  column<RawPage>('url', 'string', ({ page }) => page.url),
  column<RawPage>('final_url', 'string', ({ page }) => page.finalUrl),
  column<RawPage>('http_status', 'integer', ({ page }) => page.statusCode),
  column<RawPage>('fetched_at', 'timestamp', ({ page }) => isoTime(page.fetchedAt)),
  column<RawPage>('content_type', 'string', ({ page }) => page.contentType),
  column<RawPage>('charset', 'string', ({ page }) => page.charset),
  column<RawPage>('depth', 'integer', ({ page }) => page.depth),
  column<RawPage>('bytes', 'integer', ({ page }) => page.bytes),
  column<RawPage>('content_hash', 'string', ({ page }) => page.contentHash),
  column<RawPage>('text_hash', 'string', ({ page }) => page.textHash),
  column<RawPage>('etag', 'string', ({ page }) => page.etag),
  column<RawPage>('last_modified', 'string', ({ page }) => page.lastModified),
  column<RawPage>('title', 'string', ({ page }) => page.title),
  column<RawPage>('duplicate_of', 'string', ({ page }) => page.duplicateOf),
  column<RawPage>('error_code', 'string', ({ page }) => page.errorCode),
  column<RawPage>('error_message', 'string', ({ page }) => page.errorMessage),
  column<RawPage>('record', 'json', ({ record }) => JSON.stringify(record)),
  column<RawPage>('html', 'string', ({ html }) => html),
];

/** Columns that are no texts. */
const TYPES: Readonly<Partial<Record<(typeof DIFF_COLUMNS)[number], ColumnType>>> = {
  prev_crawl_at: 'timestamp',
  curr_crawl_at: 'timestamp',
  price_prev: 'number',
  price_curr: 'number',
  share_changed: 'number',
};
const ROWS_AT_ONCE = 500;

export const openTable = async (parts: TableParts): Promise<Table> => TABLES[parts.spec.type](parts);

async function resultsOf({ job, spec, pages, store, blobs }: TableParts): Promise<Table> {
  const sources = job.options.hasSources === true ? await store.getSources(job.id) : {};
  const { isSinglePage } = traitsOfKind(job.kind);
  return resultsTable(pages, {
    job,
    blobs,
    sourceOf: (url) => (isSinglePage ? (job.seeds[0] ?? url) : (sources[url] ?? url)),
    hasText: spec.text === true,
    hasColumns: spec.format !== 'json' && spec.format !== 'ndjson',
  });
}

/** One row for each link of each page. */
const linksTable = (pages: PageSource) =>
  pageTable(LINK_COLUMNS, pages, ({ page, record }) =>
    record.links.map((link, at) => ({ ...link, page: page.url, position: at + 1 })),
  );

/** Every stored page with what was read out of it and, of a text, the body as it is stored. */
const rawTable = (pages: PageSource) =>
  pageTable(RAW_COLUMNS, pages, async (page) => {
    const body = await page.body();
    return [{ ...page, html: body === null ? null : rawTextOf(page.page, body) }];
  });

interface DiffParts extends ComparisonDeps {
  readonly store: ComparisonDeps['store'] & Pick<JobStore, 'getJob'>;
}

/** One row for each URL of the job and of the one before, with what has changed, in the order of the URLs. */
async function diffTable(
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
