import { expect } from 'vitest';
import type { JobId } from '../../../src/core/model/ids.ts';
import type { Claim } from '../contract.ts';
import {
  at,
  completion,
  createJob,
  done,
  entryOf,
  expectExact,
  foundOn,
  newTask,
  T0,
  take,
  urlKeyOf,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const UNKNOWN = '00000000-0000-7000-8000-000000000000' as JobId;

/** One URL of a job: what was submitted for it, and its line of the ledger. */
export function sourcesContract(holds: Claim<TimedStore>): void {
  holds('keeps start URLs as they were submitted, for as long as the job', async (store) => {
    const sources = { 'https://a.test/0': 'HTTPS://A.test/0#top', 'https://a.test/1': ' a.test/1 \u{1f600}' };
    const { id } = await createJob(store, urlsOn('a.test', 3), { kind: 'batch', sources });
    const other = await createJob(store, urlsOn('b.test', 1));
    expect(await store.getSources(id)).toEqual(sources);
    expect(await store.getSources(other.id)).toEqual({});
    expect(await store.getSources(UNKNOWN)).toEqual({});
    await store.cancelJob(id, T0);
    expect(await store.deleteJob(id)).toBe(true);
    expect(await store.getSources(id)).toEqual({});
  });

  holds('finds the line of one URL with its task, and when a waiting one may be claimed', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const other = await createJob(store, ['https://b.test/other']);
    const { lease, tasks } = await take(store, 'a.test');
    const task = at(tasks, 0);
    const readyAt = T0 + 5_000;
    const ends = [
      done(lease, task, [foundOn(task, 'https://a.test/found')]),
      completion(lease, at(tasks, 1), { state: 'waiting', readyAt, rule: 'retry:CONNECTION_RESET' }),
    ];
    await store.commit(ends, T0);
    const find = (url: string, job = id) => store.findTask(job, urlKeyOf(url));
    expect(await find(task.url)).toEqual({
      taskId: task.id,
      entry: await entryOf(store, id, task.url),
      readyAt: null,
    });
    expect(await find(at(tasks, 1).url)).toMatchObject({ entry: { state: 'waiting' }, readyAt });
    expect(await find('https://a.test/found')).toMatchObject({ entry: { foundOn: task.url, depth: 1 } });
    expect(await find('https://a.test/never')).toBeNull();
    expect(await find(task.url, other.id)).toBeNull();
    expect(await find(task.url, UNKNOWN)).toBeNull();
  });

  holds('counts no robots.txt file and no sitemap among the skipped pages', async (store) => {
    const site = newTask('https://a.test/robots.txt', { kind: 'site' });
    const { id } = await createJob(store, ['https://a.test/0', 'https://a.test/1', site]);
    const { lease, tasks } = await take(store, 'a.test');
    const [page, other, robots] = ['/0', '/1', '/robots.txt'].map(
      (path) => tasks.find((task) => task.url.endsWith(path)) ?? at(tasks, -1),
    ) as [(typeof tasks)[number], (typeof tasks)[number], (typeof tasks)[number]];
    const sitemap = foundOn(robots, 'https://a.test/no-sitemap.xml', {
      kind: 'sitemap',
      state: 'skipped',
      rule: 'scope.exclude:/no',
    });
    const ends = [
      done(lease, page),
      completion(lease, other, { state: 'skipped', rule: 'scope.noindex' }),
      completion(
        lease,
        robots,
        { state: 'skipped', rule: 'site.no-sitemap-declared' },
        { discovered: [sitemap] },
      ),
    ];
    await store.commit(ends, T0);
    const ended = await expectExact(store, id);
    expect(ended).toMatchObject({ status: 'completed', counters: { known: 4, pages: 1, skipped: 1 } });
    const accountId = await store.defaultAccount();
    expect((await store.listJobs({ accountId, limit: 1 })).items[0]?.counters.skipped).toBe(1);
  });
}
