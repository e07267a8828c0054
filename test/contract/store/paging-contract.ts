import { expect } from 'vitest';
import type { ListPage } from '../../../src/core/ports/store.ts';
import type { Claim } from '../contract.ts';
import { at, createJob, done, foundOn, own, T0, take, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** Walks a list in small steps and lets something be added after each. */
async function walk<T>(
  page: (cursor: string | undefined) => Promise<ListPage<T>>,
  nameOf: (item: T) => string,
  add: () => Promise<unknown>,
): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let step = 0; step < 100; step += 1) {
    const slice = await page(cursor);
    seen.push(...slice.items.map(nameOf));
    if (slice.nextCursor === null) return seen;
    cursor = slice.nextCursor;
    if (step < 5) await add();
  }
  throw new Error('The list has no end.');
}

/** Lists are complete and repeat nothing, while rows are added. */
export function pagingContract(holds: Claim<TimedStore>): void {
  holds('pages through jobs without gaps or repeats while jobs are added', async (store) => {
    const accountId = await store.defaultAccount();
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push((await createJob(store, [], { at: T0 + n })).id);
    const seen = await walk(
      (cursor) => store.listJobs({ accountId, cursor, limit: 3 }),
      (each) => each.id,
      () => createJob(store, [], { at: T0 + 100 }),
    );
    expect(new Set(seen).size).toBe(seen.length);
    // Newest first: what comes later stands before the first page.
    expect(seen).toEqual(ids.reverse());
  });

  holds('pages through the ledger without gaps or repeats while URLs are found', async (store) => {
    const urls = urlsOn('a.test', 30);
    const { id } = await createJob(store, urls);
    const { lease, tasks } = await take(store, 'a.test');
    let turn = 0;
    const seen = await walk(
      (cursor) => store.listTasks({ jobId: id, cursor, limit: 4 }),
      (entry) => entry.url,
      () => {
        const task = at(tasks, turn);
        turn += 1;
        return store.commit([done(lease, task, [foundOn(task, `https://a.test/found/${turn}`)])], T0);
      },
    );
    const found = Array.from({ length: 5 }, (_, index) => `https://a.test/found/${index + 1}`);
    expect(seen).toEqual([...urls, ...found]);
  });

  holds('pages through stored pages without gaps or repeats while pages are stored', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 30));
    const { lease, tasks } = await take(store, 'a.test');
    let next = 20;
    await store.commit(
      tasks.slice(0, next).map((task) => done(lease, task)),
      T0,
    );
    const seen = await walk(
      (cursor) => store.listPages({ jobId: id, state: 'done', cursor, limit: 4 }),
      (page) => page.url,
      () => {
        next += 1;
        return store.commit([done(lease, at(tasks, next - 1))], T0);
      },
    );
    expect(seen).toEqual(tasks.slice(0, 25).map((task) => task.url));
  });

  holds('pages through hosts without gaps or repeats', async (store) => {
    const hosts = Array.from({ length: 12 }, (_, index) => `h${index}.test`);
    await createJob(
      store,
      hosts.map((host) => `https://${host}/`),
    );
    const seen = await walk(
      (cursor) => store.listHosts({ cursor, limit: 5 }),
      (host) => host.key,
      () => own(store, 'h0.test').catch(() => null),
    );
    expect([...seen].sort()).toEqual([...hosts].sort());
  });

  holds('ends a list that fits its limit exactly', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4));
    const slice = await store.listTasks({ jobId: id, limit: 4 });
    expect(slice.items).toHaveLength(4);
    expect(slice.nextCursor).toBeNull();
  });

  holds('refuses a cursor it never gave out', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4));
    await expect(store.listTasks({ jobId: id, cursor: "' OR 1=1", limit: 4 })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
  });
}
