import { expect } from 'vitest';
import type { AccountId, KeyId } from '../../../src/core/model/ids.ts';
import type { NewKey } from '../../../src/core/ports/key-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

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
  holds(
    'has one default account, as old as the installation and the same ever after',
    async (store, opened) => {
      const accountId = await store.defaultAccount();
      expect(accountId).not.toBe('');
      expect(await store.defaultAccount()).toBe(accountId);
      const { createdAt = 0 } = (await store.getAccount(accountId)) ?? {};
      // The installation was made by this test.
      expect(createdAt).toBeGreaterThan(Date.now() - 86_400_000);
      await afterKill(opened, async (again) => {
        expect(await again.defaultAccount()).toBe(accountId);
        expect(await again.getAccount(accountId)).toMatchObject({ createdAt });
      });
    },
  );

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
}
