import type { AccountId } from '../../../core/model/ids.ts';
import type { StopReason } from '../../../core/model/task-reasons.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { Store } from '../../../core/ports/store.ts';

export interface FullAccountsDeps {
  readonly store: Pick<Store, 'listFullAccounts' | 'listJobs' | 'stopJob'>;
  readonly bus: Pick<Bus, 'publish'>;
}

/** The reason with which jobs of an account are stopped that stores as much as it may. */
export const STORAGE_STOP: StopReason = 'limit.stored-bytes';

const JOBS_AT_ONCE = 100;

/** Stops the jobs of accounts that store as much as they may. They can be resumed when there is room again. */
export async function stopFullAccounts({ store, bus }: FullAccountsDeps): Promise<number> {
  let stopped = 0;
  for (const accountId of await store.listFullAccounts()) {
    for (const status of ['queued', 'running'] as const) stopped += await stopAll(accountId, status);
  }
  return stopped;

  async function stopAll(accountId: AccountId, status: 'queued' | 'running'): Promise<number> {
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await store.listJobs({ accountId, status, cursor, limit: JOBS_AT_ONCE });
      for (const { id, stopReason } of page.items) {
        if (stopReason !== null) continue;
        const job = await store.stopJob(id, STORAGE_STOP);
        if (job === null) continue;
        bus.publish('job.changed', { jobs: [id], finished: job.finishedAt === null ? [] : [id] });
        count += 1;
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return count;
  }
}
