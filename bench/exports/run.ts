import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { EXPORT_THREAD } from '../../src/exports/export-worker.ts';
import { formatOf } from '../../src/exports/formats.ts';
import type { ExportFormat } from '../../src/model/export.ts';
import { BARE } from './bare.ts';
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

const WARM_ROWS = 5_000;
const LOOK_MS = 50;

async function ours(format: string, count: number): Promise<number> {
  const spec = formatOf(format as ExportFormat);
  if (spec.takes !== 'rows') throw new Error(`${format} is no format of tables.`);
  const write = await spec.load();
  let bytes = 0;
  const options = { title: 'full', isLarge: false, excel: false, onRows: () => undefined };
  for await (const chunk of write(tableOf(count), options)) bytes += chunk.length;
  return bytes;
}

async function work({ format, side, rows }: Work): Promise<void> {
  const bare = BARE[format];
  if (bare === undefined) throw new Error(`There is nothing to compare ${format} with.`);
  const write = side === 'ours' ? (count: number) => ours(format, count) : bare;
  await write(WARM_ROWS);
  const [startedAt, used] = [performance.now(), process.cpuUsage()];
  const bytes = await write(rows);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(used);
  parentPort?.postMessage({ rowsPerSecond: rows / seconds, cpuSeconds: (user + system) / 1e6, bytes });
}

async function measure(given: Work): Promise<void> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, LOOK_MS);
  const thread = new Worker(new URL(import.meta.url), { workerData: given, resourceLimits: EXPORT_THREAD });
  const answer = await new Promise<object>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  clearInterval(watch);
  process.stdout.write(`${JSON.stringify({ ...answer, grownBytes: most - before })}\n`);
}

const [format = 'csv', side = 'ours', rows = '1000'] = process.argv.slice(2);
await (isMainThread ? measure({ format, side, rows: Number(rows) }) : work(workerData as Work));
