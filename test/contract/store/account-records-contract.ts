import { expect } from 'vitest';
import type { AccountId, KeyId } from '../../../src/core/model/ids.ts';
import {
  type Account,
  type AccountLimits,
  type NewAccount,
  NO_LIMITS,
} from '../../../src/core/ports/account-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { newKey } from './accounts-contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const LIMITS: AccountLimits = {
  requestsPerMinute: 60,
  concurrentPages: 4,
  openUrls: 1_000,
  storedBytes: 1_000_000,
};
const ID = 'tenant' as AccountId;

const newAccount = (id: string, changes: Partial<NewAccount> = {}): NewAccount => ({
  id: id as AccountId,
  name: `Account ${id}`,
  plan: 'custom',
  limits: NO_LIMITS,
  ...changes,
});

/** The store's clock is that of the last call with a time. */
const setTime = (store: TimedStore, now: number) => store.offerHosts(now, 1);

/** Accounts, their limits, and the secrets of their keys. */
export function accountRecordsContract(holds: Claim<TimedStore>): void {
  holds('has the default account, without limits', async (store) => {
    const account = await store.getAccount(await store.defaultAccount());
    expect(account).toMatchObject({ id: 'default', plan: 'custom', limits: NO_LIMITS, disabledAt: null });
    expect(await store.getAccount('nobody' as AccountId)).toBeNull();
  });

  holds('creates an account with its first key, once', async (store, opened) => {
    await setTime(store, T0);
    const account = newAccount(ID, { plan: 'small', limits: LIMITS });
    const key = newKey(ID, 'k1');
    expect(await store.createAccount(account, key)).toBe(true);
    const made: Account = { ...account, disabledAt: null, deletingSince: null, createdAt: T0, updatedAt: T0 };
    expect(await store.getAccount(ID)).toEqual(made);
    expect(await store.findKey(key.hash)).toMatchObject({
      accountId: ID,
      account: { disabledAt: null, requestsPerMinute: 60 },
    });
    expect(await store.createAccount({ ...account, name: 'other' }, newKey(ID, 'k2'))).toBe(false);
    expect(await store.findKey('hash of k2')).toBeNull();
    await afterKill(opened, async (again) => {
      expect(await again.getAccount(ID)).toEqual(made);
      expect(await again.listKeys(ID)).toHaveLength(1);
    });
  });

  holds('creates an account without a key', async (store) => {
    expect(await store.createAccount(newAccount(ID), null)).toBe(true);
    expect(await store.listKeys(ID)).toEqual([]);
  });

  holds('lists accounts by id, page by page', async (store) => {
    for (const id of ['b', 'B', 'c', 'a_1', 'a-1']) await store.createAccount(newAccount(id), null);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.listAccounts({ cursor, limit: 2 });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(['B', 'a-1', 'a_1', 'b', 'c', 'default']);
  });

  holds('changes what is given of an account', async (store) => {
    await store.createAccount(newAccount(ID), newKey(ID, 'k1'));
    await setTime(store, T0 + 5);
    expect(await store.changeAccount(ID, { limits: LIMITS })).toMatchObject({
      limits: LIMITS,
      updatedAt: T0 + 5,
    });
    expect(await store.changeAccount(ID, { name: 'New', plan: 'big' })).toMatchObject({
      name: 'New',
      plan: 'big',
      limits: LIMITS,
    });
    await setTime(store, T0 + 6);
    expect(await store.changeAccount(ID, { isDisabled: true })).toMatchObject({ disabledAt: T0 + 6 });
    await setTime(store, T0 + 7);
    expect(await store.changeAccount(ID, { isDisabled: true })).toMatchObject({ disabledAt: T0 + 6 });
    expect(await store.findKey('hash of k1')).toMatchObject({ account: { disabledAt: T0 + 6 } });
    expect(await store.changeAccount(ID, { isDisabled: false, limits: NO_LIMITS })).toMatchObject({
      disabledAt: null,
      limits: NO_LIMITS,
    });
    expect(await store.changeAccount('nobody' as AccountId, { name: 'x' })).toBeNull();
  });

  holds('gives the accounts of a plan its limits', async (store) => {
    await store.createAccount(newAccount('a', { plan: 'small' }), null);
    await store.createAccount(newAccount('b', { plan: 'small', limits: LIMITS }), null);
    await store.createAccount(newAccount('c', { plan: 'custom' }), null);
    expect(await store.applyPlan('small', LIMITS)).toBe(1);
    expect(await store.applyPlan('small', LIMITS)).toBe(0);
    expect(await store.getAccount('a' as AccountId)).toMatchObject({ limits: LIMITS });
    expect(await store.getAccount('c' as AccountId)).toMatchObject({ limits: NO_LIMITS });
  });

  holds('gives a key another secret, and the former one its time', async (store, opened) => {
    const account = await store.defaultAccount();
    await store.createKey(newKey(account, 'k1', { expiresAt: T0 + 100_000 }));
    await setTime(store, T0);
    const id = 'k1' as KeyId;
    const rotated = await store.rotateKey(account, id, { hash: 'second', prefix: 'sk_2' }, 60_000);
    expect(rotated).toMatchObject({ id, hash: 'second', prefix: 'sk_2', expiresAt: T0 + 100_000 });
    expect(await store.findKey('second')).toMatchObject({ id, hash: 'second', expiresAt: T0 + 100_000 });
    expect(await store.findKey('hash of k1')).toMatchObject({
      id,
      hash: 'hash of k1',
      expiresAt: T0 + 60_000,
    });
    // The answer was lost, so the client rotates again with the secret that it has.
    await setTime(store, T0 + 1_000);
    await store.rotateKey(account, id, { hash: 'third', prefix: 'sk_3' }, 120_000);
    await afterKill(opened, async (again) => {
      expect(await again.findKey('hash of k1')).toMatchObject({ expiresAt: T0 + 60_000 });
      expect(await again.findKey('second')).toMatchObject({ expiresAt: T0 + 100_000 });
      expect(await again.findKey('third')).toMatchObject({ id, expiresAt: T0 + 100_000 });
      expect((await again.listKeys(account)).map((key) => key.prefix)).toEqual(['sk_3']);
    });
  });

  holds('ends all former secrets by a rotation without overlap, and by revoking the key', async (store) => {
    const account = await store.defaultAccount();
    await store.createKey(newKey(account, 'k1'));
    await setTime(store, T0);
    const id = 'k1' as KeyId;
    await store.rotateKey(account, id, { hash: 'second', prefix: 'p' }, 60_000);
    await store.rotateKey(account, id, { hash: 'third', prefix: 'p' }, 0);
    expect(await store.findKey('hash of k1')).toBeNull();
    expect(await store.findKey('second')).toBeNull();
    await store.rotateKey(account, id, { hash: 'fourth', prefix: 'p' }, 60_000);
    await store.revokeKey(account, id, T0 + 1);
    expect(await store.findKey('third')).toMatchObject({ revokedAt: T0 + 1 });
    expect(await store.rotateKey(account, id, { hash: 'fifth', prefix: 'p' }, 0)).toBeNull();
  });

  holds('rotates no key of another account, and no key that has expired', async (store) => {
    const account = await store.defaultAccount();
    await store.createKey(newKey(account, 'k1', { expiresAt: T0 }));
    await setTime(store, T0);
    const secret = { hash: 'x', prefix: 'p' };
    expect(await store.rotateKey(account, 'k1' as KeyId, secret, 1)).toBeNull();
    await store.createKey(newKey(account, 'k2'));
    expect(await store.rotateKey(ID, 'k2' as KeyId, secret, 1)).toBeNull();
    expect(await store.rotateKey(account, 'unknown' as KeyId, secret, 1)).toBeNull();
    expect(await store.findKey('x')).toBeNull();
  });

  holds('keeps ten former secrets of a key, and forgets those whose time is over', async (store) => {
    const account = await store.defaultAccount();
    await store.createKey(newKey(account, 'k1'));
    await setTime(store, T0);
    const rotate = (n: number) =>
      store.rotateKey(account, 'k1' as KeyId, { hash: `secret ${n}`, prefix: 'p' }, 1_000 + n);
    for (let n = 0; n < 10; n++) await rotate(n);
    await expect(rotate(10)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await store.findKey('secret 10')).toBeNull();
    expect(await store.findKey('secret 9')).not.toBeNull();
    await setTime(store, T0 + 1_000);
    expect(await rotate(10)).toMatchObject({ hash: 'secret 10' });
    expect(await store.findKey('hash of k1')).toBeNull();
  });
}
