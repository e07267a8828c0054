import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import { LAKE_TABLES, type LakeFileJob, type LakePage, type LakeTable } from '../../core/ports/lake-store.ts';
import { dayOf, hostOf, type LakePartition, partitionName } from './lake-layout.ts';
import { decodeParquet, encodeParquet, openParquet } from './parquet-file.ts';

export type LakeValue = string | number | bigint | boolean | Date | null;
/** By the names of the columns; a column that is missing is null. */
export type LakeRow = Readonly<Record<string, LakeValue>>;
type PageRows = Readonly<Record<LakeTable, readonly LakeRow[]>>;

/** The rows of one page. A record that cannot be read, or that has expired, gives no links and no records. */
function rowsOfPage(jobId: JobId, { seq, page }: LakePage): PageRows {
  const record = recordOf(page);
  const host = hostOf(page.url) ?? '';
  const key = {
    job_id: jobId,
    task_id: BigInt(page.taskId),
    page_seq: BigInt(seq),
    url: page.url,
    host,
    fetched_at: new Date(page.fetchedAt),
  };
  const links = (record?.links ?? []).map((link, position): LakeRow => {
    const linkHost = hostOf(link.url);
    return {
      ...key,
      position,
      link_url: link.url,
      link_host: linkHost,
      text: link.text,
      rel: link.rel,
      kind: link.from,
      is_internal: linkHost === host,
    };
  });
  return {
    pages: [{ ...key, ...pageFields(page, record), link_count: links.length }],
    links,
    records: record === null || !hasContents(record) ? [] : [{ ...key, ...recordFields(record) }],
  };
}

function recordOf({ record }: Page): PageRecord | null {
  if (record === null) return null;
  try {
    return JSON.parse(unpackRecord(record).toString('utf8')) as PageRecord;
  } catch {
    return null;
  }
}

function pageFields(page: Page, record: PageRecord | null): LakeRow {
  const metadata = record?.metadata ?? null;
  return {
    final_url: page.finalUrl,
    status_code: page.statusCode,
    content_type: page.contentType,
    charset: page.charset,
    depth: page.depth,
    bytes: BigInt(page.bytes),
    content_hash: page.contentHash,
    text_hash: page.textHash,
    title: page.title,
    description: metadata?.description ?? null,
    language: metadata?.language ?? null,
    canonical_url: metadata?.canonical ?? null,
    robots: metadata?.robots ?? null,
    h1: metadata?.headings.find(({ level }) => level === 1)?.text ?? null,
    word_count: record?.content?.wordCount ?? null,
    outcome: record?.outcome ?? null,
    is_rendered: record?.rendered !== undefined,
    etag: page.etag,
    last_modified: page.lastModified,
    duplicate_of: page.duplicateOf,
    error_code: page.errorCode,
    error_message: page.errorMessage,
  };
}

const hasContents = ({ extracted, structured, content, text, markdown }: PageRecord): boolean =>
  [extracted, structured, content, text, markdown].some((part) => part !== undefined && part !== null);

function recordFields(record: PageRecord): LakeRow {
  const { content } = record;
  return {
    type: record.extractedType ?? null,
    probability: record.extractedProbability ?? null,
    data: jsonOf(record.extracted),
    structured: jsonOf(record.structured),
    title: content?.title ?? record.metadata?.title ?? null,
    author: content?.author ?? null,
    published_at: content?.publishedAt ?? null,
    modified_at: content?.modifiedAt ?? null,
    page_type: content?.pageType ?? null,
    text: record.text ?? content?.text ?? null,
    markdown: record.markdown ?? null,
  };
}

const jsonOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

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

const jobsOf = (firstPages: ReadonlyMap<JobId, number>): LakeFileJob[] =>
  [...firstPages].map(([jobId, firstPage]) => ({ jobId, firstPage }));

/** About what a row takes in memory. */
const BYTES_OF_A_VALUE = 16;

function bytesOfRow(row: LakeRow): number {
  let bytes = 0;
  for (const value of Object.values(row)) {
    bytes += BYTES_OF_A_VALUE + (typeof value === 'string' ? value.length : 0);
  }
  return bytes;
}

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
