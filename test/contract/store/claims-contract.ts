import { expect } from 'vitest';
import type { AccountId } from '../../../src/core/model/ids.ts';
import type { Job } from '../../../src/core/model/job.ts';
import { inTurn, NO_TURNS, type Queued, type Turns, turnsAfter } from '../../../src/core/model/turns.ts';
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

async function addAccount(store: TimedStore, id: string): Promise<AccountId> {
  const limits = { requestsPerMinute: null, concurrentPages: null, openUrls: null, storedBytes: null };
  await store.createAccount({ id: id as AccountId, name: id, plan: 'custom', limits }, null);
  return id as AccountId;
}

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

  holds('lets the jobs of an account take turns, however many tasks each has', async (store) => {
    const sizes = [300, 3, 300];
    const jobs: Job[] = [];
    for (const [at, size] of sizes.entries()) {
      const urls = urlsOn('a.test', size).map((url) => `${url}/${at}`);
      jobs.push(await createJob(store, urls, { kind: at === 1 ? 'batch' : 'crawl', at: T0 + at }));
    }
    const { lease, tasks } = await take(store, 'a.test', 9, T0 + 9);
    for (const { id } of jobs) expect(tasks.filter(({ jobId }) => jobId === id)).toHaveLength(3);
    const last = at(jobs, 0);
    const turns: Turns = { account: 'default', lines: { default: [Number(last.seq), false] } };
    const [next] = await store.claimTasks(lease, 1, T0 + 9, [], turns);
    // The small job is done, so the big one that was not served last is next.
    expect(next?.jobId).toBe(at(jobs, 2).id);
  });

  holds('lets accounts take turns, however many jobs and tasks each has', async (store) => {
    const other = await addAccount(store, 'account-b');
    for (let job = 0; job < 5; job += 1) {
      const urls = urlsOn('a.test', 50).map((url) => `${url}/${job}`);
      await createJob(store, urls, { at: T0 - 1_000_000 });
      await createJob(store, [`https://a.test/single/${job}`], { kind: 'scrape', at: T0 - 1_000_000 });
    }
    const theirs = await createJob(store, urlsOn('a.test', 20), { accountId: other });
    const { lease, tasks } = await take(store, 'a.test', 8);
    expect(tasks.filter(({ jobId }) => jobId === theirs.id)).toHaveLength(4);
    for (const [served, isTheirs] of [
      ['default', true],
      [other, false],
    ] as const) {
      const [next] = await store.claimTasks(lease, 1, T0, [], { account: served, lines: {} });
      expect(next?.jobId === theirs.id).toBe(isTheirs);
    }
  });

  holds('lets single scrapes and crawls of an account take turns', async (store) => {
    const crawl = await createJob(store, urlsOn('a.test', 20), { at: T0 - 1_000_000 });
    for (let each = 0; each < 20; each += 1) {
      await createJob(store, [`https://a.test/single/${each}`], { kind: 'scrape' });
    }
    const { lease, tasks } = await take(store, 'a.test', 6);
    expect(tasks.filter(({ jobId }) => jobId === crawl.id)).toHaveLength(3);
    const after = async (wasScrape: boolean) => {
      const turns: Turns = { account: 'default', lines: { default: [Number(crawl.seq), wasScrape] } };
      const [next] = await store.claimTasks(lease, 1, T0, [], turns);
      return next?.jobId === crawl.id ? 'crawl' : 'scrape';
    };
    expect([await after(true), await after(false)]).toEqual(['crawl', 'scrape']);
  });

  holds('chooses the tasks that have their turn next, whatever was served before', async (store) => {
    const accounts = [
      'default' as AccountId,
      await addAccount(store, 'account-b'),
      await addAccount(store, 'Account-a'),
    ];
    const open: Queued[] = [];
    for (let job = 0; job < 12; job += 1) {
      const accountId = at(accounts, (job * 7) % 3);
      const kind = job % 4 === 1 ? 'scrape' : 'batch';
      const urls = urlsOn('a.test', kind === 'scrape' ? 1 : 1 + (job % 5) * 2).map((url) => `${url}/${job}`);
      const { seq } = await createJob(store, urls, { accountId, kind });
      for (const _ of urls) open.push({ accountId, jobSeq: seq, isScrape: kind === 'scrape' });
    }
    const lease = await own(store, 'a.test');
    let turns = NO_TURNS;
    const jobsOf = (tasks: readonly { readonly jobSeq: number }[]) =>
      tasks.map(({ jobSeq }) => jobSeq).sort();
    for (let limit = 1; open.length > 0; limit = (limit % 5) + 1) {
      const expected = inTurn(open, turns).slice(0, limit);
      const claimed = await store.claimTasks(lease, limit, T0, [], turns);
      expect(jobsOf(claimed)).toEqual(jobsOf(expected));
      for (const each of expected) {
        open.splice(open.indexOf(each), 1);
        turns = turnsAfter(turns, each);
      }
    }
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
