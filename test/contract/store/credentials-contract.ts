import { expect } from 'vitest';
import type { AccountId } from '../../../src/core/model/ids.ts';
import type { NewCredential } from '../../../src/core/ports/session-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const SOMEBODY_ELSE = 'somebody-else' as AccountId;

const newCredential = (
  accountId: AccountId,
  name: string,
  changes: Partial<NewCredential> = {},
): NewCredential => ({
  accountId,
  name,
  kind: 'login',
  hosts: ['shop.example', '*.shop.example'],
  data: Uint8Array.of(0, 1, 254, 255),
  at: T0,
  ...changes,
});

/** What to log in with, as bytes under a name. */
export function credentialsContract(holds: Claim<TimedStore>): void {
  holds('keeps a credential as it was given', async (store, opened) => {
    const accountId = await store.defaultAccount();
    await store.putCredential(newCredential(accountId, 'shop'));
    expect(await store.getCredential(accountId, 'Shop')).toBeNull();
    expect(await store.getCredential(SOMEBODY_ELSE, 'shop')).toBeNull();
    await afterKill(opened, async (again) => {
      const kept = await again.getCredential(accountId, 'shop');
      expect(kept).toMatchObject({
        accountId,
        name: 'shop',
        kind: 'login',
        hosts: ['shop.example', '*.shop.example'],
        createdAt: T0,
        updatedAt: T0,
      });
      expect([...(kept?.data ?? [])]).toEqual([0, 1, 254, 255]);
    });
  });

  holds('replaces a credential of the same name', async (store) => {
    const accountId = await store.defaultAccount();
    await store.putCredential(newCredential(accountId, 'shop'));
    const change = { kind: 'bearer', hosts: ['api.example'], data: Uint8Array.of(7), at: T0 + 9 };
    await store.putCredential(newCredential(accountId, 'shop', change));
    const kept = await store.getCredential(accountId, 'shop');
    expect(kept).toMatchObject({
      kind: 'bearer',
      hosts: ['api.example'],
      createdAt: T0,
      updatedAt: T0 + 9,
    });
    expect([...(kept?.data ?? [])]).toEqual([7]);
    expect((await store.listCredentials({ accountId, limit: 9 })).items).toHaveLength(1);
  });

  holds('lists the credentials of an account, never with what they hold', async (store) => {
    const accountId = await store.defaultAccount();
    for (let n = 0; n < 5; n += 1) await store.putCredential(newCredential(accountId, `c${n}`));
    const first = await store.listCredentials({ accountId, limit: 3 });
    expect(first.items.map(({ name }) => name)).toEqual(['c0', 'c1', 'c2']);
    expect(first.items[0]).not.toHaveProperty('data');
    const rest = await store.listCredentials({ accountId, limit: 3, cursor: first.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ name: 'c3' }, { name: 'c4' }], nextCursor: null });
    expect((await store.listCredentials({ accountId: SOMEBODY_ELSE, limit: 3 })).items).toEqual([]);
  });

  holds('deletes a credential of the account, and only of the account', async (store) => {
    const accountId = await store.defaultAccount();
    await store.putCredential(newCredential(accountId, 'shop'));
    expect(await store.deleteCredential(SOMEBODY_ELSE, 'shop')).toBe(false);
    expect(await store.deleteCredential(accountId, 'shop')).toBe(true);
    expect(await store.deleteCredential(accountId, 'shop')).toBe(false);
    expect(await store.getCredential(accountId, 'shop')).toBeNull();
  });
}
