import { Worker } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { LakePage, LakeTable } from '../../core/ports/lake-store.ts';
import type { DroppedRows, MergedFile } from './merge-files.ts';
import type { EncodedFile } from './row-batch.ts';

/** Makes Parquet files in a thread of its own, which is started by the first call and ends when it was idle for a while. */
export interface LakeEncoder {
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

export type EncoderWork =
  | {
      readonly kind: 'add';
      readonly batch: number;
      readonly accountId: AccountId;
      readonly jobId: JobId;
      readonly pages: readonly LakePage[];
    }
  /** Pages that were added since the last flush: a thread that has others is another one, and has lost them. */
  | { readonly kind: 'flush'; readonly batch: number; readonly addedPages: number }
  | { readonly kind: 'close'; readonly batch: number }
  | {
      readonly kind: 'merge';
      readonly table: LakeTable;
      readonly files: readonly Uint8Array[];
      readonly dropped: DroppedRows;
    }
  | { readonly kind: 'pages'; readonly files: readonly Uint8Array[]; readonly jobs: readonly JobId[] };

export interface EncoderCall {
  readonly id: number;
  readonly work: EncoderWork;
}

export type EncoderAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A crawl writes every few seconds: its thread is kept. */
const IDLE_MS = 30_000;
/** More than a batch and a merge together take; a thread that needs more is ended, and the process goes on. */
const MAX_HEAP_MB = 512;

export function createLakeEncoder(): LakeEncoder {
  const calls = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let lastId = 0;
  let lastBatch = 0;
  let openBatches = 0;
  let idle: NodeJS.Timeout | undefined;

  function open(): Worker {
    const entry = import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js';
    const opened = new Worker(new URL(entry, import.meta.url), {
      name: 'lake',
      resourceLimits: { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    opened.unref();
    listen(opened, 'message', (answer: EncoderAnswer) => {
      const call = calls.get(answer.id);
      calls.delete(answer.id);
      if ('failure' in answer) call?.reject(new Error(answer.failure));
      else call?.resolve(answer.result);
      if (calls.size === 0) rest();
    });
    const fail = (error: Error) => {
      if (thread === opened) thread = null;
      for (const call of calls.values()) call.reject(error);
      calls.clear();
    };
    listen(opened, 'error', fail);
    listen(opened, 'exit', () => fail(new Error('The thread of the lake has ended.')));
    return opened;
  }

  function rest(): void {
    thread?.unref();
    clearTimeout(idle);
    if (openBatches === 0) idle = setTimeout(() => void end(), IDLE_MS).unref();
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ended = thread;
    thread = null;
    await ended?.terminate();
  }

  function ask<T>(work: EncoderWork): Promise<T> {
    clearTimeout(idle);
    thread ??= open();
    thread.ref();
    lastId += 1;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    calls.set(lastId, { resolve, reject });
    thread.postMessage({ id: lastId, work } satisfies EncoderCall);
    return promise as Promise<T>;
  }

  return {
    openBatch() {
      lastBatch += 1;
      openBatches += 1;
      const batch = lastBatch;
      let addedPages = 0;
      return {
        add(accountId, jobId, pages) {
          addedPages += pages.length;
          return ask({ kind: 'add', batch, accountId, jobId, pages });
        },
        async flush() {
          if (addedPages === 0) return [];
          const flushed = addedPages;
          addedPages = 0;
          return ask({ kind: 'flush', batch, addedPages: flushed });
        },
        async close() {
          openBatches -= 1;
          if (thread !== null) await ask({ kind: 'close', batch }).catch(() => undefined);
        },
      };
    },
    merge: (table, files, dropped) => ask({ kind: 'merge', table, files, dropped }),
    pages: (files, jobs) => ask({ kind: 'pages', files, jobs }),
    close: end,
  };
}
