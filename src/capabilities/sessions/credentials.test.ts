import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import type { Credential } from './credential.ts';
import { type CredentialsDeps, createCredentials } from './credentials.ts';
import { ACCOUNT, openStore, VAULT_KEY } from './session.fixture.ts';
import { createVault } from './vault.ts';

const LOGIN: Credential = {
  kind: 'login',
  hosts: ['shop.example'],
  username: 'ann',
  password: 'a-very-secret-password',
};

async function open(given: Partial<CredentialsDeps> = {}) {
  const store = await openStore();
  const now = () => 1_800_000_000_000;
  const make = (more: Partial<CredentialsDeps>) =>
    createCredentials({ store, vault: createVault(VAULT_KEY), service: null, now, ...more });
  return { store, make, credentials: make(given) };
}

describe('credentials', () => {
  it('come back as they went in, and are nowhere to be seen in the store', async () => {
    const { credentials, store } = await open();
    await credentials.put(ACCOUNT, 'shop', LOGIN);
    expect(await credentials.get(ACCOUNT, 'shop')).toEqual(LOGIN);
    const stored = await store.getCredential(ACCOUNT, 'shop');
    expect(Buffer.from(stored?.data ?? []).includes('very-secret')).toBe(false);
    expect(JSON.stringify(await credentials.list({ accountId: ACCOUNT, limit: 9 }))).not.toMatch(/very|ann/);
  });

  it('are refused without a vault key, and it is said what to set', async () => {
    const { credentials, store } = await open({ vault: null });
    await expect(credentials.put(ACCOUNT, 'shop', LOGIN)).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPTION',
      message: expect.stringContaining('SCRAPIFIE_VAULT_KEY'),
    });
    expect(await store.getCredential(ACCOUNT, 'shop')).toBeNull();
  });

  it('do not open without the key that sealed them', async () => {
    const { credentials, make } = await open();
    await credentials.put(ACCOUNT, 'shop', LOGIN);
    const keyId = createVault(VAULT_KEY)?.keyId ?? '';
    for (const vault of [null, createVault('00'.repeat(32))]) {
      await expect(make({ vault }).get(ACCOUNT, 'shop')).rejects.toMatchObject({
        code: 'INVALID_SETTINGS',
        message: expect.stringContaining(keyId),
      });
    }
  });

  it('that were put in the place of others do not open', async () => {
    const { credentials, store } = await open();
    await credentials.put(ACCOUNT, 'shop', LOGIN);
    await credentials.put(ACCOUNT, 'bank', { ...LOGIN, hosts: ['bank.example'] });
    const bank = await store.getCredential(ACCOUNT, 'bank');
    if (bank === null) throw new Error('It was put there.');
    await store.putCredential({ ...bank, name: 'shop', at: 0 });
    await expect(credentials.get(ACCOUNT, 'shop')).rejects.toThrow('belongs elsewhere');
  });

  it('go to the hosts that were sealed with them, whatever the row says', async () => {
    const { credentials, store } = await open();
    await credentials.put(ACCOUNT, 'shop', LOGIN);
    const stored = await store.getCredential(ACCOUNT, 'shop');
    if (stored === null) throw new Error('It was put there.');
    await store.putCredential({ ...stored, hosts: ['evil.example'], at: 0 });
    expect((await credentials.get(ACCOUNT, 'shop')).hosts).toEqual(['shop.example']);
  });

  it('come from the vault first, then from the service, and are else not there', async () => {
    const asked: string[] = [];
    const REMOTE: Credential = { kind: 'bearer', hosts: ['api.example'], token: 't' };
    const service = {
      find: async (account: AccountId, name: string) => {
        asked.push(`${account}/${name}`);
        return name === 'api' ? REMOTE : null;
      },
    };
    const { credentials } = await open({ service });
    await credentials.put(ACCOUNT, 'shop', LOGIN);
    expect(await credentials.get(ACCOUNT, 'shop')).toEqual(LOGIN);
    expect(await credentials.get(ACCOUNT, 'api')).toEqual(REMOTE);
    await expect(credentials.get(ACCOUNT, 'none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(asked).toEqual([`${ACCOUNT}/api`, `${ACCOUNT}/none`]);
  });

  it('of a session are those it names', async () => {
    const { credentials } = await open();
    await credentials.put(ACCOUNT, 'shop', LOGIN);
    const wish = { credentials: 'shop', proxy: null, identity: null };
    expect(await credentials.forSession({ accountId: ACCOUNT, wish })).toEqual(LOGIN);
    expect(
      await credentials.forSession({ accountId: ACCOUNT, wish: { ...wish, credentials: null } }),
    ).toBeNull();
    await expect(credentials.forSession({ accountId: 'other' as AccountId, wish })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await credentials.delete(ACCOUNT, 'shop');
    await expect(credentials.forSession({ accountId: ACCOUNT, wish })).rejects.toThrow('"shop"');
  });
});
