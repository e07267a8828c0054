import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { exportBytes } from '../../capabilities/exports/export-bytes.ts';
import type { ExportView } from '../../capabilities/views/export-view.ts';
import type { JobView } from '../../capabilities/views/job-view.ts';
import type { ExportWish } from '../../core/model/derived.ts';
import { exportFormatSpec } from '../../core/model/export-registry.ts';
import type { Job } from '../../core/model/job.ts';
import type { ApiClient } from '../backend/api-client.ts';
import { exportFailure } from '../backend/export-backend.ts';
import type { CrawlFolder } from '../folders/crawl-folder.ts';
import { writeOut } from '../output/output-file.ts';
import type { OpenStorage, Shell } from '../shell/shell.ts';

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
