import { expect } from 'vitest';
import type { Claim } from '../contract.ts';
import {
  at,
  claim,
  createJob,
  done,
  expectExact,
  newTask,
  own,
  T0,
  take,
  urlKeyOf,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** Which tasks an owner gets, in what order. */
export function claimsContract(holds: Claim<TimedStore>): void {
  holds('hands a task over with all its owner needs', async (store) => {
    const url = 'https://a.test/sitemap.xml';
    const created = await createJob(store, [newTask(url, { kind: 'sitemap', depth: 2, foundBy: 'robots' })]);
    const { tasks } = await take(store, 'a.test');
    expect(tasks).toEqual([
      {
        id: at(tasks, 0).id,
        jobSeq: created.seq,
        jobId: created.id,
        kind: 'sitemap',
        url,
        atUrl: url,
        hops: 0,
        urlKey: urlKeyOf(url),
        depth: 2,
        attempts: 0,
        interruptions: 0,
        loneInterruptions: 0,
        trace: [],
      },
    ]);
  });

  holds('claims no more than asked for, each task once, of this host only', async (store) => {
    const { id } = await createJob(store, [...urlsOn('a.test', 10), ...urlsOn('b.test', 10)]);
    const lease = await own(store, 'a.test');
    const [first, second, rest] = [
      await claim(store, lease, 4),
      await claim(store, lease, 4),
      await claim(store, lease, 100),
    ];
    expect([first.length, second.length, rest.length]).toEqual([4, 4, 2]);
    const urls = [...first, ...second, ...rest].map((task) => task.url);
    expect(urls.sort()).toEqual(urlsOn('a.test', 10).sort());
    expect(await claim(store, lease, 4)).toEqual([]);
    expect((await expectExact(store, id)).counters).toMatchObject({ claimed: 10, open: 20 });
  });

  holds('claims nothing when asked for none', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const lease = await own(store, 'a.test');
    expect(await claim(store, lease, 0)).toEqual([]);
  });

  holds('claims URLs of one job in the order they were found', async (store) => {
    await createJob(store, urlsOn('a.test', 5));
    const { lease, tasks } = await take(store, 'a.test', 2);
    expect(tasks.map((task) => task.url)).toEqual(urlsOn('a.test', 2));
    const found = newTask('https://a.test/found', { depth: 1, foundBy: 'link', foundOn: at(tasks, 0).id });
    await store.commit([done(lease, at(tasks, 0), [found])], T0);
    const rest = await claim(store, lease);
    expect(rest.map((task) => task.url)).toEqual([...urlsOn('a.test', 5).slice(2), found.url]);
  });

  holds('claims scrapes before all else, whenever they came', async (store) => {
    await createJob(store, urlsOn('a.test', 3), { kind: 'crawl', at: T0 - 10_000_000 });
    await createJob(store, ['https://a.test/batched'], { kind: 'batch', at: T0 - 5_000_000 });
    await createJob(store, ['https://a.test/scraped'], { kind: 'scrape', at: T0 });
    const { tasks } = await take(store, 'a.test', 1);
    expect(tasks.map((task) => task.url)).toEqual(['https://a.test/scraped']);
  });

  holds('claims small jobs before big ones that came at the same time', async (store) => {
    await createJob(
      store,
      urlsOn('a.test', 2_000).map((url) => `${url}/big`),
      { kind: 'crawl' },
    );
    await createJob(
      store,
      urlsOn('a.test', 3).map((url) => `${url}/small`),
      { kind: 'batch' },
    );
    const { tasks } = await take(store, 'a.test', 4);
    expect(tasks.map((task) => task.url.split('/').at(-1))).toEqual(['small', 'small', 'small', 'big']);
  });

  holds('lets no big job starve behind small ones that keep coming', async (store) => {
    const big = await createJob(
      store,
      urlsOn('a.test', 2_000).map((url) => `${url}/big`),
    );
    const HOUR_MS = 3_600_000;
    for (let n = 0; n < 5; n += 1) {
      await createJob(store, [`https://a.test/small/${n}`], { kind: 'batch', at: T0 + HOUR_MS + n });
    }
    const { tasks } = await take(store, 'a.test', 1, T0 + HOUR_MS + 10);
    expect(tasks.map((task) => task.jobId)).toEqual([big.id]);
  });

  holds('passes over the jobs it is told to', async (store) => {
    const first = await createJob(store, ['https://a.test/1', 'https://a.test/2'], { kind: 'batch' });
    const second = await createJob(store, urlsOn('a.test', 3), { kind: 'batch', at: T0 + 1 });
    const lease = await own(store, 'a.test', T0 + 1);
    expect(await store.claimTasks(lease, 10, T0 + 1, [first.seq, second.seq])).toEqual([]);
    const claimed = await store.claimTasks(lease, 2, T0 + 1, [first.seq]);
    expect(claimed.map((task) => task.jobId)).toEqual([second.id, second.id]);
    expect(await store.claimTasks(lease, 10, T0 + 1, [])).toHaveLength(3);
  });

  holds('passes over jobs that are over', async (store) => {
    const gone = await createJob(store, urlsOn('a.test', 3));
    const kept = await createJob(store, ['https://a.test/kept']);
    const lease = await own(store, 'a.test');
    await store.cancelJob(gone.id, T0);
    expect((await claim(store, lease)).map((task) => task.jobId)).toEqual([kept.id]);
  });

  holds('shows new work to an owner that is there already', async (store) => {
    await createJob(store, ['https://a.test/1']);
    const { lease } = await take(store, 'a.test');
    await createJob(store, ['https://a.test/2']);
    expect((await claim(store, lease)).map((task) => task.url)).toEqual(['https://a.test/2']);
  });
}
