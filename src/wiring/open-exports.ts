import { join } from 'node:path';
import type { FilePlace } from '../capabilities/backup/installation.ts';
import { targetPlace } from '../capabilities/exports/export-file.ts';
import {
  createExportWorker,
  EXPORT_THREAD,
  type ExportWorker,
  type MakeExport,
} from '../capabilities/exports/export-worker.ts';
import type { Settings } from '../core/config/settings.ts';
import { startSmallThread } from '../core/config/thread-memory.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Export } from '../core/model/export.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Metrics } from '../core/observe/metrics.ts';
import type { Files } from '../core/ports/blobs.ts';
import type { Bus } from '../core/ports/bus.ts';
import type { ExportEnd, ExportProgress } from '../core/ports/export-store.ts';
import type { Store } from '../core/ports/store.ts';
import { siblingModule } from '../lib/threads/thread.ts';
import { ThreadClient, type ThreadEnd } from '../lib/threads/thread-client.ts';
import { type BlobsPlace, openFiles } from './open-blobs.ts';
import type { StorePlace } from './storage.ts';

/** Plain data, and no more than an export needs. */
export interface ExportThreadData {
  readonly claimed: Export;
  readonly from: StorePlace & BlobsPlace;
  readonly files: FilePlace;
  readonly target: FilePlace | null;
}

export interface ExportMethods {
  write(data: ExportThreadData): Promise<ExportEnd>;
}

const FOLDER = 'exports';
/** A page that keeps the thread busy for longer, or a disk that hangs, costs the attempt. */
const STALLED_MS = 300_000;

/** Where the files of exports are: beside the bodies. */
export function exportFilePlace({ s3Url, dataDir }: Pick<Settings, 's3Url' | 'dataDir'>): FilePlace {
  if (s3Url === undefined) return { folder: join(dataDir, FOLDER) };
  const url = new URL(s3Url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${FOLDER}`;
  return { s3Url: url.href };
}

export const openExportFiles = (settings: Pick<Settings, 's3Url' | 'dataDir'>): Promise<Files> =>
  openFiles(exportFilePlace(settings));

export interface ExportWorkerParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly bus: Bus;
  readonly files: Files;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Writes exports of a process that has the duty, each in a thread of its own: the crawl does not wait for them. */
export const openExportWorker = ({ settings, ...parts }: ExportWorkerParts): ExportWorker =>
  createExportWorker({ ...parts, make: makerOf(settings) });

function makerOf(settings: Settings): MakeExport {
  const { dataDir, databaseUrl, s3Url, spillBytes } = settings;
  return async (claimed, onProgress, signal) => {
    const { to } = claimed.spec;
    const target = to === undefined ? null : targetPlace(to, settings);
    if (to !== undefined && target === null) {
      throw new ScrapifieError('UNSUPPORTED_OPTION', 'The operator no longer allows the place of the copy.');
    }
    const from = { dataDir, databaseUrl, databasePool: 1, s3Url, spillBytes };
    return runThread({ claimed, from, files: exportFilePlace(settings), target }, onProgress, signal);
  };
}

/** What a thread that is ended has written by then has another name than the file. */
async function runThread(
  data: ExportThreadData,
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
): Promise<ExportEnd> {
  const thread = new ThreadClient<ExportMethods, ExportProgress>({
    name: 'export',
    entry: siblingModule('./export-thread.ts', import.meta.url),
    memory: EXPORT_THREAD,
    start: startSmallThread,
    errorOf,
    onNotice: onProgress,
  });
  try {
    return await thread.call('write', [data], { limitMs: STALLED_MS, isLimitOfSilence: true, signal });
  } finally {
    await thread.close();
  }
}

function errorOf({ reason, cause }: ThreadEnd): ScrapifieError {
  if (reason === 'late') {
    return new ScrapifieError('EXPORT_FAILED', 'The export made no progress for five minutes.');
  }
  if (cause === undefined) return new ScrapifieError('CANCELLED', 'The export was stopped.');
  return new ScrapifieError('EXPORT_FAILED', `The export ended by an error: ${cause.message}`, { cause });
}
