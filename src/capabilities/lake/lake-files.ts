import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { LakeFiles, LakePage, LakeTable, NewLakeFile } from '../../core/ports/lake-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { siblingModule } from '../../lib/threads/thread.ts';
import { ThreadClient } from '../../lib/threads/thread-client.ts';
import { LAKE_SCHEMA_VERSION, lakePath, newFileId } from './lake-layout.ts';
import type { DroppedRows, EncodedFile, MergedFile } from './lake-rows.ts';

/** What the lake is made of. */
export interface LakeParts {
  readonly store: Store;
  readonly files: LakeFiles;
  readonly encoder: LakeEncoder;
  /** The current time by the store's clock. */
  readonly now: () => number;
  /** Random hexadecimal digits, at least 16. */
  readonly randomHex: () => string;
  readonly logger: Logger;
}

type WriterParts = Pick<LakeParts, 'files' | 'now' | 'randomHex'>;

/** Files that are written at once: each is synced to disk, or sent to the object store. */
const WRITES_AT_ONCE = 8;

/** Writes the files under names of their own. They are no part of the lake yet. */
export async function writeLakeFiles(
  encoded: readonly EncodedFile[],
  { files, now, randomHex }: WriterParts,
): Promise<readonly NewLakeFile[]> {
  const written: NewLakeFile[] = [];
  for (let at = 0; at < encoded.length; at += WRITES_AT_ONCE) {
    const some = encoded
      .slice(at, at + WRITES_AT_ONCE)
      .map(async ({ bytes, ...file }): Promise<NewLakeFile> => {
        const madeAt = Math.floor(now());
        const id = newFileId(madeAt, randomHex());
        const path = lakePath(file, id);
        await files.write(path, bytes);
        return { ...file, id, path, bytes: bytes.length, madeAt, schemaVersion: LAKE_SCHEMA_VERSION };
      });
    written.push(...(await Promise.all(some)));
  }
  return written;
}

/** Removes files that have not become part of the lake. What fails is left to the collection of orphans. */
export async function discardFiles(
  written: readonly NewLakeFile[],
  { files, logger }: Pick<LakeParts, 'files' | 'logger'>,
): Promise<void> {
  await files
    .remove(written.map(({ path }) => path))
    .catch((error) => logger.warn({ err: error }, 'lake: files were not removed'));
}

/** Makes Parquet files in a thread of its own, which is started by the first call and ends when it was idle for a while. */
interface LakeEncoder {
  /** Rows that become files together; the caller closes it. */
  openBatch(): EncoderBatch;
  /** Calls `mergeFiles` in the thread. */
  merge(table: LakeTable, files: readonly Uint8Array[], dropped: DroppedRows): Promise<MergedFile | null>;
  /** Calls `pagesInFiles` in the thread. */
  pages(files: readonly Uint8Array[], jobs: readonly JobId[]): Promise<ReadonlyMap<JobId, readonly number[]>>;
  close(): Promise<void>;
}

export interface EncoderBatch {
  /** Adds the rows of these pages to those that wait for `flush`. Returns about how many bytes wait now. */
  add(accountId: AccountId, jobId: JobId, pages: readonly LakePage[]): Promise<number>;
  /** The files of all rows that wait. Rejects when some were lost with their thread. */
  flush(): Promise<readonly EncodedFile[]>;
  /** Forgets the rows that wait. Never rejects. */
  close(): Promise<void>;
}

/** What the thread answers; see `LakeEncoder`. */
export interface EncoderMethods {
  add(batch: number, accountId: AccountId, jobId: JobId, pages: readonly LakePage[]): Promise<number>;
  /** Pages that were added since the last flush: a thread that has others is another one, and has lost them. */
  flush(batch: number, addedPages: number): Promise<readonly EncodedFile[]>;
  closeBatch(batch: number): boolean;
  merge(table: LakeTable, files: readonly Uint8Array[], dropped: DroppedRows): Promise<MergedFile | null>;
  pages(files: readonly Uint8Array[], jobs: readonly JobId[]): Promise<ReadonlyMap<JobId, readonly number[]>>;
}

/** A crawl writes every few seconds: its thread is kept. */
const IDLE_MS = 30_000;
/** More than a batch and a merge together take; a thread that needs more is ended, and the process goes on. */
const MAX_HEAP_MB = 512;

export function createLakeEncoder(): LakeEncoder {
  let lastBatch = 0;
  let openBatches = 0;
  const thread = new ThreadClient<EncoderMethods>({
    name: 'lake',
    entry: siblingModule('./thread.ts', import.meta.url),
    memory: { youngMb: 24, oldMb: MAX_HEAP_MB },
    idleMs: IDLE_MS,
    mayRest: () => openBatches === 0,
    errorOf: ({ cause }) => cause ?? new Error('The thread of the lake has ended.'),
  });

  return {
    openBatch() {
      lastBatch += 1;
      openBatches += 1;
      const batch = lastBatch;
      let addedPages = 0;
      return {
        add(accountId, jobId, pages) {
          addedPages += pages.length;
          return thread.call('add', [batch, accountId, jobId, pages]);
        },
        async flush() {
          if (addedPages === 0) return [];
          const flushed = addedPages;
          addedPages = 0;
          return thread.call('flush', [batch, flushed]);
        },
        async close() {
          openBatches -= 1;
          if (thread.isRunning) await thread.call('closeBatch', [batch]).catch(() => undefined);
        },
      };
    },
    merge: (table, files, dropped) => thread.call('merge', [table, files, dropped]),
    pages: (files, jobs) => thread.call('pages', [files, jobs]),
    close: () => thread.close(),
  };
}
