import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { rawHtmlOf } from '../../capabilities/jobs/results/page-result.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId, TaskId } from '../../core/model/ids.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { isRenderedRecord, unpackRecord } from '../../core/model/page-record.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Store } from '../../core/ports/store.ts';
import type { OpenStorage } from '../shell/shell.ts';
import { writeArtifacts } from './output-files.ts';
import { failureLine, hasPage, pageLine, shownPageLine } from './page-line.ts';
import { cannotWrite } from './screen.ts';

type Source = Pick<OpenStorage, 'store' | 'blobs'>;

/**
 * pages.ndjson: a copy of what the store holds, one line per page in the order they were stored. The store is the
 * truth; the file is made from it anew whenever a crawl is opened, so that nothing a crash left in it remains, and
 * then follows the commits.
 */
export interface PageFile {
  /** Takes pages that were just stored. They are written soon; when too many wait, the file is made anew at the end. */
  append(pages: readonly Page[]): void;
  /** Throws when a page that was taken could not be written. */
  check(): void;
  /**
   * Writes the rest and the URLs that failed without a page, and closes the file. One that was removed or replaced
   * meanwhile is made anew; throws when that happens again.
   */
  finish(source: Source): Promise<void>;
  /** Closes the file as it is. */
  abandon(): Promise<void>;
}

export interface PageFileOptions {
  readonly path: string;
  readonly jobId: JobId;
  /** Folder for pictures, documents and recorded answers, made when there is one; it stands beside the file. */
  readonly artifactsDir: string;
  /** The bodies as they came, too. */
  readonly withBodies: boolean;
}

/** Pages read and written together; one with its body may be at the body limit, so fewer of those. */
const STEP = 256;
const HEAVY_STEP = 8;
/** A file that cannot keep up must not keep the pages in memory. */
const MOST_WAITING = 4_096;
const LEDGER_STEP = 1_000;
/** A failed page may be fetched again by a retry and then has an older line; this many are watched for that. */
const MOST_WATCHED = 100_000;

/** Writes the file as the store has it now and keeps it open. */
export async function openPageFile(source: Source, options: PageFileOptions): Promise<PageFile> {
  const { path, jobId, artifactsDir, withBodies } = options;
  const limit = withBodies ? HEAVY_STEP : STEP;
  /** Tasks whose failure has a line. */
  const failed = new Set<TaskId>();
  /** The file has lines that no longer hold, or lacks some. */
  let isStale = false;
  let file: FileHandle;
  let waiting: Page[] = [];
  let writing: Promise<void> | null = null;
  let failure: unknown = null;
  const sources = await source.store.getSources(jobId);

  async function begin({ store, blobs }: Source): Promise<void> {
    failed.clear();
    isStale = false;
    // Written beside the old file and renamed when complete, so the file is never incomplete.
    file = await touching(() => open(`${path}.part`, 'w'));
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listPages({ jobId, cursor, limit });
      await write(items, blobs);
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
    await touching(() => rename(`${path}.part`, path));
  }

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0 && !isStale && failure === null) {
      const pages = waiting.slice(0, limit);
      waiting = waiting.slice(limit);
      await write(pages, source.blobs).catch((error: unknown) => {
        // What cannot be read at the moment is read again at the end.
        if (isScrapifieError(error) && error.code !== 'STORE_UNAVAILABLE') failure = error;
        else isStale = true;
      });
    }
  }

  async function write(pages: readonly Page[], blobs: Blobs): Promise<void> {
    if (pages.length === 0) return;
    const parts: Buffer[] = [];
    for (const page of pages) {
      if (failed.has(page.taskId)) isStale = true;
      if (page.errorCode !== null && failed.size < MOST_WATCHED) failed.add(page.taskId);
      parts.push(...(await lineOf(page, blobs)));
    }
    await touching(() => file.appendFile(Buffer.concat(parts)));
  }

  async function lineOf(page: Page, blobs: Blobs): Promise<Buffer[]> {
    const rawHtml = withBodies ? await rawHtmlOf(page, blobs) : undefined;
    const json = page.record === null ? null : unpackRecord(page.record);
    if (json === null || !isRenderedRecord(json)) return pageLine(page, rawHtml, json, sources[page.url]);
    const record = JSON.parse(json.toString('utf8')) as PageRecord;
    const { rendered = {} } = record;
    const files = await writeArtifacts(rendered, page.url, artifactsDir, blobs);
    return shownPageLine(page, rawHtml, record, files, sources[page.url]);
  }

  async function appendFailures(store: Store): Promise<void> {
    let from: string | undefined;
    do {
      const entries = await store.listTasks({ jobId, state: 'failed', cursor: from, limit: LEDGER_STEP });
      const lines = entries.items
        .filter((entry) => !hasPage(entry))
        .map((entry) => failureLine(entry, sources[entry.url]));
      if (lines.length > 0) await touching(() => file.appendFile(lines.join('')));
      from = entries.nextCursor ?? undefined;
    } while (from !== undefined);
  }

  /** Whether the file that is written still has its name: one that was removed takes lines that no reader finds. */
  async function isInPlace(): Promise<boolean> {
    const [own, named] = await Promise.all([file.stat(), stat(path).catch(() => null)]);
    return named !== null && named.ino === own.ino && named.dev === own.dev;
  }

  function check(): void {
    if (failure !== null) throw failure;
  }

  await begin(source);
  return {
    append(pages) {
      if (waiting.length > MOST_WAITING) isStale = true;
      if (isStale) return;
      waiting.push(...pages);
      writing ??= writeWaiting().finally(() => {
        writing = null;
      });
    },
    check,
    async finish(from) {
      await writing;
      // What came while the last of them was written.
      await writeWaiting();
      check();
      if (isStale || !(await isInPlace())) {
        await file.close();
        await begin(from);
      }
      await appendFailures(from.store);
      if (!(await isInPlace())) {
        throw new ScrapifieError(
          'DATA_DIR_UNUSABLE',
          `${path} was removed or replaced while it was written. No page is lost; --resume writes it again.`,
        );
      }
      await file.close();
    },
    async abandon() {
      waiting = [];
      await writing;
      await file.close();
    },
  };

  async function touching<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw cannotWrite(path, error);
    }
  }
}
