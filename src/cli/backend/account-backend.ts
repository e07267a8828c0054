import {
  type AccountChanges,
  type AccountRequest,
  createAccountAdmin,
} from '../../capabilities/accounts/accounts.ts';
import {
  hashSecret,
  isUsable,
  type KeyOptions,
  newKey,
  newSecret,
  prefixOf,
} from '../../capabilities/accounts/api-key.ts';
import { deleteAccounts } from '../../capabilities/retention/delete-accounts.ts';
import { accountView, keyView, usedBy } from '../../capabilities/views/account-view.ts';
import { readPlans } from '../../core/config/plans.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import { urlPart } from '../../lib/url-part.ts';
import { readSettings } from '../flags/flags.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import type { OpenStorage, Shell } from '../shell/shell.ts';
import type { ApiClient } from './api-client.ts';
import { MOST_LISTED } from './backend.ts';
import { apiClientOf, type BackendFlags } from './open-backend.ts';
import { type BackendCredits, type BackendRetention, localTerms, remoteTerms } from './terms-backend.ts';

export type AccountView = ReturnType<typeof accountView>;
export type UsedAccountView = AccountView & { readonly used: Awaited<ReturnType<typeof usedBy>> };
export type KeyView = ReturnType<typeof keyView>;
export type NewKeyView = KeyView & { readonly secret: string };

/**
 * Accounts of an installation with their keys, credits and retention, as commands read and change them: in its data folder or database, or through the
 * API of a running server. `account` left out is the account of the key; on a data folder, that of the operator.
 */
export interface AccountBackend {
  readonly accounts: {
    list(): Promise<readonly AccountView[]>;
    create(request: AccountRequest): Promise<{ readonly account: AccountView; readonly key: NewKeyView }>;
    get(id: string): Promise<UsedAccountView>;
    change(id: string, changes: AccountChanges): Promise<AccountView>;
    disable(id: string): Promise<AccountView>;
    enable(id: string): Promise<AccountView>;
    /** Returns how many jobs are still to be deleted. */
    delete(id: string, confirm: string): Promise<number>;
  };
  readonly keys: {
    list(account?: string): Promise<readonly KeyView[]>;
    create(options: KeyOptions, at: number, account?: string): Promise<NewKeyView>;
    rotate(id: string, overlapSeconds: number, account?: string): Promise<NewKeyView>;
    revoke(id: string, account?: string): Promise<void>;
    /** Whether a usable key with the scope admin is left; of a server null: it refuses to revoke the last one. */
    hasAdmin(account?: string): Promise<boolean | null>;
  };
  readonly credits: BackendCredits;
  readonly retention: BackendRetention;
}

/** Runs an action on the server that the flags or settings name, else on the data folder, which is made when it is not there. */
export async function withAccountBackend<T>(
  shell: Shell,
  flags: BackendFlags,
  action: (backend: AccountBackend) => Promise<T>,
): Promise<T> {
  const client = apiClientOf(shell, flags);
  if (client !== null) return action(createApiAccountBackend(client));
  const storage = await shell.openStorage(dataPlaceOf(shell, flags.dataDir));
  try {
    return await action(createLocalAccountBackend(shell, storage));
  } finally {
    await storage.close();
  }
}

const BY = { actor: 'command line' };

function createLocalAccountBackend(shell: Shell, { store }: OpenStorage): AccountBackend {
  const now = Date.now;
  const settings = readSettings(shell);
  const plans = readPlans(settings.plans) ?? {};
  // Running servers look again within seconds.
  const admin = createAccountAdmin({ store, bus: { publish: () => undefined }, plans, now });

  async function accountOf(named: string | undefined): Promise<AccountId> {
    return named === undefined ? store.defaultAccount() : (await admin.get(named)).id;
  }
  const record = (action: AuditAction, target: string, details: Record<string, unknown>) =>
    store.audit([{ at: now(), ...BY, action, target, details }]);

  return {
    accounts: {
      list: async () => (await store.listAccounts({ limit: MOST_LISTED })).items.map(accountView),
      async create(request) {
        const { account, key, secret } = await admin.create(request, BY);
        return { account: accountView(account), key: { ...keyView(key), secret } };
      },
      async get(id) {
        const account = await admin.get(id);
        return { ...accountView(account), used: await usedBy(store, account.id) };
      },
      change: async (id, changes) => accountView(await admin.change(id, changes, BY)),
      disable: async (id) => accountView(await admin.disable(id, BY)),
      enable: async (id) => accountView(await admin.enable(id, BY)),
      async delete(id, confirm) {
        await admin.delete(id, confirm, BY);
        await deleteAccounts(store);
        const left = await store.listAccountDeletions(MOST_LISTED);
        return left.find((each) => each.id === id)?.jobs ?? 0;
      },
    },
    keys: {
      list: async (named) => (await store.listKeys(await accountOf(named))).map(keyView),
      async create(options, at, named) {
        const secret = newSecret();
        const key = newKey(await accountOf(named), secret, options, at);
        await store.createKey(key);
        await record('key.create', key.id, { scopes: options.scopes });
        return { ...keyView({ ...key, revokedAt: null, lastUsedAt: null }), secret };
      },
      async rotate(id, overlapSeconds, named) {
        const secret = newSecret();
        const stored = { hash: hashSecret(secret), prefix: prefixOf(secret) };
        const account = await accountOf(named);
        const key = await store.rotateKey(account, id as KeyId, stored, overlapSeconds * 1_000);
        if (key === null) throw noSuchKey(id, 'revoked or expired');
        await record('key.rotate', id, { overlapSeconds });
        return { ...keyView(key), secret };
      },
      async revoke(id, named) {
        if (!(await store.revokeKey(await accountOf(named), id as KeyId, now()))) {
          throw noSuchKey(id, 'revoked already');
        }
        await record('key.revoke', id, {});
      },
      hasAdmin: async (named) =>
        (await store.listKeys(await accountOf(named))).some(
          (key) => isUsable(key, now()) && key.scopes.includes('admin'),
        ),
    },
    ...localTerms(store, settings),
  };
}

const noSuchKey = (id: string, state: string) =>
  new ScrapifieError('NOT_FOUND', `There is no key ${id}, or it is ${state}.`);

function createApiAccountBackend(client: ApiClient): AccountBackend {
  const path = (id: string, more = '') => `/v1/accounts/${urlPart(id)}${more}`;
  const keyPath = (id: string, more = '') => `/v1/keys/${urlPart(id)}${more}`;
  const query = (account: string | undefined) =>
    account === undefined ? '' : `?account=${urlPart(account)}`;
  return {
    accounts: {
      list: () => Array.fromAsync(client.list<AccountView>('/v1/accounts', MOST_LISTED)),
      create: (request) => client.call('POST', '/v1/accounts', request),
      get: (id) => client.call('GET', path(id)),
      change: (id, changes) => client.call('PATCH', path(id), changes),
      disable: (id) => client.call('POST', path(id, '/disable')),
      enable: (id) => client.call('POST', path(id, '/enable')),
      async delete(id, confirm) {
        const answer = await client.call<{ jobs: number }>(
          'DELETE',
          path(id, `?confirm=${urlPart(confirm)}`),
        );
        return answer.jobs;
      },
    },
    keys: {
      async list(account) {
        const { items } = await client.call<{ items: KeyView[] }>('GET', `/v1/keys${query(account)}`);
        return items;
      },
      create: ({ expiresAt, ...options }, _at, account) =>
        client.call('POST', '/v1/keys', {
          ...options,
          account,
          expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
        }),
      rotate: (id, overlapSeconds, account) =>
        client.call('POST', keyPath(id, '/rotate'), { overlapSeconds, account }),
      revoke: async (id, account) => void (await client.call('DELETE', keyPath(id) + query(account))),
      hasAdmin: async () => null,
    },
    ...remoteTerms(client),
  };
}
