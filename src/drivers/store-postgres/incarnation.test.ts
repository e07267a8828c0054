import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import {
  at,
  claim,
  createJob,
  done,
  LEASE_MS,
  own,
  T0,
  take,
  urlsOn,
} from '../../../test/contract/store/fixtures.ts';
import type { HostKey } from '../../core/model/ids.ts';
import { openSchema, openStore, openStores } from './open-stores.fixture.ts';
import { restoreIncarnation } from './schema.fixture.ts';

const A = 'a.test' as HostKey;
const B = 'b.test' as HostKey;

describe('an incarnation of the store', () => {
  it('is the same for all processes, also for those that ask first at the same time', async () => {
    const { stores } = await openStores(6);
    const [store] = stores;
    const hosts = stores.map((_, index) => `h${index}.test`);
    if (store !== undefined)
      await createJob(
        store,
        hosts.flatMap((host) => urlsOn(host, 1)),
      );
    const leases = await Promise.all(stores.map((each, index) => own(each, at(hosts, index))));
    expect(new Set(leases.map(({ incarnation }) => incarnation)).size).toBe(1);
  });

  it('holds hosts back until the leases of the former one have run out', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    await createJob(store, [...urlsOn('a.test', 2), ...urlsOn('b.test', 2)]);
    const lease = await own(store, 'a.test');
    await restoreIncarnation(schema);
    // The restored store may have forgotten that b.test has an owner.
    expect(await store.acquireHost(B, 'two', T0, LEASE_MS)).toBeNull();
    expect(await store.acquireHost(A, 'two', T0 + 2 * LEASE_MS, LEASE_MS)).toBeNull();
    // Leases that last no time at all have run out at once.
    expect(await store.acquireHost(B, 'two', T0, 0)).toMatchObject({ isTakenOver: true });
    expect(await store.acquireHost(A, 'one', T0, LEASE_MS, lease)).toMatchObject({ isTakenOver: true });
  });

  it('gives a host that has an owner already to no owner of the former one', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    await createJob(store, urlsOn('a.test', 2));
    const lease = await own(store, 'a.test');
    await restoreIncarnation(schema);
    const next = await store.acquireHost(A, 'one', T0, LEASE_MS, lease);
    expect(next).not.toBeNull();
    expect(await store.acquireHost(A, 'two', T0 + 1, LEASE_MS, lease)).toBeNull();
    expect(next && (await store.renewHosts([next], T0 + 2, LEASE_MS))).toEqual([]);
  });

  it('is another one after each restart of the server, as its row tells', async () => {
    const { schema, stores } = await openStores(1);
    const store = at(stores, 0);
    await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test', 1);
    // What the row says after a restart, and on a replica that took over: it names another run of the server.
    await schema.query(
      `UPDATE incarnation SET server_run = '1 timeline 00000001', registered_by = pg_current_xact_id()::xid`,
    );
    expect((await store.commit([done(lease, at(tasks, 0))], T0 + 1)).rejected).toHaveLength(1);
    const next = await store.acquireHost(A, 'one', T0 + 1, LEASE_MS, lease);
    expect(next?.incarnation).not.toBe(lease.incarnation);
    expect(next && (await claim(store, next))).toHaveLength(2);
  });

  it('needs no rights beyond those on its own tables', async () => {
    const admin = await openSchema();
    const [name, password] = [`plain_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')];
    await admin.query(
      `CREATE ROLE ${name} LOGIN PASSWORD '${password}'; CREATE SCHEMA ${name} AUTHORIZATION ${name}`,
    );
    onTestFinished(async () => {
      await admin.query(`DROP SCHEMA ${name} CASCADE; DROP ROLE ${name}`);
    });
    const url = new URL(inject('postgresUrl'));
    [url.username, url.password] = [name, password];
    url.searchParams.set('options', `-c search_path=${name}`);
    const store = await openStore(url.href);
    await store.migrate();
    await createJob(store, urlsOn('a.test', 1));
    const { lease, tasks } = await take(store, 'a.test');
    expect((await store.commit([done(lease, at(tasks, 0))], T0 + 1)).rejected).toEqual([]);
  });
});
