import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { EXPORT_THREAD } from '../../src/capabilities/exports/export-worker.ts';
import { loadWriter } from '../../src/capabilities/exports/write-export.ts';
import { keepThreadLimits, startSmallThread } from '../../src/core/config/thread-memory.ts';
import { type ExportFormat, PAGE_FORMATS } from '../../src/core/model/export-registry.ts';
import { CREATED_AT, JOB, pagesOf } from './pages.ts';
import { tableOf } from './rows.ts';

/**
 * One format, written by one side, in a thread like that of an export in a process of its own: `run.ts FORMAT ours|bare ROWS`.
 * Says rows a second, and how far the memory of the process has grown since before the thread was started.
 */
interface Work {
  readonly format: string;
  readonly side: string;
  readonly rows: number;
}

const WARM_ROWS = 2_000;
const LOOK_MS = 50;

async function ours(format: ExportFormat, count: number): Promise<number> {
  const writer = await loadWriter(format);
  let [written, quarter] = [0, 1];
  const onRows = (rows: number) => {
    written += rows;
    if (count <= WARM_ROWS || written < (count * quarter) / QUARTERS) return;
    quarter += 1;
    parentPort?.postMessage('quarter');
  };
  let bytes = 0;
  const chunks =
    writer.takes === 'rows'
      ? writer.write(tableOf(count), { title: 'full', isLarge: count > 500_000, excel: false, onRows })
      : writer.write(pagesOf(count), { job: JOB, createdAt: CREATED_AT, onRows });
  for await (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

/** A side loads its own packages only. */
async function writerOf(format: string, side: string): Promise<(count: number) => Promise<number>> {
  if (side === 'ours') return (count) => ours(format as ExportFormat, count);
  const isOfPages = (PAGE_FORMATS as readonly string[]).includes(format);
  const all = isOfPages
    ? (await import('./bare-pages.ts')).BARE_PAGES
    : (await import('./bare-rows.ts')).BARE_ROWS;
  const bare = all[format];
  if (bare === undefined) throw new Error(`There is nothing to compare ${format} with.`);
  return bare;
}

async function work({ format, side, rows }: Work): Promise<void> {
  const write = await writerOf(format, side);
  await write(WARM_ROWS);
  const [startedAt, used] = [performance.now(), process.cpuUsage()];
  const bytes = await write(rows);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(used);
  parentPort?.postMessage({ rowsPerSecond: rows / seconds, cpuSeconds: (user + system) / 1e6, bytes });
}

const QUARTERS = 4;

async function measure(given: Work): Promise<void> {
  keepThreadLimits();
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, LOOK_MS);
  const { youngMb, oldMb } = EXPORT_THREAD;
  const resourceLimits = { maxYoungGenerationSizeMb: youngMb, maxOldGenerationSizeMb: oldMb };
  const options = { workerData: given, resourceLimits };
  const thread = startSmallThread(() => new Worker(new URL(import.meta.url), options));
  const grownAtQuarters: number[] = [];
  const answer = await new Promise<object>((resolve, reject) => {
    thread.on('message', (message: 'quarter' | object) => {
      if (typeof message === 'object') resolve(message);
      else grownAtQuarters.push(process.memoryUsage.rss() - before);
    });
    thread.once('error', reject);
  });
  clearInterval(watch);
  process.stdout.write(`${JSON.stringify({ ...answer, grownBytes: most - before, grownAtQuarters })}\n`);
}

const [format = 'csv', side = 'ours', rows = '1000'] = process.argv.slice(2);
await (isMainThread ? measure({ format, side, rows: Number(rows) }) : work(workerData as Work));
