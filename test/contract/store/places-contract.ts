import { expect } from 'vitest';
import type { AccountId, HostKey } from '../../../src/core/model/ids.ts';
import { NO_LIMITS as UNLIMITED } from '../../../src/core/ports/account-store.ts';
import type { Claim } from '../contract.ts';
import { claim, createJob, done, HOST_STATE, own, T0, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const ID = 'tenant' as AccountId;

async function createTenant(store: TimedStore, concurrentPages: number | null, id = ID): Promise<void> {
  const limits = { ...UNLIMITED, concurrentPages };
  await store.createAccount({ id, name: 'Tenant', plan: 'custom', limits }, null);
}

/** Pages that an account fetches at the same time. */
export function placesContract(holds: Claim<TimedStore>): void {
  holds(
    'claims no more for an account than it may have under way, over all hosts and jobs',
    async (store) => {
      await createTenant(store, 3);
      await createJob(store, urlsOn('a.test', 5), { accountId: ID });
      await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 5)], { accountId: ID });
      const [a, b] = [await own(store, 'a.test'), await own(store, 'b.test')];
      const first = await claim(store, a);
      expect(first).toHaveLength(3);
      expect(first.map((task) => task.isBounded)).toEqual([true, true, true]);
      expect(await claim(store, b)).toEqual([]);
      expect((await store.accountUse(ID)).claimedPages).toBe(3);
      const [one, two] = first;
      if (one === undefined || two === undefined) throw new Error('Three tasks were claimed.');
      await store.commit([done(a, one), done(a, two)], T0 + 1);
      // The other host has more tasks as well, so that there is one at a time.
      for (let n = 0; n < 2; n += 1) expect(await claim(store, b, 10, T0 + 1)).toHaveLength(1);
      expect(await claim(store, b, 10, T0 + 1)).toEqual([]);
      expect((await store.accountUse(ID)).claimedPages).toBe(3);
    },
  );

  holds('does not take a job that waits for a place for one that cannot pay', async (store) => {
    await createTenant(store, 1);
    await store.setCreditPlan(ID, { monthlyMicrocredits: 1_000, lowMicrocredits: 0 });
    const first = await createJob(store, urlsOn('a.test', 2), { accountId: ID, reserve: 10 });
    const second = await createJob(store, urlsOn('b.test', 2), { accountId: ID, reserve: 10 });
    const [a, b] = [await own(store, 'a.test'), await own(store, 'b.test')];
    expect(await claim(store, a)).toHaveLength(1);
    expect(await claim(store, b)).toEqual([]);
    await store.changeAccount(ID, { isDisabled: true });
    expect(await claim(store, a)).toEqual([]);
    expect(await claim(store, b)).toEqual([]);
    for (const { id } of [first, second]) {
      expect(await store.getJob(id)).toMatchObject({ stopReason: null, finishedAt: null });
    }
  });

  holds('claims for other accounts what comes behind the tasks of a full one', async (store) => {
    await createTenant(store, 1);
    await createJob(store, urlsOn('a.test', 50), { accountId: ID, kind: 'scrape' });
    await createJob(store, ['http://a.test/other'], { at: T0 + 60_000 });
    const lease = await own(store, 'a.test', T0 + 60_000);
    const tasks = await claim(store, lease, 5, T0 + 60_000);
    expect(tasks.map(({ url }) => url).sort()).toEqual(['http://a.test/other', 'https://a.test/0']);
    expect(tasks.find(({ url }) => url.endsWith('other'))?.isBounded).toBeUndefined();
  });

  holds('offers a host that waits for places later, and at once when other tasks come', async (store) => {
    await createTenant(store, 1);
    await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 2)], { accountId: ID });
    const [a, b] = [await own(store, 'a.test'), await own(store, 'b.test')];
    expect(await claim(store, a)).toHaveLength(1);
    expect(await claim(store, b)).toEqual([]);
    await store.releaseHost(b, HOST_STATE, 0, T0);
    const offered = async (now: number) => (await store.offerHosts(now, 10)).map(({ key }) => key);
    expect(await offered(T0 + 500)).toEqual([]);
    expect(await offered(T0 + 2_000)).toEqual(['b.test']);
    await createJob(store, ['http://b.test/other'], { at: T0 + 600 });
    expect(await offered(T0 + 600)).toEqual(['b.test']);
    const again = await own(store, 'b.test', T0 + 600);
    expect((await claim(store, again, 10, T0 + 600)).map(({ url }) => url)).toEqual(['http://b.test/other']);
  });

  holds('claims nothing for a disabled account until it is enabled', async (store) => {
    await createTenant(store, null);
    await createJob(store, urlsOn('a.test', 4), { accountId: ID });
    const lease = await own(store, 'a.test');
    expect(await claim(store, lease, 1)).toHaveLength(1);
    await store.changeAccount(ID, { isDisabled: true });
    expect(await claim(store, lease)).toEqual([]);
    await store.changeAccount(ID, { isDisabled: false });
    const rest = await claim(store, lease);
    expect(rest).toHaveLength(3);
    expect(rest[0]?.isBounded).toBeUndefined();
  });

  holds('claims at once on many hosts stay within the places', async (store) => {
    await createTenant(store, 4);
    const hosts = Array.from({ length: 8 }, (_, n) => `h${n}.test`);
    for (const host of hosts) await createJob(store, urlsOn(host, 5), { accountId: ID });
    const leases = await Promise.all(hosts.map((host) => own(store, host)));
    const claimed = await Promise.all(leases.map((lease) => claim(store, lease, 3)));
    const count = claimed.flat().length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThanOrEqual(4);
    expect((await store.accountUse(ID)).claimedPages).toBe(count);
  });

  holds('gives the places of an account to its hosts by turns', async (store) => {
    await createTenant(store, 1);
    const hosts = ['a.test', 'b.test', 'c.test'];
    for (const host of hosts) await createJob(store, urlsOn(host, 100), { accountId: ID });
    const fetched = new Map<string, number>();
    // One worker of each host, which asks for as long as there is something to claim.
    for (let now = T0; now < T0 + 60_000; now += 250) {
      for (const { key } of await store.offerHosts(now, 10)) {
        const lease = await store.acquireHost(key, 'one', now, 60_000);
        if (lease === null) continue;
        const tasks = await claim(store, lease, 10, now);
        expect(tasks.length).toBeLessThanOrEqual(1);
        await store.commit(
          tasks.map((task) => done(lease, task)),
          now,
        );
        fetched.set(key, (fetched.get(key) ?? 0) + tasks.length);
        await store.releaseHost(lease, HOST_STATE, 0, now);
      }
    }
    for (const host of hosts) expect(fetched.get(host as HostKey) ?? 0).toBeGreaterThan(5);
  });
}
