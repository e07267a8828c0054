import { describe, expect, it, onTestFinished } from 'vitest';
import {
  at,
  createJob,
  done,
  expectExact,
  foundOn,
  job,
  LEASE_MS,
  pages,
  T0,
  take,
  urlsOn,
} from '../../../test/contract/store/fixtures.ts';
import { openTcpProxy } from '../../../test/fault/tcp-proxy.ts';
import type { HostKey } from '../../core/model/ids.ts';
import { openStore, openStores } from './open-stores.fixture.ts';

/** A store behind a proxy that can cut its connections, and another beside it that shows what is really there. */
async function openCut() {
  const { schema, stores } = await openStores(1);
  const { hostname, port } = new URL(schema.url);
  const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => proxy.close());
  return { schema, proxy, beside: at(stores, 0), store: await openStore(proxy.urlOf(schema.url), 1) };
}

describe('a commit whose answer is lost', () => {
  it('is reported as kept when it is sent again, with the answer of the first time, and counted once', async () => {
    const { proxy, beside, store } = await openCut();
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    const batch = tasks.map((task) => done(lease, task, [foundOn(task, `${task.url}/more`)]));
    const answered = proxy.cutReplyTo('commit');
    await expect(store.commit(batch, T0 + 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await answered;
    const before = await job(beside, id);
    expect(before.counters).toMatchObject({ done: 3, open: 3 });

    const receipt = await store.commit(batch, T0 + 2);
    expect(receipt).toMatchObject({ rejected: [], changedJobs: [id], finishedJobs: [], stoppedJobs: [] });
    expect(receipt.readyHosts.map(({ key }) => key)).toEqual(['a.test']);
    expect(await expectExact(beside, id)).toEqual(before);
    expect(await pages(beside, id)).toHaveLength(3);
    // Once answered, it is a new commit of what has ended.
    expect((await store.commit(batch, T0 + 3)).rejected).toHaveLength(3);
  });

  it('is kept even when the host has another owner by then', async () => {
    const { proxy, beside, store } = await openCut();
    const { id } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test', 2);
    const batch = tasks.map((task) => done(lease, task));
    const answered = proxy.cutReplyTo('commit');
    await expect(store.commit(batch, T0 + 1)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await answered;
    const next = await beside.acquireHost('a.test' as HostKey, 'two', T0 + LEASE_MS + 1, LEASE_MS);
    expect(next).not.toBeNull();
    expect((await store.commit(batch, T0 + LEASE_MS + 2)).rejected).toEqual([]);
    expect((await expectExact(beside, id)).counters).toMatchObject({ done: 2, open: 1 });
  });

  it('that never reached the server happens when it is sent again', async () => {
    const { proxy, beside, store } = await openCut();
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    const batch = tasks.map((task) => done(lease, task));
    const sent = store.commit(batch, T0 + 1);
    proxy.cut();
    await expect(sent).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await store.commit(batch, T0 + 2)).toMatchObject({ rejected: [], finishedJobs: [id] });
    expect((await expectExact(beside, id)).counters).toMatchObject({ done: 2 });
  });

  it('is waited for while the server is still at it', async () => {
    const { schema, proxy, beside, store } = await openCut();
    const { id } = await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    const batch = tasks.map((task) => done(lease, task));
    const blocker = await schema.hold('SELECT FROM jobs WHERE id = $1 FOR UPDATE', [id]);
    const first = store.commit(batch, T0 + 1);
    first.catch(() => {});
    await blocker.waitForWaiting(1);
    proxy.cut();
    await expect(first).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const second = store.commit(batch, T0 + 2);
    await blocker.waitForWaiting(2);
    await blocker.release();
    expect(await second).toMatchObject({ rejected: [], finishedJobs: [id] });
    expect(await expectExact(beside, id)).toMatchObject({ counters: { done: 2, bytes: 200 } });
    expect(await pages(beside, id)).toHaveLength(2);
  });
});
