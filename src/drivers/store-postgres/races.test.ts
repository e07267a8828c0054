import { describe, expect, it } from 'vitest';
import {
  at,
  claim,
  completion,
  createJob,
  DONE,
  done,
  drain,
  expectExact,
  FAILED,
  foundOn,
  job,
  LEASE_MS,
  ledger,
  own,
  pages,
  T0,
  take,
  urlsOn,
} from '../../../test/contract/store/fixtures.ts';
import type { TimedStore } from '../../../test/contract/store/timed-store.ts';
import type { HostKey } from '../../core/model/ids.ts';
import { openSchema, openStore, openStores } from './open-stores.fixture.ts';
import type { Schema } from './schema.fixture.ts';

const deadlocks = async (schema: Schema) => {
  const { rows } = await schema.query(
    'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0].n as number;
};

/** Works on whatever hosts there are until nothing is left, as one worker among many. */
async function work(
  store: TimedStore,
  name: string,
  links: (url: string) => readonly string[],
): Promise<number> {
  let fetched = 0;
  for (let idle = 0; idle < 20; ) {
    const offers = await store.offerHosts(T0, 10);
    let taken = 0;
    for (const { key } of offers) {
      const lease = await store.acquireHost(key, name, T0, LEASE_MS);
      if (lease === null) continue;
      const tasks = await store.claimTasks(lease, 7, T0, []);
      taken += tasks.length;
      const receipt = await store.commit(
        tasks.map((task) =>
          done(
            lease,
            task,
            links(task.url).map((url) => foundOn(task, url)),
          ),
        ),
        T0,
      );
      fetched += tasks.length - receipt.rejected.length;
      await store.releaseHost(lease, lease.state, T0, T0);
    }
    idle = taken === 0 ? idle + 1 : 0;
  }
  return fetched;
}

describe('many processes on one database', () => {
  it('crawl jobs across the same hosts to exact ends, without a deadlock', async () => {
    const { schema, stores } = await openStores(4);
    const store = at(stores, 0);
    const before = await deadlocks(schema);
    // Every page links to every host, so that all of them wake each other's hosts all the time.
    const links = (url: string) => {
      const { pathname } = new URL(url);
      if (pathname.length > 3) return [];
      return ['a', 'b', 'c', 'd'].flatMap((host) => [
        `https://${host}.test${pathname}0`,
        `https://${host}.test${pathname}1`,
      ]);
    };
    const seeds = ['https://c.test/', 'https://a.test/'];
    const jobs = [
      await createJob(store, seeds),
      await createJob(store, seeds),
      await createJob(store, seeds),
    ];
    const fetched = await Promise.all(stores.map((each, n) => work(each, `worker ${n}`, links)));
    const expected = 2 + 4 * (2 + 4 + 8);
    for (const { id } of jobs) {
      const ended = await expectExact(store, id);
      expect(ended).toMatchObject({ status: 'completed', counters: { open: 0, done: expected } });
      expect(new Set((await pages(store, id)).map((page) => page.url)).size).toBe(expected);
    }
    expect(fetched.reduce((sum, n) => sum + n, 0)).toBe(3 * expected);
    // The server counts them when connections end.
    await Promise.all(stores.map((each) => each.close()));
    expect(await deadlocks(schema)).toBe(before);
  });

  it('finish a job exactly once when its last tasks end in commits at the same time', async () => {
    const { stores } = await openStores(4);
    const store = at(stores, 0);
    for (let round = 0; round < 15; round += 1) {
      const hosts = stores.map((_, n) => `h${n}.round${round}.test`);
      const { id } = await createJob(
        store,
        hosts.map((host) => `https://${host}/`),
      );
      const held = await Promise.all(hosts.map((host, n) => take(at(stores, n), host)));
      const receipts = await Promise.all(
        held.map(({ lease, tasks }, n) => at(stores, n).commit([done(lease, at(tasks, 0))], T0 + 1)),
      );
      expect(receipts.flatMap(({ finishedJobs }) => finishedJobs)).toEqual([id]);
      expect(receipts.flatMap(({ rejected }) => rejected)).toEqual([]);
      expect(await expectExact(store, id)).toMatchObject({ status: 'completed' });
    }
  });

  it('add a URL once that several of them find at the same time', async () => {
    const { stores } = await openStores(4);
    const store = at(stores, 0);
    const hosts = stores.map((_, n) => `h${n}.test`);
    const { id } = await createJob(
      store,
      hosts.map((host) => `https://${host}/`),
    );
    const held = await Promise.all(hosts.map((host, n) => take(at(stores, n), host)));
    const found = Array.from({ length: 40 }, (_, n) => `https://new${n % 7}.test/${n}`);
    const receipts = await Promise.all(
      held.map(({ lease, tasks }, n) => {
        const task = at(tasks, 0);
        const mine = n % 2 === 0 ? found : found.toReversed();
        return at(stores, n).commit(
          [
            done(
              lease,
              task,
              mine.map((url) => foundOn(task, url)),
            ),
          ],
          T0,
        );
      }),
    );
    expect((await expectExact(store, id)).counters).toMatchObject({ known: 44, open: 40 });
    // The process that added a URL wakes its host.
    expect(new Set(receipts.flatMap(({ readyHosts }) => readyHosts.map(({ key }) => key))).size).toBe(7);
    expect(await drain(store)).toHaveLength(40);
  });

  it('give a host to one of those who want it, under an epoch that only grows', async () => {
    const { stores } = await openStores(4);
    await createJob(at(stores, 0), urlsOn('a.test', 2));
    let last = 0;
    for (let round = 0; round < 10; round += 1) {
      // Each round finds the last owner's time run out.
      const now = T0 + round * (LEASE_MS + 1);
      const leases = await Promise.all(
        stores.flatMap((store, n) => [
          store.acquireHost('a.test' as HostKey, `one of ${n}`, now, LEASE_MS),
          store.acquireHost('a.test' as HostKey, `other of ${n}`, now, LEASE_MS),
        ]),
      );
      const won = leases.filter((lease) => lease !== null);
      expect(won).toHaveLength(1);
      expect(won[0]?.isTakenOver).toBe(round > 0);
      expect(won[0]?.epoch).toBeGreaterThan(last);
      last = won[0]?.epoch ?? 0;
      await claim(at(stores, round % 4), at(won, 0), 1, now);
    }
  });

  it('let either a late commit or the new owner have a task, never both', async () => {
    const { stores } = await openStores(2);
    const [old, young] = [at(stores, 0), at(stores, 1)];
    for (let round = 0; round < 15; round += 1) {
      const host = `h${round}.test`;
      const { id } = await createJob(old, urlsOn(host, 5));
      const { lease, tasks } = await take(old, host);
      const later = T0 + LEASE_MS + 1;
      const [receipt, next] = await Promise.all([
        old.commit(
          tasks.map((task) => done(lease, task)),
          later,
        ),
        young.acquireHost(host as HostKey, 'two', later, LEASE_MS),
      ]);
      const again = next === null ? [] : await claim(young, next, 10, later);
      expect(again.map((task) => task.id).sort()).toEqual([...receipt.rejected].sort());
      expect([0, 5]).toContain(receipt.rejected.length);
      await expectExact(old, id);
    }
  });

  it('never have more pages under way together than a job may fetch', async () => {
    const { stores } = await openStores(4);
    const store = at(stores, 0);
    const hosts = stores.map((_, n) => `h${n}.test`);
    const { id } = await createJob(
      store,
      hosts.flatMap((host) => urlsOn(host, 20)),
      { budgets: { maxPages: 10 } },
    );
    const leases = await Promise.all(hosts.map((host, n) => own(at(stores, n), host)));
    const claimed = await Promise.all(leases.map((lease, n) => claim(at(stores, n), lease, 4)));
    expect(claimed.flat()).toHaveLength(10);
    const receipts = await Promise.all(
      claimed.map((tasks, n) =>
        at(stores, n).commit(
          tasks.map((task, index) => completion(at(leases, n), task, index === 0 ? FAILED : DONE)),
          T0,
        ),
      ),
    );
    expect(receipts.flatMap(({ stoppedJobs }) => stoppedJobs)).toEqual([id]);
    expect(receipts.flatMap(({ finishedJobs }) => finishedJobs)).toEqual([id]);
    expect(await expectExact(store, id)).toMatchObject({
      stopReason: 'budget.pages',
      counters: { skipped: 70 },
    });
  });

  it('cancel, resume and claim a job at once and leave its counters exact', async () => {
    const { stores } = await openStores(3);
    const store = at(stores, 0);
    const { id } = await createJob(store, [...urlsOn('a.test', 60), ...urlsOn('b.test', 60)]);
    const links = (url: string) => (url.includes('/x') ? [] : [`${url}/x`]);
    const workers = Promise.all(stores.map((each, n) => work(each, `worker ${n}`, links)));
    for (let turn = 0; turn < 8; turn += 1) {
      await store.cancelJob(id, T0);
      await store.resumeJob(id, T0);
    }
    await workers;
    await drain(store, T0, (task) => links(task.url).map((url) => foundOn(task, url)));
    expect(await expectExact(store, id)).toMatchObject({ status: 'completed', counters: { done: 240 } });
  });

  it('see every page of a job in order while others store more', async () => {
    const { stores } = await openStores(3);
    const [reader, ...writers] = [at(stores, 0), at(stores, 1), at(stores, 2)];
    const hosts = writers.map((_, n) => `h${n}.test`);
    const { id } = await createJob(
      reader,
      hosts.flatMap((host) => urlsOn(host, 60)),
    );
    const held = await Promise.all(hosts.map((host, n) => take(at(writers, n), host)));
    const writing = Promise.all(
      held.map(async ({ lease, tasks }, n) => {
        for (const task of tasks) await at(writers, n).commit([done(lease, task)], T0);
      }),
    );
    const seen: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const isOver = (await job(reader, id)).finishedAt !== null;
      const slice = await reader.listPages({ jobId: id, cursor, limit: 7 });
      // The end of the list is only the end when nothing was still to come.
      if (slice.nextCursor === null && !isOver) continue;
      seen.push(...slice.items.map((page) => page.taskId));
      if (slice.nextCursor === null) break;
      cursor = slice.nextCursor;
    }
    await writing;
    expect([seen.length, new Set(seen).size]).toEqual([120, 120]);
  });

  it('migrate an empty database together, once', async () => {
    const schema = await openSchema();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(schema.url)));
    const results = await Promise.all(stores.flatMap((store) => [store.migrate(), store.migrate()]));
    expect(results.filter(({ from }) => from === 0)).toHaveLength(1);
    expect(
      (await ledger(at(stores, 0), (await createJob(at(stores, 1), urlsOn('a.test', 2))).id)).length,
    ).toBe(2);
  });
});
