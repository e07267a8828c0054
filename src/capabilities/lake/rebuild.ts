import { setTimeout as pause } from 'node:timers/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { JOB_END_EVENTS } from '../../core/model/event-types.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { EventCursor, StoredEvent } from '../../core/ports/event-store.ts';
import type { NewLakeFile } from '../../core/ports/lake-store.ts';
import { discardFiles, type LakeParts, writeLakeFiles } from './lake-files.ts';
import { readIntoLake } from './read-events.ts';

export interface RebuildReport {
  readonly jobs: number;
  readonly pages: number;
  readonly files: number;
  readonly rows: number;
  readonly replacedFiles: number;
}

interface RebuildDeps extends LakeParts {
  readonly signal?: AbortSignal | undefined;
}

const JOBS_AT_ONCE = 200;
const PAGES_AT_ONCE = 25;
const MOST_HELD_BYTES = 16_777_216;
const MOST_FILES = 100_000;
/** Compaction of a running server may replace files meanwhile; then it is tried again. */
const MOST_TRIES = 5;

const BATCH = 500;
/** The events of a job that ended longer ago can be read, or are deleted, which no event is before it was read. */
const SETTLED_MS = 3_600_000;
const LOOK_MS = 200;
const MOST_LOOKS = 150;

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

/**
 * Reads every event of these ended jobs into the lake, whether or not a server does so at the same time: the cursor lets
 * one of them go first. Waits for events that are committed and cannot be read yet; throws CONFLICT when that takes long.
 */
export async function drainEvents(jobs: readonly Job[], parts: LakeParts): Promise<void> {
  const { store, now } = parts;
  for (const job of jobs) {
    if (job.finishedAt !== null && now() - job.finishedAt < SETTLED_MS) await waitForEnd(job, parts);
  }
  for (;;) {
    const batch = await store.readEvents('lake', BATCH);
    if (batch === null || batch.looked === 0) return;
    await readIntoLake(batch.events, batch, parts);
  }
}

/** The end of a job is committed after its last pages, so where it can be read they can. */
async function waitForEnd({ id, finishedAt }: Job, parts: LakeParts): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    const last = await lastEvent(id, parts);
    if (last !== null && isEnd(last) && last.at >= (finishedAt ?? 0)) return;
    if (looks >= MOST_LOOKS && last === null) return;
    if (looks >= MOST_LOOKS) {
      throw new ScrapifieError(
        'CONFLICT',
        `The events of job ${id} cannot be read yet: a transaction of the database has been open for long. Try again.`,
      );
    }
    await pause(LOOK_MS);
  }
}

const isEnd = ({ type }: StoredEvent): boolean => JOB_END_EVENTS.some((end) => end === type);

async function lastEvent(jobId: Job['id'], { store }: LakeParts): Promise<StoredEvent | null> {
  let after: EventCursor | null = null;
  let last: StoredEvent | null = null;
  for (;;) {
    const page = await store.listEvents({ jobId, after, limit: BATCH });
    last = page.items.at(-1) ?? last;
    if (page.items.length < BATCH) return last;
    after = page.next;
  }
}
