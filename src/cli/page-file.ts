import { type FileHandle, open, rename } from 'node:fs/promises';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { JobId, TaskId } from '../model/ids.ts';
import type { Page } from '../model/page.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { Store } from '../ports/store.ts';
import { failureLine, hasPage, pageLine, pageLineWithBody } from './page-line.ts';
import type { OpenStorage } from './shell.ts';

type Source = Pick<OpenStorage, 'store' | 'blobs'>;

/**
 * pages.ndjson: a copy of what the store holds, one line per page in the order they were stored. The store is the
 * truth; the file is made from it anew whenever a crawl is opened, so that nothing a crash left in it remains, and
 * then follows the commits.
 */
export interface PageFile {
  /** Adds lines of pages stored since the last call, of some of them when there are many; true when that was all. */
  catchUp(source: Source): Promise<boolean>;
  /** Adds the rest and the URLs that failed without a page, and closes the file. */
  finish(source: Source): Promise<void>;
  /** Closes the file as it is. */
  abandon(): Promise<void>;
}

export interface PageFileOptions {
  readonly path: string;
  readonly jobId: JobId;
  /** The bodies as they came, too. */
  readonly withBodies: boolean;
}

/** Pages read and written together; one with its body may be at the body limit, so fewer of those. */
const STEP = 256;
const HEAVY_STEP = 8;
/** Steps of one call: whoever follows a fast crawl has other things to do as well. */
const MOST_STEPS = 4;
const LEDGER_STEP = 1_000;
/** A failed page may be fetched again by a retry and then has an older line; this many are watched for that. */
const MOST_WATCHED = 100_000;

/** Writes the file as the store has it now and keeps it open. */
export async function openPageFile(source: Source, options: PageFileOptions): Promise<PageFile> {
  const { path, jobId, withBodies } = options;
  const limit = withBodies ? HEAVY_STEP : STEP;
  /** Tasks whose failure has a line. */
  const failed = new Set<TaskId>();
  let hasOldLines = false;
  let file: FileHandle;
  let cursor: string | undefined;
  /** Written already, but not behind the cursor: the store gives no cursor for a step that is not full. */
  let ahead = new Set<TaskId>();

  async function begin(source: Source): Promise<void> {
    failed.clear();
    hasOldLines = false;
    cursor = undefined;
    ahead = new Set();
    // Beside the old file and put in its place when complete: what is there is never half a file.
    file = await writing(() => open(`${path}.part`, 'w'));
    await copyAll(source);
    await writing(() => rename(`${path}.part`, path));
  }

  async function copySteps({ store, blobs }: Source, mostSteps: number): Promise<boolean> {
    for (let step = 0; step < mostSteps; step += 1) {
      const { items, nextCursor } = await store.listPages({ jobId, cursor, limit });
      await append(
        items.filter(({ taskId }) => !ahead.has(taskId)),
        blobs,
      );
      if (nextCursor === null) {
        for (const { taskId } of items) ahead.add(taskId);
        return true;
      }
      cursor = nextCursor;
      ahead = new Set();
    }
    return false;
  }

  const copyAll = (source: Source) => copySteps(source, Number.POSITIVE_INFINITY);

  async function append(pages: readonly Page[], blobs: Blobs): Promise<void> {
    if (pages.length === 0) return;
    const parts: Buffer[] = [];
    for (const page of pages) {
      if (failed.has(page.taskId)) hasOldLines = true;
      if (page.errorCode !== null && failed.size < MOST_WATCHED) failed.add(page.taskId);
      parts.push(...(withBodies ? await pageLineWithBody(page, blobs) : pageLine(page, undefined)));
    }
    await writing(() => file.appendFile(Buffer.concat(parts)));
  }

  async function appendFailures(store: Store): Promise<void> {
    let from: string | undefined;
    do {
      const entries = await store.listTasks({ jobId, state: 'failed', cursor: from, limit: LEDGER_STEP });
      const lines = entries.items.filter((entry) => !hasPage(entry)).map(failureLine);
      if (lines.length > 0) await writing(() => file.appendFile(lines.join('')));
      from = entries.nextCursor ?? undefined;
    } while (from !== undefined);
  }

  await begin(source);
  return {
    catchUp: (from) => copySteps(from, MOST_STEPS),
    async finish(from) {
      await copyAll(from);
      if (hasOldLines) {
        await file.close();
        await begin(from);
      }
      await appendFailures(from.store);
      await file.close();
    },
    abandon: () => file.close(),
  };

  async function writing<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }
}

/** What a file of the crawl's folder that cannot be written means to the person who named the folder. */
export function cannotWrite(path: string, error: unknown): ScrapifieError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ScrapifieError('DISK_FULL', `No space left to write ${path}.`, { cause: error });
  }
  return new ScrapifieError('DATA_DIR_UNUSABLE', `${path} cannot be written: ${message}`, { cause: error });
}
