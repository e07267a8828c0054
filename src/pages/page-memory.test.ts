import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { PAGE_KINDS, type PageMemory, type PageMemoryData } from './page-memory.fixture.ts';

const PAGES = 96;
const FILLER_CHARS = 200_000;
/** A tenth of what the texts of all pages take. */
const MOST_GROWTH_BYTES = (PAGES * FILLER_CHARS * 2) / 10;

it.each(PAGE_KINDS)('a thread that has read many pages keeps the text of none: %s', async (kind) => {
  const worker = new Worker(new URL('./page-memory.fixture.ts', import.meta.url), {
    workerData: { kind, pages: PAGES, fillerChars: FILLER_CHARS } satisfies PageMemoryData,
    stdout: true,
    stderr: true,
  });
  const [{ failures, firstBytes, lastBytes }] = (await once(worker, 'message')) as [PageMemory];
  await worker.terminate();
  expect(failures).toEqual([]);
  expect(lastBytes - firstBytes).toBeLessThan(MOST_GROWTH_BYTES);
});
