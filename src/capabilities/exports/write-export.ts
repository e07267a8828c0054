import { createHash } from 'node:crypto';
import { type ErrorCode, EXIT } from '../../core/errors/registry.ts';
import { asScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Export, ExportSpec, ExportTarget } from '../../core/model/export.ts';
import { type ExportFormat, exportFormatSpec } from '../../core/model/export-registry.ts';
import type { ContentHash, JobId, TaskId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import { requireLedger } from '../../core/model/retention.ts';
import type { Blobs, Files } from '../../core/ports/blobs.ts';
import type { ExportEnd, ExportProgress } from '../../core/ports/export-store.ts';
import type { PageKeyStore } from '../../core/ports/job-pages-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSorter } from '../../lib/external-sorter.ts';
import { siblingModule } from '../../lib/threads/thread.ts';
import { readRecord } from '../jobs/results/page-result.ts';
import { fileOf, nameForPeople, removeFiles } from './export-file.ts';
import { openTable, type TableParts } from './sources/open-table.ts';
import type { ExportPage, PageWriter, TableWriter } from './table.ts';

interface WriteParts extends ExportParts {
  readonly store: ExportParts['store'] & Pick<Store, 'getJob'>;
  /** Where the files of exports are. */
  readonly files: Files;
  /** The operator's place that gets a copy; null: none does. */
  readonly target: Files | null;
  readonly onProgress: (progress: ExportProgress) => void;
}

/** Jobs beyond this may give a workbook of more than 4 GB: XML takes several times the bytes of a text. */
const LARGE_PAGES = 500_000;
const LARGE_BYTES = 1_073_741_824;

/** Where pages are asked for at once: more of small ones than of large ones, whose records may be as long as they are. */
const KEYS_AT_ONCE = 5_000;
const PAGES_AT_ONCE = 100;
const BYTES_AT_ONCE = 4_194_304;

/**
 * Writes the file of a claimed export. The file is there whole or not at all; files of earlier attempts are removed first.
 * Throws NOT_FOUND when the job is gone, EXPIRED when its pages are, and what reading and writing throw.
 */
export async function writeExport(claimed: Export, parts: WriteParts): Promise<ExportEnd> {
  const { store, files, target, onProgress } = parts;
  const job = await store.getJob(claimed.jobId);
  if (job === null) throw new ScrapifieError('NOT_FOUND', `There is no job ${claimed.jobId}.`);
  await removeFiles({ ...claimed, attempts: claimed.attempts - 1 }, files);
  const digest = createHash('sha256');
  let [rows, sizeBytes] = [0, 0];
  const { spec, createdAt } = claimed;
  const bytes = exportBytes(
    {
      job,
      spec,
      createdAt,
      onRows: (more) => {
        rows += more;
        onProgress({ rows, sizeBytes });
      },
    },
    parts,
  );
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      digest.update(chunk);
      sizeBytes += chunk.length;
      onProgress({ rows, sizeBytes });
      yield chunk;
    }
  }
  const name = fileOf(claimed);
  await files.write(name, counted());
  if (target !== null) {
    const copy = nameForPeople(claimed, job);
    await copyTo(target, { to: spec.to, name: copy, bytes: files.read(name) });
  }
  return { rows, sizeBytes, sha256: digest.digest('hex') };
}

interface Copy {
  /** The place as the request names it. */
  readonly to: ExportTarget | undefined;
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Throws what reading the bytes throws; failures of the place itself name the place. */
async function copyTo(target: Files, { to, name, bytes }: Copy): Promise<void> {
  let unread: unknown;
  async function* readable(): AsyncGenerator<Uint8Array> {
    try {
      yield* bytes;
    } catch (error) {
      unread = error;
      throw error;
    }
  }
  try {
    // Its name has the id of the export: only an earlier attempt can have written it.
    await target.remove(name);
    await target.write(name, readable());
  } catch (error) {
    throw unread ?? (to === undefined ? error : placeError(error, to));
  }
}

/** What codes whose meaning speaks of the installation's own storage mean at a place of copies. */
const PLACE_WORDS: Partial<Record<ErrorCode, string>> = {
  DATA_DIR_UNUSABLE: 'The folder cannot be created or written.',
  DISK_FULL: 'No space is left there.',
  BLOBS_UNAVAILABLE: 'The object store did not answer.',
};

/**
 * A failure of the installation while a copy was written, as one of the place: UNSUPPORTED_OPTION where the place takes no
 * copy, EXPORT_FAILED where a later attempt may find it in order. Says no more of it than the request has named.
 */
function placeError(error: unknown, to: ExportTarget): unknown {
  const known = asScrapifieError(error);
  if (known.spec.exitCode !== EXIT.environment) return error;
  return new ScrapifieError(
    known.spec.retry === 'never' ? 'UNSUPPORTED_OPTION' : 'EXPORT_FAILED',
    `The copy cannot be written to ${'folder' in to ? to.folder : to.s3}: ${PLACE_WORDS[known.code] ?? known.spec.meaning}`,
    { cause: error },
  );
}

interface ExportParts {
  readonly store: PageParts['store'] & TableParts['store'];
  readonly blobs: Blobs;
}

interface ExportRun {
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

/** A file of `writers/`: its functions, by the formats that they write. */
interface WriterModule {
  readonly writers: Readonly<Partial<Record<ExportFormat, TableWriter | PageWriter>>>;
}

/** How a format is written. Writers are loaded when they are needed: some bring large packages. */
type LoadedWriter =
  | { readonly takes: 'rows'; readonly write: TableWriter }
  | { readonly takes: 'pages'; readonly write: PageWriter };

export async function loadWriter(format: ExportFormat): Promise<LoadedWriter> {
  const { takes, writer } = exportFormatSpec(format);
  const { writers } = (await import(
    siblingModule(`./writers/${writer}.ts`, import.meta.url).href
  )) as WriterModule;
  const write = writers[format];
  if (write === undefined) throw new Error(`writers/${writer}.ts has no writer of ${format}.`);
  return { takes, write } as LoadedWriter;
}

interface PageParts {
  readonly store: PageKeyStore;
  readonly blobs: Pick<Blobs, 'get'>;
}

/**
 * The pages of a job in the order of their URLs, which does not depend on when they were fetched: a crawl that was
 * interrupted and resumed gives the same order as one that was not.
 */
async function* pagesInOrder(jobId: JobId, { store, blobs }: PageParts): AsyncGenerator<ExportPage> {
  for await (const taskIds of sortedKeys(jobId, store)) {
    const pages = new Map<TaskId, Page>();
    for (const page of await store.pagesOfTasks(jobId, taskIds)) pages.set(page.taskId, page);
    for (const taskId of taskIds) {
      const page = pages.get(taskId);
      // Deleted since its key was read.
      if (page !== undefined) yield exportPage(page, blobs);
    }
  }
}

function exportPage(page: Page, blobs: Pick<Blobs, 'get'>): ExportPage {
  const isGone = page.expired?.includes('bodies') === true;
  return {
    page,
    record: readRecord(page.record),
    body: async () => (isGone || page.contentHash === null ? null : blobs.get(page.contentHash)),
    blob: (hash: ContentHash) => blobs.get(hash),
  };
}

async function* sortedKeys(
  jobId: JobId,
  store: Pick<PageKeyStore, 'listPageKeys'>,
): AsyncGenerator<readonly TaskId[]> {
  const sorter = createSorter();
  try {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listPageKeys({ jobId, cursor, limit: KEYS_AT_ONCE });
      for (const { url, taskId, bytes } of items) sorter.add(url, `${taskId} ${bytes}`);
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
    let batch: TaskId[] = [];
    let bytes = 0;
    for (const value of sorter.values()) {
      const [taskId, size] = value.split(' ').map(Number) as [number, number];
      batch.push(taskId as TaskId);
      bytes += size;
      if (batch.length < PAGES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) yield batch;
  } finally {
    sorter.close();
  }
}
