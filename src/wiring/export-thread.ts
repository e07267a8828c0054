import { parentPort, workerData } from 'node:worker_threads';
import { writeExport } from '../capabilities/exports/write-export.ts';
import { asScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { ExportProgress } from '../core/ports/export-store.ts';
import type { ExportThreadData, ExportThreadMessage } from './open-exports.ts';
import { openFiles } from './open-files.ts';
import { openStorage } from './storage.ts';

/** The entry of a thread that writes one export: reading and formatting a million pages would hold up the event loop. */
if (parentPort === null) throw new Error('The export thread has no parent.');
const port = parentPort;
const { claimed, from, files: place, target: targetPlace } = workerData as ExportThreadData;

const TELL_EVERY_MS = 500;

async function run(): Promise<void> {
  const closers: (() => Promise<unknown>)[] = [];
  const tell = (message: ExportThreadMessage) => port.postMessage(message);
  try {
    const storage = await openStorage(from);
    closers.push(() => storage.close());
    const files = await openFiles(place);
    closers.push(() => files.close());
    const target = targetPlace === null ? null : await openFiles(targetPlace);
    closers.push(async () => target?.close());
    let toldAt = Number.NEGATIVE_INFINITY;
    const onProgress = (progress: ExportProgress) => {
      if (performance.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = performance.now();
      tell({ progress });
    };
    const { store, blobs } = storage;
    tell({ end: await writeExport(claimed, { store, blobs, files, target, onProgress }) });
  } catch (error) {
    const { code, message } = asScrapifieError(error);
    tell({ failure: { code, message } });
  } finally {
    await Promise.allSettled(closers.map((close) => close()));
  }
}

await run();
