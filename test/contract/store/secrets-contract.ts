import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AccountId, JobId, SessionId } from '../../../src/core/model/ids.ts';
import type { JobOptions } from '../../../src/core/model/job.ts';
import type { SecretKind, SecretRecord } from '../../../src/core/ports/session-store.ts';
import type { Claim } from '../contract.ts';
import { OPTIONS, T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** Begins with a byte that says that it is sealed, and is no text. */
const SEALED = Uint8Array.of(2, 0, 254, 255);
const OTHER = Uint8Array.of(2, 255, 0, 1);
const PLAIN = Uint8Array.of(0, 123, 125);
const WISH = { credentials: null, proxy: null, identity: null };

const putCredential = (store: TimedStore, accountId: AccountId, name: string) =>
  store.putCredential({ accountId, name, kind: 'login', hosts: ['a.example'], data: SEALED, at: T0 });
const openSession = (store: TimedStore, accountId: AccountId, name: string, data: Uint8Array) =>
  store.openSession({
    id: `${name}-id` as SessionId,
    accountId,
    name,
    wish: WISH,
    createdAt: T0,
    expiresAt: T0 + 1_000,
    data,
  });
async function createJob(store: TimedStore, accountId: AccountId, options: JobOptions): Promise<JobId> {
  const id = randomUUID() as JobId;
  await store.createJob({ id, accountId, kind: 'scrape', options, seeds: [], createdAt: T0 }, []);
  return id;
}

async function listed(store: TimedStore, kind: SecretKind): Promise<readonly SecretRecord[]> {
  const all: SecretRecord[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await store.listSecrets({ kind, cursor, limit: 2 });
    all.push(...items);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}
const textOf = (data: Uint8Array | undefined) => Buffer.from(data ?? []).toString('utf8');

/** Records that hold secrets: all are found, and none is overwritten with what is out of date. */
export function secretsContract(holds: Claim<TimedStore>): void {
  holds('knows whether anything is sealed', async (store) => {
    const account = await store.defaultAccount();
    await openSession(store, account, 'open', PLAIN);
    await createJob(store, account, OPTIONS);
    expect(await store.hasSealed()).toBe(false);
    await openSession(store, account, 'closed', SEALED);
    expect(await store.hasSealed()).toBe(true);
    await store.deleteSession(account, 'closed');
    expect(await store.hasSealed()).toBe(false);
    await putCredential(store, account, 'shop');
    expect(await store.hasSealed()).toBe(true);
    await store.deleteCredential(account, 'shop');
    await createJob(store, account, { ...OPTIONS, sealed: 'AgAB' });
    expect(await store.hasSealed()).toBe(true);
  });

  holds('lists every record that may hold a secret, in the order in which they came', async (store) => {
    const account = await store.defaultAccount();
    const names = ['e', 'd', 'c', 'b', 'a'];
    for (const name of names) {
      await putCredential(store, account, name);
      await openSession(store, account, name, SEALED);
    }
    const jobs = [await createJob(store, account, OPTIONS), await createJob(store, account, OPTIONS)];
    for (const kind of ['credential', 'session'] as const) {
      const records = await listed(store, kind);
      expect(records.map(({ name }) => name)).toEqual(names);
      expect(records.map(({ data, accountId }) => [accountId, ...data])).toEqual(
        names.map(() => [account, ...SEALED]),
      );
    }
    const records = await listed(store, 'job');
    expect(records.map(({ name }) => name)).toEqual(jobs);
    expect(JSON.parse(textOf(records[0]?.data))).toEqual(OPTIONS);
  });

  holds('replaces the bytes of a record, once', async (store) => {
    const account = await store.defaultAccount();
    await putCredential(store, account, 'shop');
    const { version } = await openSession(store, account, 'shop', SEALED);
    const id = await createJob(store, account, OPTIONS);
    for (const kind of ['credential', 'session'] as const) {
      const [record] = await listed(store, kind);
      if (record === undefined) throw new Error('There is one.');
      expect(await store.replaceSecret(record, OTHER)).toBe(true);
      expect(await store.replaceSecret(record, PLAIN)).toBe(false);
      expect([...((await listed(store, kind))[0]?.data ?? [])]).toEqual([...OTHER]);
    }
    // Who read the session before goes on with what it read.
    expect((await store.getSession(account, 'shop'))?.version).toBe(version);
    const changed: JobOptions = { ...OPTIONS, sealed: 'Ünïcode' };
    const [job] = await listed(store, 'job');
    if (job === undefined) throw new Error('There is one.');
    expect(await store.replaceSecret(job, Buffer.from(JSON.stringify(changed)))).toBe(true);
    expect(await store.replaceSecret(job, Buffer.from(JSON.stringify(OPTIONS)))).toBe(false);
    expect((await store.getJob(id))?.options).toEqual(changed);
  });

  holds('does not replace what a server has changed meanwhile', async (store) => {
    const account = await store.defaultAccount();
    const session = await openSession(store, account, 'shop', SEALED);
    const [record] = await listed(store, 'session');
    if (record === undefined) throw new Error('There is one.');
    await store.updateSession({ id: session.id, version: session.version, data: PLAIN, at: T0, requests: 1 });
    expect(await store.replaceSecret(record, OTHER)).toBe(false);
    expect([...((await store.getSession(account, 'shop'))?.data ?? [])]).toEqual([...PLAIN]);
  });
}
