import { expect } from 'vitest';
import { deleteAccounts } from '../../../src/capabilities/retention/apply-retention.ts';
import type { AccountId, HostKey, JobId, SessionId, WebhookId } from '../../../src/core/model/ids.ts';
import { UNLIMITED_RETENTION } from '../../../src/core/model/retention.ts';
import { NO_LIMITS } from '../../../src/core/ports/account-store.ts';
import type { StoredEvent } from '../../../src/core/ports/event-store.ts';
import type { Claim } from '../contract.ts';
import { newKey } from './accounts-contract.ts';
import { eventsUntil } from './events-contract.ts';
import { at, done, job, newTask, OPTIONS, T0, take, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const TENANT = 'tenant' as AccountId;
const OTHER = 'other' as AccountId;

/** Deleting accounts with everything of them. */
export function accountDeletionContract(holds: Claim<TimedStore>): void {
  /** An account with something in every part of the store. */
  async function fill(store: TimedStore, accountId: AccountId, jobs = 1): Promise<JobId[]> {
    const key = newKey(accountId, `key of ${accountId}`);
    await store.createAccount(
      { id: accountId, name: `Name of ${accountId}`, plan: 'custom', limits: NO_LIMITS },
      key,
    );
    const session = { id: `s ${accountId}` as SessionId, accountId, name: 's', data: new Uint8Array([0]) };
    const wish = { credentials: null, proxy: null, identity: null };
    await store.openSession({ ...session, wish, createdAt: T0, expiresAt: T0 + 1 });
    await store.putCredential({
      accountId,
      name: 'c',
      kind: 'basic',
      hosts: [],
      data: new Uint8Array([1]),
      at: T0,
    });
    await store.createWebhook({
      id: `wh_${accountId}` as WebhookId,
      accountId,
      jobId: null,
      format: 'json',
      events: ['*'],
      target: 'https://receiver.test/',
      data: new Uint8Array([1]),
    });
    await store.appendEvents([{ type: 'export.ready', accountId, jobId: null, data: {} }]);
    await store.beginAnswer({
      accountId,
      key: 'k',
      owner: 'o',
      requestHash: '',
      leaseMs: 0,
      keptMs: 86_400_000,
      id: 'i',
      seed: new Uint8Array([1]),
    });
    const ids: JobId[] = [];
    for (let n = 0; n < jobs; n += 1) {
      const host = `${accountId}-${n}.test`;
      const id = `${accountId} job ${n}` as JobId;
      const tasks = urlsOn(host, 3).map((url) => newTask(url));
      const seeds = ['https://seed.test/'];
      await store.createJob({ id, accountId, kind: 'crawl', options: OPTIONS, seeds, createdAt: T0 }, tasks);
      const taken = await take(store, host);
      await store.commit([done(taken.lease, at(taken.tasks, 0)), done(taken.lease, at(taken.tasks, 1))], T0);
      await store.releaseHost(taken.lease, taken.lease.state, 0, T0);
      ids.push(id);
    }
    const pagesOf = (events: readonly StoredEvent[]) =>
      events.filter(({ type }) => type === 'pages.committed');
    await eventsUntil(store, (events) => events.length > 0 && pagesOf(events).length === jobs, { accountId });
    return ids;
  }
  /** Every call that could find something of the account. */
  async function found(store: TimedStore, accountId: AccountId) {
    const query = { accountId, limit: 10 };
    const [sessions, credentials, jobs, webhooks] = [
      await store.listSessions(query),
      await store.listCredentials(query),
      await store.listJobs(query),
      await store.listWebhooks(query),
    ];
    const events = await store.listEvents({ accountId, after: null, limit: 10 });
    return {
      account: await store.getAccount(accountId),
      key: await store.findKey(`hash of key of ${accountId}`),
      keys: (await store.listKeys(accountId)).length,
      items: [sessions, credentials, jobs, webhooks].map(({ items }) => items.length),
      events: events.items.length,
    };
  }
  const NOTHING = { account: null, key: null, keys: 0, items: [0, 0, 0, 0], events: 0 };

  holds('deletes an account with everything of it, and nothing of another', async (store) => {
    const [id] = await fill(store, TENANT, 2);
    await fill(store, OTHER);
    const before = await found(store, OTHER);
    expect(await store.beginAccountDeletion(TENANT)).not.toBeNull();
    expect(await store.findKey(`hash of key of ${TENANT}`)).not.toMatchObject({ revokedAt: null });
    expect(await store.listAccountDeletions(9)).toMatchObject([{ id: TENANT, jobs: 2 }]);
    expect(await deleteAccounts(store.plain)).toEqual([TENANT]);
    expect(await found(store, TENANT)).toEqual(NOTHING);
    expect(await store.getJob(id as JobId)).toBeNull();
    expect(await store.listAccountDeletions(9)).toEqual([]);
    expect(await found(store, OTHER)).toEqual(before);
    // The key of an answer is free for a new account of this id.
    expect(await deleteAccounts(store.plain)).toEqual([]);
  });

  holds('deletes in steps of a bounded size, and only accounts that are marked', async (store) => {
    await fill(store, TENANT, 0);
    expect(await store.purgeAccount(OTHER, 10)).toEqual({ rows: 0, isGone: true });
    expect((await found(store, TENANT)).items).toEqual([1, 1, 0, 1]);
    await store.beginAccountDeletion(TENANT);
    const steps: number[] = [];
    for (let isGone = false; !isGone; ) {
      const step = await store.purgeAccount(TENANT, 1);
      steps.push(step.rows);
      isGone = step.isGone;
    }
    expect(Math.max(...steps.slice(0, -1))).toBe(1);
    expect(await found(store, TENANT)).toEqual(NOTHING);
  });

  holds('waits for pages of the account that are being fetched', async (store) => {
    await fill(store, TENANT, 0);
    const id = 'running' as JobId;
    const tasks = urlsOn('running.test', 2).map((url) => newTask(url));
    await store.createJob(
      { id, accountId: TENANT, kind: 'crawl', options: OPTIONS, seeds: [], createdAt: T0 },
      tasks,
    );
    const { lease, tasks: claimed } = await take(store, 'running.test', 1);
    await store.beginAccountDeletion(TENANT);
    expect(await deleteAccounts(store.plain)).toEqual([]);
    expect(await job(store, id)).toMatchObject({ status: 'cancelled', finishedAt: null });
    await store.commit([done(lease, at(claimed, 0))], T0);
    expect(await deleteAccounts(store.plain)).toEqual([TENANT]);
    expect((await store.getHost('running.test' as HostKey))?.ready).toBe(0);
    expect(await found(store, TENANT)).toEqual(NOTHING);
  });

  holds('neither changes an account that is being deleted nor gives it keys', async (store) => {
    await fill(store, TENANT, 0);
    expect(await store.getAccount(TENANT)).toMatchObject({ deletingSince: null });
    const since = await store.beginAccountDeletion(TENANT);
    const marked = await store.getAccount(TENANT);
    expect(marked).toMatchObject({ deletingSince: since });
    const refused = { code: 'CONFLICT' };
    await expect(store.changeAccount(TENANT, { isDisabled: false })).rejects.toMatchObject(refused);
    await expect(store.changeAccount(TENANT, { name: 'another' })).rejects.toMatchObject(refused);
    await expect(store.createKey(newKey(TENANT, 'late'))).rejects.toMatchObject(refused);
    await expect(store.setAccountRetention(TENANT, 'operator', null)).rejects.toMatchObject(refused);
    expect(await store.getAccount(TENANT)).toEqual(marked);
    expect(await store.listKeys(TENANT)).toHaveLength(1);
  });

  holds('keeps what an account and its operator say about retention apart', async (store) => {
    await fill(store, TENANT, 0);
    expect(await store.accountRetention(TENANT)).toEqual({ own: null, operator: null });
    const own = { ...UNLIMITED_RETENTION, ages: { bodiesMs: 60_000 }, maxJobs: 3 };
    const operator = { ...UNLIMITED_RETENTION, ages: { jobsMs: 86_400_000 } };
    expect(await store.setAccountRetention(TENANT, 'own', own)).toBe(true);
    expect(await store.setAccountRetention(TENANT, 'operator', operator)).toBe(true);
    expect(await store.accountRetention(TENANT)).toEqual({ own, operator });
    expect(await store.setAccountRetention(TENANT, 'own', null)).toBe(true);
    expect(await store.accountRetention(TENANT)).toEqual({ own: null, operator });
    expect(await store.setAccountRetention('none' as AccountId, 'own', own)).toBe(false);
    expect(await store.beginAccountDeletion('none' as AccountId)).toBeNull();
  });
}
