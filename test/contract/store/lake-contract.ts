import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AccountId, JobId } from '../../../src/core/model/ids.ts';
import type { Job, JobOptions } from '../../../src/core/model/job.ts';
import { NO_LIMITS } from '../../../src/core/ports/account-store.ts';
import { LAKE_FILE_MS, type NewLakeFile } from '../../../src/core/ports/lake-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import { at, done, newTask, OPTIONS, T0, take, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

let files = 0;

function newFile(job: Pick<Job, 'id' | 'accountId'>, changes: Partial<NewLakeFile> = {}): NewLakeFile {
  files += 1;
  const id = `file-${files}-${randomUUID()}`;
  return {
    id,
    accountId: job.accountId,
    table: 'pages',
    domain: 'a.test',
    date: '2026-01-01',
    path: `${job.accountId}/pages/domain=a.test/date=2026-01-01/${id}.parquet`,
    rows: 10,
    bytes: 1_000,
    schemaVersion: 1,
    madeAt: T0,
    jobs: [{ jobId: job.id, firstPage: 1 }],
    ...changes,
  };
}

/** An ended job with one page for each URL, all of whose events can be read. */
async function crawled(
  store: TimedStore,
  host: string,
  changes: Partial<JobOptions> = {},
  pages = 1,
): Promise<Job> {
  const id = randomUUID() as string as JobId;
  const accountId = await store.defaultAccount();
  const job = { id, accountId, kind: 'crawl', seeds: [], createdAt: T0 } as const;
  const options = { ...OPTIONS, lake: true as const, ...changes };
  const made = await store.createJob(
    { ...job, options },
    urlsOn(host, pages).map((url) => newTask(url)),
  );
  const { lease, tasks } = await take(store, host, pages);
  await store.commit(
    tasks.map((task) => done(lease, task)),
    T0 + 1,
  );
  await eventsUntil(store, (events) =>
    events.some((each) => each.jobId === id && each.type === 'job.completed'),
  );
  return made;
}

async function otherAccount(store: TimedStore): Promise<AccountId> {
  const id = `other-${randomUUID()}` as AccountId;
  await store.createAccount({ id, name: 'other', plan: 'custom', limits: NO_LIMITS }, null);
  return id;
}

async function nextBatch(store: TimedStore) {
  const batch = await store.readEvents('lake', 100);
  if (batch === null) throw new Error('The reader of the lake rests.');
  return batch;
}

async function add(store: TimedStore, ...added: NewLakeFile[]): Promise<void> {
  const range = await nextBatch(store);
  expect(await store.plain.addLakeFiles({ range, files: added, resumed: [] })).toBe(true);
}

const view = (store: Pick<TimedStore, 'viewLake'>, accountId: AccountId, changes = {}) =>
  store.viewLake({ accountId, mostFiles: 100, ...changes });

/** Which files make up the lake. */
export function lakeContract(holds: Claim<TimedStore>): void {
  holds('gives the pages that events name, with their numbers', async (store) => {
    const job = await crawled(store, 'a.test', {}, 3);
    const { events } = await nextBatch(store);
    const seqs = events.flatMap(({ data }) => ('pages' in data ? (data.pages as number[]) : []));
    expect(seqs).toHaveLength(3);
    const pages = await store.lakePages(job.id, [...seqs, 999_999]);
    expect(pages.map(({ seq }) => seq)).toEqual(seqs);
    expect(pages.map(({ page }) => page.url)).toEqual(urlsOn('a.test', 3));
    expect(await store.lakePages(randomUUID() as string as JobId, seqs)).toEqual([]);
    const rest = await store.lakePagesAfter(job.id, at(seqs, 0), 10);
    expect(rest.map(({ seq }) => seq)).toEqual(seqs.slice(1));
    expect(await store.lakePagesAfter(job.id, at(seqs, 0), 1)).toHaveLength(1);
  });

  holds(
    'adds files and moves the cursor of the lake together, for one of two processes only',
    async (store) => {
      const job = await crawled(store, 'a.test');
      const range = await nextBatch(store);
      const [one, other] = [newFile(job), newFile(job)];
      const added = await Promise.all(
        [one, other].map((file) => store.plain.addLakeFiles({ range, files: [file], resumed: [] })),
      );
      expect(added.toSorted()).toEqual([false, true]);
      const winner = added[0] ? one : other;
      const seen = await view(store, job.accountId);
      expect(seen.files).toEqual([{ ...winner, addedAt: expect.any(Number) }]);
      expect(seen).toMatchObject({ version: 1, hasMore: false, rules: [] });
      expect(await store.readerCursor('lake')).toBe(range.next);
      expect(await store.knownLakeFiles([one.id, other.id])).toEqual([winner.id]);
    },
  );

  holds('takes no file that was made too long ago, because it may be deleted as an orphan', async (store) => {
    const job = await crawled(store, 'a.test');
    const range = await nextBatch(store);
    const later = store.at(T0 + LAKE_FILE_MS + 1);
    expect(await later.addLakeFiles({ range, files: [newFile(job)], resumed: [] })).toBe(false);
    expect(await store.readerCursor('lake')).toBe(range.after);
    const fresh = newFile(job, { madeAt: T0 + LAKE_FILE_MS });
    expect(await later.addLakeFiles({ range, files: [fresh], resumed: [] })).toBe(true);
  });

  holds('finds files by table, domain and day, and says when there are more', async (store) => {
    const job = await crawled(store, 'a.test');
    const [pages, links, other] = [
      newFile(job),
      newFile(job, { table: 'links', date: '2026-01-02' }),
      newFile(job, { table: 'links', domain: 'b.test', date: '2026-01-03' }),
    ];
    await add(store, pages, links, other);
    const ids = async (changes: object) =>
      (await view(store, job.accountId, changes)).files.map(({ id }) => id);
    expect(await ids({ tables: ['links'] })).toEqual([links.id, other.id]);
    expect(await ids({ domains: ['b.test'] })).toEqual([other.id]);
    expect(await ids({ since: '2026-01-02', until: '2026-01-02' })).toEqual([links.id]);
    expect(await view(store, job.accountId, { mostFiles: 2 })).toMatchObject({ hasMore: true });
    expect((await view(store, await otherAccount(store))).files).toEqual([]);
  });

  holds('replaces files all or nothing, and remembers those until they are deleted', async (store) => {
    const job = await crawled(store, 'a.test');
    const [one, two] = [newFile(job), newFile(job)];
    await add(store, one, two);
    const merged = newFile(job, { rows: 20 });
    const { accountId } = job;
    const strange = { accountId, removed: [one.id, 'unknown'], added: [newFile(job)] };
    expect(await store.plain.replaceLakeFiles(strange)).toBe(false);
    const change = { accountId, removed: [one.id, two.id], added: [merged] };
    expect(await store.plain.replaceLakeFiles(change)).toBe(true);
    expect(await store.plain.replaceLakeFiles({ ...change, added: [newFile(job)] })).toBe(false);
    const seen = await view(store, accountId);
    expect(seen.files.map(({ id }) => id)).toEqual([merged.id]);
    expect(seen.version).toBe(2);
    const removed = await store.listRemovedLakeFiles(T0 + 1_000_000, 10);
    expect(removed.map(({ id }) => id).toSorted()).toEqual([one.id, two.id].toSorted());
    expect(await store.listRemovedLakeFiles(T0 - 1_000_000, 10)).toEqual([]);
    await store.forgetLakeFiles([one.id, merged.id]);
    expect((await store.knownLakeFiles([one.id, two.id, merged.id])).toSorted()).toEqual(
      [two.id, merged.id].toSorted(),
    );
  });

  holds('hides the rows of jobs that are deleted, have expired, or are private', async (store) => {
    const gone = await crawled(store, 'a.test');
    const old = await crawled(store, 'b.test');
    const bare = await crawled(store, 'c.test', {}, 2);
    const page = { ...OPTIONS.page, session: 'shop' };
    const secret = await crawled(store, 'd.test', { page, credentials: 'read' });
    const plain = await crawled(store, 'e.test');
    await add(store, ...[gone, old, bare, secret, plain].map((job) => newFile(job)));
    expect((await view(store, gone.accountId)).rules).toEqual([
      { jobId: secret.id, keepFrom: 0, isResumed: false, isPrivate: true, finishedAt: expect.any(Number) },
    ]);
    await store.plain.deleteJob(gone.id);
    await store.plain.expireLedger(old.seq);
    const [first] = await store.lakePagesAfter(bare.id, 0, 1);
    const part = { jobSeq: bare.seq, part: 'records', fetchedBefore: T0 * 2, limit: 1 } as const;
    await store.plain.expirePages(part);
    const { rules } = await view(store, gone.accountId);
    expect(Object.fromEntries(rules.map(({ jobId, keepFrom }) => [jobId, keepFrom]))).toEqual({
      [gone.id]: null,
      [old.id]: null,
      [bare.id]: (first?.seq ?? 0) + 1,
      [secret.id]: 0,
    });
  });

  holds('remembers which jobs went on after their end', async (store) => {
    const job = await crawled(store, 'a.test');
    const range = await nextBatch(store);
    const { id: jobId, accountId } = job;
    const batch = { range, files: [newFile(job)], resumed: [{ jobId, accountId }] };
    expect(await store.plain.addLakeFiles(batch)).toBe(true);
    expect((await view(store, accountId)).rules).toMatchObject([{ jobId, isResumed: true, keepFrom: 0 }]);
  });

  holds('counts the files and rows of each account, and which manifest is there', async (store) => {
    const job = await crawled(store, 'a.test');
    await add(store, newFile(job), newFile(job, { table: 'links', rows: 7, bytes: 50 }));
    const [lake] = await store.listLakes({ after: null, limit: 10 });
    expect(lake).toEqual({
      accountId: job.accountId,
      version: 1,
      manifestVersion: null,
      files: 2,
      rows: 17,
      bytes: 1_050,
      tables: { pages: 10, links: 7, records: 0 },
      changedAt: expect.any(Number),
    });
    await store.noteManifest(job.accountId, 1);
    expect(await store.listLakes({ after: null, limit: 10 })).toMatchObject([{ manifestVersion: 1 }]);
    expect(await store.listLakes({ after: job.accountId, limit: 10 })).toEqual([]);
  });

  holds('adds nothing for an account that is being deleted, and forgets its lake with it', async (store) => {
    const job = await crawled(store, 'a.test');
    await add(store, newFile(job));
    const other = await otherAccount(store);
    const theirs = { ...job, accountId: other };
    await store.plain.beginAccountDeletion(other);
    const next = await crawled(store, 'b.test');
    await add(store, newFile(theirs), newFile(next));
    expect((await view(store, other)).files).toEqual([]);
    expect((await view(store, job.accountId)).files).toHaveLength(2);
    const removed = { accountId: other, removed: [], added: [newFile(theirs)] };
    expect(await store.plain.replaceLakeFiles(removed)).toBe(false);
  });

  holds('keeps the files of the lake when it is opened again', async (store, opened) => {
    const job = await crawled(store, 'a.test');
    const file = newFile(job);
    await add(store, file);
    await afterKill(opened, async (again) => {
      expect((await view(again, job.accountId)).files).toMatchObject([file]);
    });
  });
}
