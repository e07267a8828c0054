import type { AccountId, JobId } from '../../core/model/ids.ts';
import { LAKE_TABLES, type LakeFileJob, type LakePage } from '../../core/ports/lake-store.ts';
import type { LakeRow } from './page-rows.ts';
import { rowsOfPage } from './page-rows.ts';
import { encodeParquet } from './parquet-file.ts';
import { dayOf, type LakePartition, partitionName } from './partition.ts';

/** The bytes of a file of the lake that has no name yet. */
export interface EncodedFile extends LakePartition {
  readonly rows: number;
  readonly jobs: readonly LakeFileJob[];
  readonly bytes: Uint8Array;
}

/** Rows on their way into files, by partition. The caller bounds it: it flushes when `add` says that enough is held. */
export interface RowBatch {
  /** Returns about how many bytes the rows take that are held now. */
  add(accountId: AccountId, jobId: JobId, pages: readonly LakePage[]): number;
  /** One file for each partition that has rows; holds nothing afterwards. */
  flush(): Promise<readonly EncodedFile[]>;
}

interface Group {
  readonly partition: LakePartition;
  readonly rows: LakeRow[];
  readonly firstPages: Map<JobId, number>;
}

export function createRowBatch(): RowBatch {
  const groups = new Map<string, Group>();
  let heldBytes = 0;

  const groupOf = (partition: LakePartition): Group => {
    const { accountId, table, domain, date } = partition;
    const key = `${accountId} ${table} ${domain} ${date}`;
    const group = groups.get(key) ?? { partition, rows: [], firstPages: new Map() };
    groups.set(key, group);
    return group;
  };

  function clear(): void {
    groups.clear();
    heldBytes = 0;
  }

  return {
    add(accountId, jobId, pages) {
      for (const page of pages) {
        const rows = rowsOfPage(jobId, page);
        const domain = partitionName(String(rows.pages[0]?.host ?? ''));
        const date = dayOf(page.page.fetchedAt);
        for (const table of LAKE_TABLES) {
          if (rows[table].length === 0) continue;
          const group = groupOf({ accountId, table, domain, date });
          for (const row of rows[table]) {
            group.rows.push(row);
            heldBytes += bytesOfRow(row);
          }
          const first = group.firstPages.get(jobId) ?? page.seq;
          group.firstPages.set(jobId, Math.min(first, page.seq));
        }
      }
      return heldBytes;
    },
    async flush() {
      const files: EncodedFile[] = [];
      for (const { partition, rows, firstPages } of groups.values()) {
        const bytes = await encodeParquet(partition.table, rows);
        files.push({ ...partition, rows: rows.length, jobs: jobsOf(firstPages), bytes });
      }
      clear();
      return files;
    },
  };
}

export const jobsOf = (firstPages: ReadonlyMap<JobId, number>): LakeFileJob[] =>
  [...firstPages].map(([jobId, firstPage]) => ({ jobId, firstPage }));

/** About what a row takes in memory. */
const BYTES_OF_A_VALUE = 16;

export function bytesOfRow(row: LakeRow): number {
  let bytes = 0;
  for (const value of Object.values(row)) {
    bytes += BYTES_OF_A_VALUE + (typeof value === 'string' ? value.length : 0);
  }
  return bytes;
}
