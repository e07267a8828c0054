import { existsSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CrawlRecorder } from '../../capabilities/archive/crawl-recorder.ts';
import { exportBytes } from '../../capabilities/exports/write-export.ts';
import type { ExportView } from '../../capabilities/views/export-view.ts';
import type { JobView } from '../../capabilities/views/job-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ExportWish } from '../../core/model/derived.ts';
import { exportFormatSpec } from '../../core/model/export-registry.ts';
import type { Job } from '../../core/model/job.ts';
import type { ApiClient } from '../backend/api-client.ts';
import { exportFailure } from '../backend/export-backend.ts';
import type { CrawlFolder, RememberedCommand } from '../folders/crawl-folder.ts';
import { writeOut } from '../output/output-files.ts';
import type { OpenPlatform, OpenStorage, Shell } from '../shell/shell.ts';

/** The flags that record a crawl into an archive, or answer it from one. */
export interface ArchiveFlags {
  readonly replay?: string | undefined;
  readonly warc?: string;
  readonly warcSize?: number;
}

/** Where a crawl is recorded. */
export interface Recording {
  readonly path: string;
  readonly maxFileBytes: number;
}

const MAX_FILE_BYTES = 1_000_000_000;

/**
 * The archives of the crawl: those of the command, or those that it was begun with. Throws INVALID_USAGE when the two
 * differ, and for a file that another crawl has written.
 */
export function archivesOf(
  cwd: string,
  { replay, warc, warcSize }: ArchiveFlags,
  begun: RememberedCommand | null,
): Pick<RememberedCommand, 'replay' | 'warc' | 'warcBytes'> {
  const given = {
    replay: replay === undefined ? undefined : resolve(cwd, replay),
    warc: warc === undefined ? undefined : resolve(cwd, warc),
  };
  if (warcSize !== undefined && warc === undefined && begun?.warc === undefined) {
    throw new ScrapifieError('INVALID_USAGE', '--warc-size is for crawls that --warc records.');
  }
  if (begun === null && given.warc !== undefined && /\.gz$/i.test(given.warc) && existsSync(given.warc)) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${given.warc} is there already. Name another file with --warc.`,
    );
  }
  if (begun !== null && given.replay !== undefined && given.replay !== begun.replay) {
    const was = begun.replay === undefined ? 'from the web' : `from ${begun.replay}`;
    throw new ScrapifieError('INVALID_USAGE', `--replay: the crawl in this folder was begun ${was}.`);
  }
  if (begun?.warc !== undefined && given.warc !== undefined && given.warc !== begun.warc) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `--warc: the crawl in this folder is recorded into ${begun.warc}.`,
    );
  }
  const archives = { replay: given.replay ?? begun?.replay, warc: given.warc ?? begun?.warc };
  return { ...archives, warcBytes: warcSize ?? begun?.warcBytes };
}

export function recordingOf({
  warc,
  warcBytes,
}: Pick<RememberedCommand, 'warc' | 'warcBytes'>): Recording | null {
  return warc === undefined ? null : { path: warc, maxFileBytes: warcBytes ?? MAX_FILE_BYTES };
}

/** Records the crawl from here on, and what was stored of it before. */
export async function openRecording(
  { path, maxFileBytes }: Recording,
  platform: OpenPlatform,
  folder: CrawlFolder,
  job: Job,
  { version }: Pick<Shell, 'version'>,
): Promise<CrawlRecorder> {
  const [{ openCrawlRecorder }, { recordingPlace }] = await Promise.all([
    import('../../capabilities/archive/crawl-recorder.ts'),
    import('../../capabilities/archive/recording-place.ts'),
  ]);
  const place = recordingPlace(path, job.id);
  const { stateDir } = folder;
  const recorder = await openCrawlRecorder(platform, {
    place,
    stateDir,
    job,
    version,
    maxFileBytes,
    now: platform.now,
  });
  platform.observeExchanges(recorder);
  platform.watchPages((pages) => recorder.append(pages));
  return recorder;
}

const LOOK_EVERY_MS = 500;

/** `full.csv` in the folder of the crawl. */
const pathOf = ({ dir }: CrawlFolder, { type, format }: ExportWish): string =>
  join(dir, `${type}${exportFormatSpec(format).ending}`);

/** Writes the exports that a crawl of this machine asks for, beside its pages. Nothing of a crawl that was cancelled. */
export async function writeCrawlExports(
  shell: Shell,
  { store, blobs }: Pick<OpenStorage, 'store' | 'blobs'>,
  job: Job,
  folder: CrawlFolder,
): Promise<void> {
  if (job.finishedAt === null || job.status === 'cancelled') return;
  for (const spec of job.options.exports ?? []) {
    const bytes = exportBytes({ job, spec, createdAt: job.finishedAt }, { store, blobs });
    await writeOut(shell, pathOf(folder, spec), bytes);
  }
}

/**
 * Removes the exports of the crawl before from its folder, since the new crawl may write others or none. Returns the names
 * of those that were there.
 */
export function removeCrawlExports(folder: CrawlFolder, wishes: readonly ExportWish[]): readonly string[] {
  const written = wishes.map((wish) => pathOf(folder, wish)).filter((path) => existsSync(path));
  for (const path of written) rmSync(path, { force: true });
  return written.map((path) => basename(path));
}

/** What the job of a server is to export at its end. */
export function exportsOf({ options }: JobView): readonly ExportWish[] {
  return (options as { readonly exports?: readonly ExportWish[] }).exports ?? [];
}

/** Takes the exports that a server has made at the end of the job. */
export async function takeCrawlExports(
  shell: Shell,
  client: ApiClient,
  job: JobView,
  folder: CrawlFolder,
): Promise<void> {
  const wishes = exportsOf(job);
  if (job.finishedAt === null || job.status === 'cancelled') return;
  for (const wish of wishes) {
    const { id } = await ready(client, job.id, wish);
    await writeOut(shell, pathOf(folder, wish), client.download(`/v1/exports/${id}/download`));
  }
}

/** The newest one of its kind. */
async function ready(client: ApiClient, jobId: string, { type, format }: ExportWish): Promise<ExportView> {
  for (;;) {
    for await (const each of client.list<ExportView>(`/v1/jobs/${jobId}/exports`)) {
      if (each.type !== type || each.format !== format) continue;
      if (each.status === 'ready') return each;
      if (each.status === 'failed') throw exportFailure(each);
      break;
    }
    await pause(LOOK_EVERY_MS);
  }
}
