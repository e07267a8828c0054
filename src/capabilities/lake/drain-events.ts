import { setTimeout as pause } from 'node:timers/promises';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { EventCursor } from '../../core/model/event-types.ts';
import type { Job } from '../../core/model/job.ts';
import type { StoredEvent } from '../../core/ports/event-store.ts';
import type { LakeParts } from './lake-parts.ts';
import { readIntoLake } from './read-events.ts';

const BATCH = 500;
/** The events of a job that ended longer ago can be read, or are deleted, which no event is before it was read. */
const SETTLED_MS = 3_600_000;
const LOOK_MS = 200;
const MOST_LOOKS = 150;

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

const isEnd = ({ type }: StoredEvent): boolean =>
  /^job\.(?:completed|partially_completed|failed|cancelled)$/.test(type);

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
