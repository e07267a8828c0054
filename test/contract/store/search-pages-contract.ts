import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AccountId, JobId } from '../../../src/core/model/ids.ts';
import type { JobOptions } from '../../../src/core/model/job.ts';
import type { NewPage } from '../../../src/core/model/page.ts';
import { packRecord } from '../../../src/core/model/page-record.ts';
import { NO_LIMITS as NO_ACCOUNT_LIMITS } from '../../../src/core/ports/account-store.ts';
import type { StoredEvent } from '../../../src/core/ports/event-store.ts';
import type { PageRef } from '../../../src/core/ports/search-store.ts';
import type { Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import { completion, DONE, FAILED, job, newPage, newTask, OPTIONS, pages, T0, take } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const RECORD = packRecord({ metadata: null, links: [], searchText: 'words' });

interface Setup {
  readonly accountId?: AccountId;
  readonly options?: Partial<JobOptions>;
  readonly page?: (n: number) => Partial<NewPage>;
}

let hosts = 0;

/** A job with pages that have records. */
async function stored(
  store: TimedStore,
  count: number,
  { accountId, options, page }: Setup = {},
): Promise<JobId> {
  hosts += 1;
  const host = `s${hosts}.test`;
  const id = randomUUID() as string as JobId;
  await store.createJob(
    {
      id,
      accountId: accountId ?? (await store.defaultAccount()),
      kind: 'crawl',
      seeds: [],
      createdAt: T0,
      options: { ...OPTIONS, search: true, ...options },
    },
    Array.from({ length: count }, (_, n) => newTask(`https://${host}/${n}`)),
  );
  const { lease, tasks } = await take(store, host);
  await store.commit(
    tasks.map((task, n) => {
      const made = newPage(task, { record: RECORD, fetchedAt: T0 + n, ...page?.(n) });
      return completion(lease, task, made.errorCode === null ? DONE : FAILED, { page: made });
    }),
    T0,
  );
  return id;
}

/** The numbers of the pages of a job, as its events name them. */
async function seqsOf(store: TimedStore, jobId: JobId): Promise<number[]> {
  const pagesIn = (events: readonly StoredEvent[]) =>
    events.flatMap(({ data }) => (data.pages as number[] | undefined) ?? []);
  return pagesIn(await eventsUntil(store, (events) => pagesIn(events).length > 0, { jobId }));
}

const refs = (jobId: JobId, seqs: readonly number[]): PageRef[] =>
  seqs.map((pageSeq) => ({ jobId, pageSeq }));

/** Pages for the full-text index, and the parts of found pages that results show. */
export function searchPagesContract(holds: Claim<TimedStore>): void {
  holds('gives the index the pages of a job that were fetched well', async (store) => {
    const id = await stored(store, 4, {
      page: (n) =>
        n === 1 ? { errorCode: 'CONNECT_FAILED' } : n === 2 ? { record: null } : { title: `Title ${n}` },
    });
    const seqs = await seqsOf(store, id);
    const found = await store.listSearchPages(id, seqs);
    expect(found.map(({ title }) => title).sort()).toEqual(['Title 0', 'Title 3']);
    expect(found[0]).toMatchObject({ accountId: 'default', jobId: id, record: RECORD });
    const { url = '' } = found[0] ?? {};
    const contentHash = createHash('sha256').update(url).digest('hex');
    expect(found[0]?.body).toMatchObject({ contentHash, charset: 'utf-8', finalUrl: url });
    expect(await store.listSearchPages(randomUUID() as string as JobId, seqs)).toEqual([]);
  });

  holds('goes through all pages of jobs with `search`, and no others', async (store) => {
    const first = await stored(store, 5);
    await stored(store, 3, { options: { search: undefined } });
    const second = await stored(store, 4);
    const seen: string[] = [];
    let after: Awaited<ReturnType<TimedStore['scanSearchPages']>>['next'] = null;
    do {
      const step: Awaited<ReturnType<TimedStore['scanSearchPages']>> = await store.scanSearchPages({
        after,
        limit: 2,
      });
      seen.push(...step.pages.map(({ jobId, pageSeq }) => `${jobId} ${pageSeq}`));
      after = step.next;
    } while (after !== null);
    const expected = [];
    for (const id of [first, second]) {
      expected.push(...(await seqsOf(store, id)).map((seq) => `${id} ${seq}`));
    }
    expect(seen).toEqual(expected);
  });

  holds(
    'shows what was found to its account alone, private pages only where they may be read',
    async (store) => {
      const accountId = await store.defaultAccount();
      const other = 'other' as AccountId;
      await store.createAccount(
        { id: other, name: 'Other', plan: 'custom', limits: NO_ACCOUNT_LIMITS },
        null,
      );
      const page = { ...OPTIONS.page, session: 'logged-in' };
      const open = await stored(store, 1);
      const secret = await stored(store, 1, { options: { credentials: 'read', page } });
      const found = [...refs(open, await seqsOf(store, open)), ...refs(secret, await seqsOf(store, secret))];
      // The index keeps them apart.
      for (const [id, isPrivate] of [
        [open, false],
        [secret, true],
      ] as const) {
        expect(await store.listSearchPages(id, await seqsOf(store, id))).toMatchObject([{ isPrivate }]);
      }
      const { pages: scanned } = await store.scanSearchPages({ after: null, limit: 100 });
      expect(scanned.filter(({ isPrivate }) => isPrivate).map(({ jobId }) => jobId)).toEqual([secret]);
      const seen = async (account: AccountId, hasPrivate: boolean) =>
        (await store.readFoundPages({ accountId: account, hasPrivate }, found))
          .map(({ jobId }) => jobId)
          .sort();
      expect(await seen(accountId, true)).toEqual([open, secret].sort());
      expect(await seen(accountId, false)).toEqual([open]);
      expect(await seen(other, true)).toEqual([]);
    },
  );

  holds('pages whose body or record has expired are not searched for any more', async (store) => {
    const accountId = await store.defaultAccount();
    const id = await stored(store, 4);
    const seqs = await seqsOf(store, id);
    expect(await store.searchJobs([id])).toEqual([{ id, firstPage: 0 }]);
    const { seq } = await job(store, id);
    await store.expirePages({ jobSeq: seq, part: 'bodies', fetchedBefore: T0 + 2, limit: 100 });
    expect(await store.searchJobs([id])).toEqual([{ id, firstPage: seqs[2] }]);
    const scope = { accountId, hasPrivate: true };
    const left = async () =>
      (await store.readFoundPages(scope, refs(id, seqs))).map(({ pageSeq }) => pageSeq).sort((a, b) => a - b);
    expect(await left()).toEqual(seqs.slice(2));
    await store.expirePages({ jobSeq: seq, part: 'records', fetchedBefore: T0 + 3, limit: 100 });
    expect(await left()).toEqual(seqs.slice(3));
    expect(await store.searchJobs([id])).toEqual([{ id, firstPage: seqs[3] }]);
    expect(await pages(store, id)).toHaveLength(4);
    await store.deleteJob(id);
    expect(await left()).toEqual([]);
    expect(await store.searchJobs([id])).toEqual([]);
  });
}
