import type { JobId } from '../../core/model/ids.ts';
import type { LakeFileJob, LakeTable } from '../../core/ports/lake-store.ts';
import { bytesOfRow, jobsOf, type LakeRow } from './page-rows.ts';
import { decodeParquet, openParquet } from './parquet-file.ts';

/** Rows that do not go into the new file. */
export interface DroppedRows {
  /** The jobs that lose rows: all rows for null, else those of pages with a smaller number. */
  readonly before: ReadonlyMap<JobId, number | null>;
  /** Numbers of pages that were stored again. */
  readonly pages: ReadonlySet<number>;
}

export interface MergedFile {
  readonly rows: number;
  readonly jobs: readonly LakeFileJob[];
  readonly bytes: Uint8Array;
}

/** A group of rows is written when it has this many, or takes about so much memory. */
const ROWS_OF_A_GROUP = 20_000;
const BYTES_OF_A_GROUP = 8_388_608;

/**
 * The rows of several files of one partition as one file, without dropped ones; null when no row is left. Holds the
 * compressed files and one group of rows in memory.
 */
export async function mergeFiles(
  table: LakeTable,
  files: readonly Uint8Array[],
  dropped: DroppedRows,
): Promise<MergedFile | null> {
  const writer = await openParquet(table);
  const firstPages = new Map<JobId, number>();
  let held: LakeRow[] = [];
  let heldBytes = 0;
  let rows = 0;
  for (const file of files) {
    for await (const group of decodeParquet(file)) {
      for (const row of group) {
        const [jobId, seq] = [row.job_id as JobId, Number(row.page_seq)];
        if (isDropped(jobId, seq, dropped)) continue;
        firstPages.set(jobId, Math.min(firstPages.get(jobId) ?? seq, seq));
        held.push(row);
        heldBytes += bytesOfRow(row);
        rows += 1;
        if (held.length < ROWS_OF_A_GROUP && heldBytes < BYTES_OF_A_GROUP) continue;
        await writer.write(held);
        [held, heldBytes] = [[], 0];
      }
    }
  }
  if (rows === 0) return null;
  if (held.length > 0) await writer.write(held);
  return { rows, jobs: jobsOf(firstPages), bytes: await writer.finish() };
}

function isDropped(jobId: JobId, seq: number, { before, pages }: DroppedRows): boolean {
  const keepFrom = before.get(jobId);
  if (keepFrom === null) return true;
  return (keepFrom !== undefined && seq < keepFrom) || pages.has(seq);
}

/** The numbers of the pages that these jobs have in the files. */
export async function pagesInFiles(
  files: readonly Uint8Array[],
  jobs: readonly JobId[],
): Promise<ReadonlyMap<JobId, readonly number[]>> {
  const found = new Map<JobId, Set<number>>(jobs.map((job) => [job, new Set()]));
  for (const file of files) {
    for await (const group of decodeParquet(file, ['job_id', 'page_seq'])) {
      for (const row of group) found.get(row.job_id as JobId)?.add(Number(row.page_seq));
    }
  }
  return new Map([...found].map(([job, pages]) => [job, [...pages]]));
}
