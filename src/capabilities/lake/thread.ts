import { parentPort } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import { lowerThreadPriority } from '../../lib/thread-priority.ts';
import type { EncoderAnswer, EncoderCall } from './lake-encoder.ts';
import { mergeFiles, pagesInFiles } from './merge-files.ts';
import { createRowBatch, type EncodedFile, type RowBatch } from './row-batch.ts';

/** The thread that turns pages into Parquet files: parsing and compressing would hold up the event loop. */
if (parentPort === null) throw new Error('The thread of the lake has no parent.');
const port = parentPort;
lowerThreadPriority();
const batches = new Map<number, { readonly rows: RowBatch; addedPages: number }>();
/** Calls are answered one after the other. */
let last: Promise<void> = Promise.resolve();

async function answer({ work }: EncoderCall): Promise<unknown> {
  switch (work.kind) {
    case 'add': {
      const batch = batches.get(work.batch) ?? { rows: createRowBatch(), addedPages: 0 };
      batches.set(work.batch, batch);
      batch.addedPages += work.pages.length;
      return batch.rows.add(work.accountId, work.jobId, work.pages);
    }
    case 'flush': {
      const batch = batches.get(work.batch);
      if (batch?.addedPages !== work.addedPages) {
        throw new Error('Rows of the lake were lost with their thread.');
      }
      batch.addedPages = 0;
      return batch.rows.flush();
    }
    case 'close':
      return batches.delete(work.batch);
    case 'merge':
      return mergeFiles(work.table, work.files, work.dropped);
    case 'pages':
      return pagesInFiles(work.files, work.jobs);
  }
}

listen(port, 'message', (call: EncoderCall) => {
  last = last.then(async () => {
    try {
      const result = await answer(call);
      port.postMessage({ id: call.id, result } satisfies EncoderAnswer, memoryOf(call, result));
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      port.postMessage({ id: call.id, failure } satisfies EncoderAnswer);
    }
  });
});

/** Files are handed over and not copied. */
function memoryOf({ work }: EncoderCall, result: unknown): ArrayBuffer[] {
  const files =
    work.kind === 'flush'
      ? (result as readonly EncodedFile[])
      : work.kind === 'merge' && result !== null
        ? [result as EncodedFile]
        : [];
  return files.map(({ bytes }) => bytes.buffer as ArrayBuffer);
}
