import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { NewLakeFile } from '../../core/ports/lake-store.ts';
import { drainEvents } from './drain-events.ts';
import type { LakeParts } from './lake-parts.ts';
import { discardFiles, writeLakeFiles } from './write-files.ts';

export interface RebuildReport {
  readonly jobs: number;
  readonly pages: number;
  readonly files: number;
  readonly rows: number;
  readonly replacedFiles: number;
}

export interface RebuildDeps extends LakeParts {
  readonly signal?: AbortSignal | undefined;
}

const JOBS_AT_ONCE = 200;
const PAGES_AT_ONCE = 25;
const MOST_HELD_BYTES = 16_777_216;
const MOST_FILES = 100_000;
/** Compaction of a running server may replace files meanwhile; then it is tried again. */
const MOST_TRIES = 5;

/**
 * Writes the lake of an account anew from the pages in the store, and puts it in the place of the old one by one
 * transaction. Throws CONFLICT while a job that writes into the lake goes on: what of it is in the old files cannot be
 * told from what is not.
 */
export async function rebuildLake(accountId: AccountId, deps: RebuildDeps): Promise<RebuildReport> {
  for (let tries = 1; ; tries += 1) {
    const jobs = await endedJobs(accountId, deps);
    // Behind this, the old files have all pages of these jobs that they will ever have.
    await drainEvents(jobs, deps);
    const view = await deps.store.viewLake({ accountId, mostFiles: MOST_FILES });
    const { files, pages } = await writeJobs(accountId, jobs, deps);
    const isReplaced =
      (await hasNotChanged(jobs, deps)) &&
      onlyOf(view.files, jobs, await livingJobs(accountId, deps)) &&
      (await deps.store.replaceLakeFiles({
        accountId,
        removed: view.files.map(({ id }) => id),
        added: files,
      }));
    if (isReplaced) {
      return {
        jobs: jobs.length,
        pages,
        files: files.length,
        rows: files.reduce((sum, { rows }) => sum + rows, 0),
        replacedFiles: view.files.length,
      };
    }
    await discardFiles(files, deps);
    if (tries >= MOST_TRIES) {
      throw new ScrapifieError(
        'CONFLICT',
        'The lake was changed while it was built again, five times. Try again when fewer jobs are running.',
      );
    }
  }
}

async function lakeJobs(accountId: AccountId, { store }: Pick<LakeParts, 'store'>): Promise<Job[]> {
  const found: Job[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listJobs({ accountId, cursor, limit: JOBS_AT_ONCE });
    found.push(...page.items.filter(({ options }) => options.lake === true));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

async function endedJobs(accountId: AccountId, deps: RebuildDeps): Promise<readonly Job[]> {
  const jobs = await lakeJobs(accountId, deps);
  const open = jobs.filter(({ finishedAt }) => finishedAt === null);
  if (open.length === 0) return jobs;
  throw new ScrapifieError(
    'CONFLICT',
    `${open.length} jobs that write into the lake are going on, such as ${open[0]?.id}. Wait until they have ended, or cancel them.`,
  );
}

const livingJobs = async (accountId: AccountId, deps: RebuildDeps): Promise<ReadonlySet<JobId>> =>
  new Set((await lakeJobs(accountId, deps)).map(({ id }) => id));

/** Whether the files have pages of no other job that is there: such a job has begun meanwhile. */
function onlyOf(
  files: readonly Pick<NewLakeFile, 'jobs'>[],
  jobs: readonly Job[],
  living: ReadonlySet<JobId>,
): boolean {
  const known = new Set(jobs.map(({ id }) => id));
  return files.every((file) => file.jobs.every(({ jobId }) => known.has(jobId) || !living.has(jobId)));
}

async function hasNotChanged(jobs: readonly Job[], { store }: RebuildDeps): Promise<boolean> {
  for (const { id, finishedAt } of jobs) {
    const now = await store.getJob(id);
    if (now !== null && now.finishedAt !== finishedAt) return false;
  }
  return true;
}

async function writeJobs(
  accountId: AccountId,
  jobs: readonly Job[],
  deps: RebuildDeps,
): Promise<{ files: readonly NewLakeFile[]; pages: number }> {
  const { store, encoder, signal } = deps;
  const files: NewLakeFile[] = [];
  const batch = encoder.openBatch();
  let pages = 0;
  try {
    for (const { id } of jobs) {
      for (let after = 0; ; ) {
        signal?.throwIfAborted();
        const some = await store.lakePagesAfter(id, after, PAGES_AT_ONCE);
        const last = some.at(-1);
        if (last === undefined) break;
        after = last.seq;
        pages += some.length;
        // Pages whose records have expired have left the lake as well.
        const kept = some.filter(({ page }) => page.expired?.includes('records') !== true);
        if (kept.length > 0 && (await batch.add(accountId, id, kept)) >= MOST_HELD_BYTES) {
          files.push(...(await writeLakeFiles(await batch.flush(), deps)));
        }
      }
    }
    files.push(...(await writeLakeFiles(await batch.flush(), deps)));
  } finally {
    await batch.close();
  }
  return { files, pages };
}
