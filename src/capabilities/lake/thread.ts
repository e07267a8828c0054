import { answerCalls, handOver, lowerThreadPriority } from '../../lib/threads/answer-calls.ts';
import type { EncoderMethods } from './lake-files.ts';
import { createRowBatch, type EncodedFile, mergeFiles, pagesInFiles, type RowBatch } from './lake-rows.ts';

/** The thread that turns pages into Parquet files: parsing and compressing would hold up the event loop. */
lowerThreadPriority();
const batches = new Map<number, { readonly rows: RowBatch; addedPages: number }>();

answerCalls<EncoderMethods>({
  add(id, accountId, jobId, pages) {
    const batch = batches.get(id) ?? { rows: createRowBatch(), addedPages: 0 };
    batches.set(id, batch);
    batch.addedPages += pages.length;
    return batch.rows.add(accountId, jobId, pages);
  },
  async flush(id, addedPages) {
    const batch = batches.get(id);
    if (batch?.addedPages !== addedPages) throw new Error('Rows of the lake were lost with their thread.');
    batch.addedPages = 0;
    const files = await batch.rows.flush();
    return handOver(files, files.map(memoryOf));
  },
  closeBatch: (id) => batches.delete(id),
  async merge(table, files, dropped) {
    const merged = await mergeFiles(table, files, dropped);
    return handOver(merged, merged === null ? [] : [memoryOf(merged)]);
  },
  pages: (files, jobs) => pagesInFiles(files, jobs),
});

const memoryOf = ({ bytes }: Pick<EncodedFile, 'bytes'>): ArrayBuffer => bytes.buffer as ArrayBuffer;
