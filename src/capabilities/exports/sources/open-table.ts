import type { ExportSpec } from '../../../core/model/export.ts';
import type { ExportType } from '../../../core/model/export-registry.ts';
import type { Job } from '../../../core/model/job.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { Blobs } from '../../../core/ports/blobs.ts';
import type { JobStore } from '../../../core/ports/store.ts';
import type { PageSource } from '../table/export-page.ts';
import type { Table } from '../table/table.ts';
import { type DiffParts, diffTable } from './diff.ts';
import { recordsTable, resultsTable } from './extracted.ts';
import { fullTable } from './full.ts';
import { linksTable } from './links.ts';
import { rawTable } from './raw.ts';
import { seoTable } from './seo.ts';

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
