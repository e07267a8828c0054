import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Store } from '../../core/ports/store.ts';
import { ROWS_AT_ONCE } from './apply-retention.ts';

type DeletionStore = Pick<
  Store,
  'cancelJob' | 'deleteJob' | 'listAccountDeletions' | 'listJobs' | 'purgeAccount'
>;

const ACCOUNTS_AT_ONCE = 10;
const JOBS_AT_ONCE = 100;

/**
 * Goes on with the deletion of accounts that are marked: cancels their jobs, deletes those that have ended, then all else.
 * Each step is a transaction over a bounded number of rows; pages that are being fetched end first, so an account may
 * take several calls. Returns the accounts that are gone. Blobs go with the sweep, when nothing refers to them.
 */
export async function deleteAccounts(
  store: DeletionStore,
  { signal, mostSteps = Number.POSITIVE_INFINITY }: { signal?: AbortSignal; mostSteps?: number } = {},
): Promise<AccountId[]> {
  const gone: AccountId[] = [];
  let steps = 0;
  const isOver = () => signal?.aborted === true || steps >= mostSteps;
  for (const { id } of await store.listAccountDeletions(ACCOUNTS_AT_ONCE)) {
    while (!isOver()) {
      steps += 1;
      const hasJobs = await deleteJobs(store, id);
      if (hasJobs === 'going on') break;
      if (hasJobs === 'deleted') continue;
      const { isGone } = await store.purgeAccount(id, ROWS_AT_ONCE);
      if (!isGone) continue;
      gone.push(id);
      break;
    }
  }
  return gone;
}

/** Deletes some of the jobs; `going on` when the account has only jobs with pages under way. */
async function deleteJobs(
  store: DeletionStore,
  accountId: AccountId,
): Promise<'none' | 'deleted' | 'going on'> {
  const { items } = await store.listJobs({ accountId, limit: JOBS_AT_ONCE });
  if (items.length === 0) return 'none';
  let deleted = 0;
  for (const job of items) {
    const ended = job.finishedAt === null ? await store.cancelJob(job.id) : job;
    if (ended === null || ended.finishedAt === null) continue;
    try {
      if (await store.deleteJob(job.id)) deleted += 1;
    } catch (error) {
      if (!isScrapifieError(error) || error.code !== 'CONFLICT') throw error;
    }
  }
  return deleted === 0 ? 'going on' : 'deleted';
}
