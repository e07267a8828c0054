import { isDeepStrictEqual } from 'node:util';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { JobStore } from '../../core/ports/store.ts';

/** Crawls that are looked at for one of the same start URLs. */
const MOST_LOOKED_AT = 1_000;
const LOOK_STEP = 100;

/** The newest finished crawl of the account with the same start URLs; null when there is none. */
export async function lastCrawl(
  store: Pick<JobStore, 'listJobs'>,
  accountId: AccountId,
  seeds: readonly string[],
): Promise<JobId | null> {
  let cursor: string | undefined;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += LOOK_STEP) {
    const { items, nextCursor } = await store.listJobs({
      accountId,
      kind: 'crawl',
      cursor,
      limit: LOOK_STEP,
    });
    const found = items.find((job) => job.finishedAt !== null && isDeepStrictEqual(job.seeds, seeds));
    if (found !== undefined) return found.id;
    if (nextCursor === null) return null;
    cursor = nextCursor;
  }
  return null;
}
