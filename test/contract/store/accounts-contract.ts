import { expect } from 'vitest';
import type { AccountId, KeyId } from '../../../src/model/ids.ts';
import type { NewKey } from '../../../src/ports/api-key.ts';
import { afterKill, type Claim } from '../contract.ts';
import { createJob, T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const DAY_MS = 86_400_000;

export function newKey(accountId: AccountId, id: string, changes: Partial<NewKey> = {}): NewKey {
  return {
    id: id as KeyId,
    accountId,
    name: `Key ${id}`,
    hash: `hash of ${id}`,
    prefix: 'sk_12345',
    scopes: ['read', 'write'],
    ratePerMinute: null,
    createdAt: T0,
    expiresAt: null,
    ...changes,
  };
}

/** Keys and idempotent answers. */
export function accountsContract(holds: Claim<TimedStore>): void {
  holds('has one default account, the same ever after', async (store, opened) => {
    const accountId = await store.defaultAccount();
    expect(accountId).not.toBe('');
    expect(await store.defaultAccount()).toBe(accountId);
    await afterKill(opened, async (again) => expect(await again.defaultAccount()).toBe(accountId));
  });

  holds('finds a key by the hash of its secret', async (store) => {
    const accountId = await store.defaultAccount();
    const key = newKey(accountId, 'k1', { scopes: ['admin'], ratePerMinute: 60, expiresAt: T0 - 1 });
    await store.createKey(key);
    // Expired, and returned all the same.
    expect(await store.findKey(key.hash)).toEqual({
      ...key,
      revokedAt: null,
      lastUsedAt: null,
      account: { disabledAt: null, requestsPerMinute: null },
    });
    expect(await store.findKey('unknown')).toBeNull();
  });

  holds('lists the keys of an account', async (store) => {
    const accountId = await store.defaultAccount();
    await store.createKey(newKey(accountId, 'k1'));
    await store.createKey(newKey(accountId, 'k2', { createdAt: T0 + 1 }));
    expect((await store.listKeys(accountId)).map((key) => key.id).sort()).toEqual(['k1', 'k2']);
    expect(await store.listKeys('somebody-else' as AccountId)).toEqual([]);
  });

  holds('keeps one of the keys with one hash, also of those made at once', async (store) => {
    const accountId = await store.defaultAccount();
    const ids = ['k1', 'k2', 'k3', 'k4'];
    await Promise.all(ids.map((id) => store.createKey(newKey(accountId, id, { hash: 'one hash' }))));
    const [kept, ...others] = await store.listKeys(accountId);
    expect(others).toEqual([]);
    await store.createKey(newKey(accountId, 'k5', { hash: 'one hash' }));
    expect(await store.findKey('one hash')).toMatchObject({ ...kept });
  });

  holds('revokes a key of the account, and only of the account', async (store) => {
    const accountId = await store.defaultAccount();
    await store.createKey(newKey(accountId, 'k1'));
    expect(await store.revokeKey('somebody-else' as AccountId, 'k1' as KeyId, T0 + 1)).toBe(false);
    expect(await store.revokeKey(accountId, 'unknown' as KeyId, T0 + 1)).toBe(false);
    expect(await store.findKey('hash of k1')).toMatchObject({ revokedAt: null });
    expect(await store.revokeKey(accountId, 'k1' as KeyId, T0 + 2)).toBe(true);
    expect(await store.findKey('hash of k1')).toMatchObject({ revokedAt: T0 + 2 });
  });

  holds('remembers when keys were used', async (store) => {
    const accountId = await store.defaultAccount();
    for (const id of ['k1', 'k2', 'k3']) await store.createKey(newKey(accountId, id));
    await store.touchKeys([
      { id: 'k1' as KeyId, at: T0 + 5 },
      { id: 'k2' as KeyId, at: T0 + 6 },
      { id: 'unknown' as KeyId, at: T0 + 7 },
    ]);
    await store.touchKeys([{ id: 'k1' as KeyId, at: T0 + 8 }]);
    const used = (await store.listKeys(accountId)).map((key) => [key.id, key.lastUsedAt]);
    expect(Object.fromEntries(used)).toEqual({ k1: T0 + 8, k2: T0 + 6, k3: null });
  });

  holds('answers a repeated idempotency key with the first job', async (store) => {
    const accountId = await store.defaultAccount();
    const [first, second] = [await createJob(store, []), await createJob(store, [])];
    const answer = { accountId, key: 'same', requestHash: 'r1', jobId: first.id, at: T0 };
    expect(await store.rememberAnswer(answer, T0 - DAY_MS)).toBeNull();
    const repeated = { ...answer, requestHash: 'r2', jobId: second.id, at: T0 + 1 };
    expect(await store.rememberAnswer(repeated, T0 + 1 - DAY_MS)).toEqual(answer);
    expect(await store.rememberAnswer({ ...repeated, key: 'another' }, T0 + 1 - DAY_MS)).toBeNull();
  });

  holds('forgets an idempotency key after its time', async (store) => {
    const accountId = await store.defaultAccount();
    const [first, second] = [await createJob(store, []), await createJob(store, [])];
    const old = { accountId, key: 'same', requestHash: 'r1', jobId: first.id, at: T0 };
    await store.rememberAnswer(old, T0 - DAY_MS);
    const later = T0 + 2 * DAY_MS;
    const fresh = { ...old, jobId: second.id, at: later };
    expect(await store.rememberAnswer(fresh, later - DAY_MS)).toBeNull();
    expect(await store.rememberAnswer({ ...old, at: later + 1 }, later + 1 - DAY_MS)).toEqual(fresh);
  });

  holds('lets one of many simultaneous requests with one key win', async (store) => {
    const accountId = await store.defaultAccount();
    const jobs = await Promise.all(Array.from({ length: 8 }, () => createJob(store, [])));
    const answers = await Promise.all(
      jobs.map((each) =>
        store.rememberAnswer(
          { accountId, key: 'race', requestHash: 'r', jobId: each.id, at: T0 },
          T0 - DAY_MS,
        ),
      ),
    );
    const winners = jobs.filter((_, index) => answers[index] === null);
    expect(winners).toHaveLength(1);
    for (const answer of answers) if (answer !== null) expect(answer.jobId).toBe(winners[0]?.id);
  });
}
