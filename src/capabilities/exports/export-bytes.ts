import type { ExportSpec } from '../../core/model/export.ts';
import type { Job } from '../../core/model/job.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { requireLedger } from '../jobs/expired.ts';
import { loadWriter } from './formats.ts';
import { type PageParts, pagesInOrder } from './page-order.ts';
import { openTable, type TableParts } from './sources/open-table.ts';

/** Jobs beyond this may give a workbook of more than 4 GB: XML takes several times the bytes of a text. */
const LARGE_PAGES = 500_000;
const LARGE_BYTES = 1_073_741_824;

export interface ExportParts {
  readonly store: PageParts['store'] & TableParts['store'];
  readonly blobs: Blobs;
}

export interface ExportRun {
  readonly job: Job;
  readonly spec: ExportSpec;
  readonly createdAt: number;
  /** Hears of rows, or pages, as they are written. */
  readonly onRows?: (rows: number) => void;
}

/**
 * The bytes of an export of what is stored of the job now. Memory does not grow with the number of pages. Throws EXPIRED
 * when the URLs of the job were deleted.
 */
export async function* exportBytes(
  { job, spec, createdAt, onRows = () => undefined }: ExportRun,
  { store, blobs }: ExportParts,
): AsyncGenerator<Uint8Array> {
  requireLedger(job);
  const pages = () => pagesInOrder(job.id, { store, blobs });
  const writer = await loadWriter(spec.format);
  if (writer.takes === 'pages') {
    yield* writer.write(pages, { job, onRows, createdAt });
    return;
  }
  const table = await openTable({ job, spec, pages, store, blobs });
  const { pages: count, bytes } = job.counters;
  const isLarge = count > LARGE_PAGES || bytes > LARGE_BYTES;
  yield* writer.write(table, { onRows, title: spec.type, isLarge, excel: spec.excel === true });
}
