import { writeExport } from '../capabilities/exports/write-export.ts';
import { asScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { ExportEnd, ExportProgress } from '../core/ports/export-store.ts';
import { answerCalls, notify } from '../lib/threads/answer-calls.ts';
import { openFiles } from './open-blobs.ts';
import type { ExportMethods, ExportThreadData } from './open-exports.ts';
import { openStorage } from './storage.ts';

/** The entry of a thread that writes one export: reading and formatting a million pages would hold up the event loop. */
const TELL_EVERY_MS = 500;

async function write({
  claimed,
  from,
  files: place,
  target: targetPlace,
}: ExportThreadData): Promise<ExportEnd> {
  const closers: (() => Promise<unknown>)[] = [];
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
      notify<ExportProgress>(progress);
    };
    const { store, blobs } = storage;
    return await writeExport(claimed, { store, blobs, files, target, onProgress });
  } catch (error) {
    throw asScrapifieError(error);
  } finally {
    await Promise.allSettled(closers.map((close) => close()));
  }
}

answerCalls<ExportMethods>({ write });
