import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { PAGE_KINDS, type PageMemory, type PageMemoryData } from './page-memory.fixture.ts';

/** A text with one character that is not of Latin-1 takes two bytes for each. */
const bytesOf = ({ pages, fillerChars }: PageMemoryData) => pages * fillerChars * 2;

async function measure(data: PageMemoryData): Promise<PageMemory> {
  const worker = new Worker(new URL('./page-memory.fixture.ts', import.meta.url), {
    workerData: data,
    stdout: true,
    stderr: true,
  });
  const [memory] = (await once(worker, 'message')) as [PageMemory];
  await worker.terminate();
  return memory;
}

it.each(PAGE_KINDS)('a thread that has read many pages keeps the text of none: %s', async (kind) => {
  const data = { kind, pages: 96, fillerChars: 200_000 };
  const { failures, firstBytes, lastBytes } = await measure(data);
  expect(failures).toEqual([]);
  expect(lastBytes - firstBytes).toBeLessThan(bytesOf(data) / 10);
});

it('a thread that has read 10,000 pages with links to other sites has kept their URLs and little else', async () => {
  const data = { kind: 'links', pages: 10_000, fillerChars: 20_000 } as const;
  const { failures, firstBytes, lastBytes } = await measure(data);
  expect(failures).toEqual([]);
  expect(lastBytes - firstBytes).toBeLessThan(bytesOf(data) / 40);
});
