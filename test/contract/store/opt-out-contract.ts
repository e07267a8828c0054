import { expect } from 'vitest';
import type { OptOut } from '../../../src/core/ports/site-owner-store.ts';
import type { Claim } from '../contract.ts';
import {
  at,
  completion,
  createJob,
  done,
  drain,
  entryOf,
  expectExact,
  job,
  newTask,
  own,
  pages,
  states,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const optOut = (host: string, changes: Partial<OptOut> = {}): OptOut => ({
  host,
  reason: 'asked by mail',
  contact: 'owner@example.test',
  at: T0 + 5,
  minDelayMs: null,
  ...changes,
});

/** A site owner's no. */
export function optOutContract(holds: Claim<TimedStore>): void {
  holds('keeps opt-outs until they are removed', async (store) => {
    expect(await store.listOptOuts()).toEqual([]);
    const [a, b] = [optOut('a.test'), optOut('b.test', { contact: null })];
    await store.addOptOut(a);
    await store.addOptOut(b);
    expect([...(await store.listOptOuts())].sort((x, y) => (x.host < y.host ? -1 : 1))).toEqual([a, b]);
    expect(await store.removeOptOut('a.test')).toBe(true);
    expect(await store.removeOptOut('a.test')).toBe(false);
    expect(await store.listOptOuts()).toEqual([b]);
  });

  holds('may be told the same opt-out again', async (store) => {
    await store.addOptOut(optOut('a.test'));
    const newer = optOut('a.test', { reason: 'asked again', at: T0 + 9 });
    await store.addOptOut(newer);
    expect(await store.listOptOuts()).toEqual([newer]);
  });

  holds('leaves the tasks of a host alone that is to be crawled more slowly', async (store) => {
    const { id } = await createJob(store, ['https://a.test/', 'https://www.a.test/']);
    await store.addOptOut(optOut('a.test', { minDelayMs: 10_000 }));
    expect(await store.listOptOuts()).toEqual([optOut('a.test', { minDelayMs: 10_000 })]);
    expect(Object.values(await states(store, id))).toEqual(['ready', 'ready']);
    await store.addOptOut(optOut('a.test'));
    expect(await store.listOptOuts()).toEqual([optOut('a.test')]);
    expect(Object.values(await states(store, id))).toEqual(['denied', 'denied']);
  });

  holds('takes open tasks of the host, its ports and its subdomains out of all jobs', async (store) => {
    const covered = [
      'https://a.test/',
      'https://www.a.test/',
      'http://x.y.a.test:8080/',
      'http://a.test:81/',
    ];
    const others = ['https://nota.test/', 'https://a.test.evil.test/', 'https://test/'];
    const jobs = [
      await createJob(store, [...covered, ...others]),
      await createJob(store, ['https://a.test/other', 'https://b.test/'], { kind: 'batch' }),
    ];
    await store.addOptOut(optOut('a.test'));
    const first = await states(store, at(jobs, 0).id);
    expect(covered.map((url) => first[url])).toEqual(covered.map(() => 'denied'));
    expect(others.map((url) => first[url])).toEqual(others.map(() => 'ready'));
    expect(await states(store, at(jobs, 1).id)).toEqual({
      'https://a.test/other': 'denied',
      'https://b.test/': 'ready',
    });
    expect((await entryOf(store, at(jobs, 0).id, 'https://a.test/')).rule).toMatch(/opt-out/);
    for (const each of jobs) await expectExact(store, each.id);
    const fetched = await drain(store, T0 + 10);
    expect(fetched.sort()).toEqual([...others, 'https://b.test/'].sort());
    for (const each of jobs) expect((await expectExact(store, each.id)).status).toBe('completed');
  });

  holds('ends the jobs it leaves nothing to do', async (store) => {
    const nothingElse = await createJob(store, urlsOn('a.test', 2));
    await store.addOptOut(optOut('a.test'));
    expect(await expectExact(store, nothingElse.id)).toMatchObject({ status: 'failed', finishedAt: T0 + 5 });
  });

  holds('takes out waiting tasks as well', async (store) => {
    const { id } = await createJob(store, ['https://a.test/1', 'https://b.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    const end = { state: 'waiting', readyAt: T0 + 1_000, rule: 'retry:CONNECT_FAILED' } as const;
    await store.commit([completion(lease, at(tasks, 0), end)], T0);
    await store.addOptOut(optOut('a.test'));
    expect((await expectExact(store, id)).counters).toMatchObject({ denied: 1, open: 1 });
  });

  holds('takes out tasks under way, and voids what comes of them', async (store) => {
    const { id } = await createJob(store, ['https://a.test/1', 'https://b.test/']);
    const { lease, tasks } = await take(store, 'a.test');
    await store.addOptOut(optOut('a.test'));
    expect((await states(store, id))['https://a.test/1']).toBe('denied');
    await expectExact(store, id);
    const receipt = await store.commit([done(lease, at(tasks, 0))], T0 + 6);
    expect(receipt.rejected).toEqual([at(tasks, 0).id]);
    await store.releaseHost(lease, lease.state, T0 + 6, T0 + 6);
    expect((await expectExact(store, id)).counters).toMatchObject({
      denied: 1,
      open: 1,
      claimed: 0,
      bytes: 0,
    });
    expect(await pages(store, id)).toEqual([]);
  });

  holds('leaves what has ended as it was', async (store) => {
    const { id } = await createJob(store, [
      'https://a.test/1',
      newTask('https://a.test/2', { state: 'skipped', rule: 'scope.depth' }),
    ]);
    await drain(store);
    const before = await job(store, id);
    await store.addOptOut(optOut('a.test'));
    expect(await job(store, id)).toEqual(before);
    expect(await states(store, id)).toEqual({ 'https://a.test/1': 'done', 'https://a.test/2': 'skipped' });
  });

  holds('removing an opt-out brings nothing back, and new work runs again', async (store) => {
    const { id } = await createJob(store, ['https://a.test/1']);
    await store.addOptOut(optOut('a.test'));
    await store.removeOptOut('a.test');
    expect(await states(store, id)).toEqual({ 'https://a.test/1': 'denied' });
    await createJob(store, ['https://a.test/2']);
    await own(store, 'a.test', T0 + 10);
  });
}
