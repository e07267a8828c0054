import { expect } from 'vitest';
import type { NewExport } from '../../../src/core/model/export.ts';
import type { AccountId, ExportId, JobId } from '../../../src/core/model/ids.ts';
import { NO_LIMITS } from '../../../src/core/ports/account-store.ts';
import type { StoredEvent } from '../../../src/core/ports/event-store.ts';
import type { Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import { all, at, createJob, done, newPage, T0, take, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const DEFAULT = 'default' as AccountId;
const LEASE = 1_000;
const END = { rows: 3, sizeBytes: 120, sha256: 'ab'.repeat(32) };
const idOf = (name: string) => `exp_${name}` as ExportId;

/** Exports: one writer at a time, however many try, and an event with every end. */
export function exportsContract(holds: Claim<TimedStore>): void {
  const draft = (jobId: JobId, name = 'a', changes: Partial<NewExport> = {}): NewExport => ({
    id: idOf(name),
    accountId: DEFAULT,
    jobId,
    spec: { type: 'full', format: 'csv', excel: true },
    secret: 'of this export',
    ...changes,
  });
  const crawled = async (store: TimedStore, host = 'a.test', count = 2) => {
    const { id } = await createJob(store, urlsOn(host, count));
    const { lease, tasks } = await take(store, host);
    await store.commit(
      tasks.map((task) => ({ ...done(lease, task), page: newPage(task) })),
      T0,
    );
    return id;
  };
  /** So many events of exports, when they can be read. */
  const typesOf = async (store: TimedStore, count: number) => {
    const ofExports = (events: readonly StoredEvent[]) =>
      events.filter(({ type }) => type.startsWith('export.'));
    const events = await eventsUntil(store, (all) => ofExports(all).length >= count);
    return ofExports(events).map(({ type, jobId, data }) => ({
      type,
      jobId,
      status: data.status,
      exportId: data.exportId,
    }));
  };

  holds('keeps an export of a job of the account, once', async (store) => {
    const jobId = await crawled(store);
    const made = await store.at(T0 + 5).createExport(draft(jobId));
    expect(made).toMatchObject({
      ...draft(jobId),
      status: 'pending',
      attempts: 0,
      failures: 0,
      rows: 0,
      sizeBytes: 0,
      sha256: null,
      error: null,
      createdAt: T0 + 5,
      startedAt: null,
      finishedAt: null,
    });
    const again = await store.at(T0 + 9).createExport(draft(jobId, 'a', { secret: 'another' }));
    expect(again).toEqual(made);
    expect(await store.getExport(DEFAULT, idOf('a'))).toEqual(made);
    expect(await store.findExport(idOf('a'))).toEqual(made);
    expect(await store.createExport(draft('no job' as JobId, 'b'))).toBeNull();
    expect(await store.findExport(idOf('b'))).toBeNull();
  });

  holds('an export of another account is not there', async (store) => {
    const jobId = await crawled(store);
    const other = 'other' as AccountId;
    await store.createExport(draft(jobId));
    expect(await store.createExport(draft(jobId, 'b', { accountId: other }))).toBeNull();
    expect(await store.createExport(draft(jobId, 'a', { accountId: other }))).toBeNull();
    expect(await store.getExport(other, idOf('a'))).toBeNull();
    expect(await store.deleteExport(other, idOf('a'))).toBeNull();
    expect((await store.listExports({ accountId: other, limit: 9 })).items).toEqual([]);
    expect(await store.findExport(idOf('a'))).not.toBeNull();
  });

  holds('lists exports newest first, of the account or of one job', async (store) => {
    const [first, second] = [await crawled(store), await crawled(store, 'b.test')];
    for (const [job, name] of [
      [first, 'a'],
      [second, 'b'],
      [first, 'c'],
    ] as const) {
      await store.createExport(draft(job, name));
    }
    const ids = async (jobId?: JobId) =>
      (await all((cursor) => store.listExports({ accountId: DEFAULT, jobId, cursor, limit: 1 }))).map(
        ({ id }) => id,
      );
    expect(await ids()).toEqual(['c', 'b', 'a'].map(idOf));
    expect(await ids(first)).toEqual(['c', 'a'].map(idOf));
    expect(await store.knownExports([idOf('a'), idOf('x'), idOf('c')])).toHaveLength(2);
  });

  holds('one process at a time writes an export, and its end is told once', async (store) => {
    const jobId = await crawled(store);
    await store.at(T0).createExport(draft(jobId));
    const claimed = await store.at(T0 + 1).claimExport(LEASE);
    expect(claimed).toMatchObject({ status: 'running', attempts: 1, failures: 0, startedAt: T0 + 1 });
    expect(await store.at(T0 + 2).claimExport(LEASE)).toBeNull();
    const lease = { id: idOf('a'), attempt: 1 };
    expect(await store.at(T0 + 900).renewExport(lease, { rows: 1, sizeBytes: 40 }, LEASE)).toBe(true);
    expect(await store.at(T0 + 1_500).claimExport(LEASE)).toBeNull();
    expect(await store.getExport(DEFAULT, idOf('a'))).toMatchObject({ rows: 1, sizeBytes: 40 });
    expect(await store.at(T0 + 1_600).finishExport(lease, END)).toBe(true);
    expect(await store.finishExport(lease, END)).toBe(false);
    expect(await store.getExport(DEFAULT, idOf('a'))).toMatchObject({
      ...END,
      status: 'ready',
      finishedAt: T0 + 1_600,
    });
    expect(await store.at(T0 + 99_999).claimExport(LEASE)).toBeNull();
    expect(await typesOf(store, 1)).toEqual([
      { type: 'export.ready', jobId, status: 'ready', exportId: idOf('a') },
    ]);
  });

  holds(
    'an export whose process died is begun anew, and what the dead one sends later is void',
    async (store) => {
      const jobId = await crawled(store);
      await store.at(T0).createExport(draft(jobId));
      await store.claimExport(LEASE);
      const dead = { id: idOf('a'), attempt: 1 };
      const second = await store.at(T0 + LEASE).claimExport(LEASE);
      expect(second).toMatchObject({ attempts: 2, failures: 1, rows: 0, sizeBytes: 0 });
      expect(await store.renewExport(dead, { rows: 9, sizeBytes: 9 }, LEASE)).toBe(false);
      expect(await store.finishExport(dead, END)).toBe(false);
      expect(await store.failExport(dead, { code: 'INTERNAL', message: 'late' }, null)).toBe(false);
      await store.releaseExport(dead);
      expect(await store.findExport(idOf('a'))).toMatchObject({ status: 'running', attempts: 2 });
      expect(await typesOf(store, 0)).toEqual([]);
      // Where the processes are known to be dead, no process waits for the end of the lease.
      await store.at(T0 + LEASE + 1).endExportLeases();
      expect(await store.claimExport(LEASE)).toMatchObject({ attempts: 3, failures: 2 });
    },
  );

  holds('a failure is tried again later, or is the end and told', async (store) => {
    const jobId = await crawled(store);
    await store.at(T0).createExport(draft(jobId));
    await store.claimExport(LEASE);
    const error = { code: 'DISK_FULL', message: 'no room' } as const;
    expect(await store.at(T0 + 1).failExport({ id: idOf('a'), attempt: 1 }, error, 500)).toBe(true);
    expect(await store.findExport(idOf('a'))).toMatchObject({ status: 'pending', failures: 1, error });
    expect(await store.at(T0 + 500).claimExport(LEASE)).toBeNull();
    expect(await store.at(T0 + 501).claimExport(LEASE)).toMatchObject({ attempts: 2, failures: 1 });
    await store.releaseExport({ id: idOf('a'), attempt: 2 });
    expect(await store.claimExport(LEASE)).toMatchObject({ attempts: 3, failures: 1 });
    expect(await store.at(T0 + 600).failExport({ id: idOf('a'), attempt: 3 }, error, null)).toBe(true);
    expect(await store.findExport(idOf('a'))).toMatchObject({
      status: 'failed',
      failures: 2,
      error,
      finishedAt: T0 + 600,
    });
    expect(await store.at(T0 + 99_999).claimExport(LEASE)).toBeNull();
    expect((await typesOf(store, 1)).map(({ type }) => type)).toEqual(['export.failed']);
  });

  holds('accounts take turns, however many exports of one of them wait, or are deleted', async (store) => {
    const other = 'bob' as AccountId;
    await store.createAccount({ id: other, name: other, plan: 'custom', limits: NO_LIMITS }, null);
    const jobs = new Map([[DEFAULT, await crawled(store)]]);
    jobs.set(other, (await createJob(store, urlsOn('b.test', 1), { accountId: other })).id);
    const add = (at: number, accountId: AccountId, name: string) =>
      store.at(at).createExport(draft(jobs.get(accountId) as JobId, name, { accountId }));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await add(T0, DEFAULT, name);
    expect(await store.countOpenExports(DEFAULT)).toBe(5);
    let at = T0 + 10;
    let last: AccountId | null = null;
    const next = async () => {
      at += 10;
      const claimed = await store.at(at).claimExport(LEASE, last);
      if (claimed === null) return null;
      last = claimed.accountId;
      await store.at(at + 1).finishExport({ id: claimed.id, attempt: 1 }, END);
      return claimed;
    };
    expect((await next())?.id).toBe(idOf('a1'));
    for (const name of ['b1', 'b2', 'b3']) await add(at, other, name);
    expect([(await next())?.id, (await next())?.id, (await next())?.id]).toEqual(
      ['b1', 'a2', 'b2'].map(idOf),
    );
    const third = await next();
    expect(third?.id).toBe(idOf('a3'));
    for (const name of ['a1', 'a2', 'a3']) await store.deleteExport(DEFAULT, idOf(name));
    for (const name of ['b1', 'b2']) await store.deleteExport(other, idOf(name));
    expect([(await next())?.id, (await next())?.id]).toEqual(['b3', 'a4'].map(idOf));
    expect([await store.countOpenExports(DEFAULT), await store.countOpenExports(other)]).toEqual([1, 0]);
    // Where one account alone waits, it has every turn.
    expect((await next())?.id).toBe(idOf('a5'));
    expect(await next()).toBeNull();
  });

  holds('claims of many at once give each export to one', async (store) => {
    const jobId = await crawled(store);
    for (const name of ['a', 'b', 'c']) await store.at(T0).createExport(draft(jobId, name));
    const claimed = await Promise.all(Array.from({ length: 6 }, () => store.claimExport(LEASE)));
    const ids = claimed.flatMap((each) => each?.id ?? []);
    expect([...ids].sort()).toEqual(['a', 'b', 'c'].map(idOf));
  });

  holds('exports go with their job, and are deleted by age', async (store) => {
    const [first, second] = [await crawled(store), await crawled(store, 'b.test')];
    await store.at(T0).createExport(draft(first, 'a'));
    await store.createExport(draft(second, 'b'));
    for (const name of ['a', 'b']) {
      await store.at(T0).claimExport(LEASE);
      await store.at(T0 + 10).finishExport({ id: idOf(name), attempt: 1 }, END);
    }
    expect((await store.accountUse(DEFAULT)).storedBytes).toBeGreaterThanOrEqual(2 * END.sizeBytes);
    const old = { accountId: DEFAULT, endedBefore: T0 + 11, limit: 10 };
    expect(await store.deleteOldExports({ ...old, endedBefore: T0 + 10 })).toEqual({ exports: 0, bytes: 0 });
    expect(await store.deleteOldExports({ ...old, isDryRun: true })).toEqual({ exports: 2, bytes: 240 });
    expect(await store.deleteOldExports({ ...old, jobId: second })).toEqual({ exports: 1, bytes: 120 });
    expect(await store.deleteJob(first)).toBe(true);
    expect(await store.findExport(idOf('a'))).toBeNull();
    expect(await store.knownExports([idOf('a'), idOf('b')])).toEqual([]);
  });

  holds('gives the keys of pages without their records, and pages by their tasks', async (store) => {
    const jobId = await crawled(store, 'a.test', 5);
    await crawled(store, 'b.test', 1);
    const keys = await all((cursor) => store.listPageKeys({ jobId, cursor, limit: 2 }));
    expect(keys.map(({ url }) => url).sort()).toEqual(urlsOn('a.test', 5).sort());
    const wanted = [at(keys, 3).taskId, at(keys, 1).taskId];
    const pages = await store.pagesOfTasks(jobId, wanted);
    expect(pages.map(({ taskId }) => taskId).sort()).toEqual([...wanted].sort());
    expect(at(pages, 0)).toEqual(await store.getPage(jobId, at(pages, 0).taskId));
    expect(await store.pagesOfTasks('no job' as JobId, wanted)).toEqual([]);
  });
}
