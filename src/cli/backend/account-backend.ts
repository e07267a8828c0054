import type { z } from 'zod';
import type { AccountChanges, AccountRequest } from '../../capabilities/accounts/accounts.ts';
import type { KeyOptions } from '../../capabilities/accounts/api-key.ts';
import type { creditPlanSchema, GrantRequest } from '../../capabilities/accounts/credit-admin.ts';
import type { RetentionView, retentionRequest } from '../../capabilities/retention/retention-admin.ts';
import type {
  accountView,
  creditEntryView,
  creditsView,
  keyView,
  usedBy,
} from '../../capabilities/views/account-view.ts';
import { isoTimeOrNull } from '../../lib/iso-time.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { Shell } from '../shell/shell.ts';
import type { ApiClient } from './api-client.ts';
import { MOST_LISTED } from './backend.ts';
import { apiClientOf, type BackendFlags, openLocalApi } from './open-backend.ts';

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
  if (client !== null) return action(createAccountBackend(client, true));
  const local = await openLocalApi(shell, { ...flags, account: undefined }, true);
  try {
    return await action(createAccountBackend(local.client, false));
  } finally {
    await local.api.close();
  }
}

function createAccountBackend(client: ApiClient, refusesLastAdmin: boolean): AccountBackend {
  const path = (id: string, more = '') => `/v1/accounts/${urlPart(id)}${more}`;
  const keyPath = (id: string, more = '') => `/v1/keys/${urlPart(id)}${more}`;
  const query = (account: string | undefined) =>
    account === undefined ? '' : `?account=${urlPart(account)}`;
  const keysOf = async (account: string | undefined) =>
    (await client.call<{ readonly items: readonly KeyView[] }>('GET', `/v1/keys${query(account)}`)).items;
  const isAdmin = ({ revokedAt, expiresAt, scopes }: KeyView) =>
    revokedAt === null &&
    (expiresAt === null || Date.parse(expiresAt) > Date.now()) &&
    scopes.includes('admin');
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
      list: keysOf,
      create: ({ expiresAt, ...options }, _at, account) =>
        client.call('POST', '/v1/keys', {
          ...options,
          account,
          expiresAt: isoTimeOrNull(expiresAt),
        }),
      rotate: (id, overlapSeconds, account) =>
        client.call('POST', keyPath(id, '/rotate'), { overlapSeconds, account }),
      revoke: async (id, account) => void (await client.call('DELETE', keyPath(id) + query(account))),
      hasAdmin: async (account) => (refusesLastAdmin ? null : (await keysOf(account)).some(isAdmin)),
    },
    ...termsOver(client),
  };
}

export type CreditsView = ReturnType<typeof creditsView>;
export type CreditEntryView = ReturnType<typeof creditEntryView>;

/** What accounts may spend, as the operator reads and changes it. */
interface BackendCredits {
  /** Null when the account is not limited. */
  get(account: string): Promise<CreditsView | null>;
  limit(account: string, plan: z.output<typeof creditPlanSchema>): Promise<CreditsView | null>;
  lift(account: string): Promise<void>;
  /** A `key` that was used before grants nothing more. */
  grant(account: string, request: GrantRequest, key: string | null): Promise<CreditEntryView>;
  entries(account: string, limit: number): Promise<readonly CreditEntryView[]>;
}

/**
 * How long data is kept. Without an account it is what the account of the key says itself, on a data folder that of the
 * operator; with one it is what the operator says for that account.
 */
interface BackendRetention {
  get(account: string | undefined): Promise<RetentionView>;
  set(account: string | undefined, request: z.output<typeof retentionRequest>): Promise<RetentionView>;
}

function termsOver(client: ApiClient): {
  readonly credits: BackendCredits;
  readonly retention: BackendRetention;
} {
  const path = (id: string, what: string) => `/v1/accounts/${urlPart(id)}/${what}`;
  const limits = async (answer: Promise<{ readonly credits: CreditsView | null }>) => (await answer).credits;
  const retentionPath = (account: string | undefined) =>
    account === undefined ? '/v1/account/retention' : path(account, 'retention');
  return {
    credits: {
      get: (account) => limits(client.call('GET', path(account, 'credits'))),
      limit: (account, plan) => limits(client.call('PUT', path(account, 'credits'), plan)),
      lift: async (account) => void (await client.call('DELETE', path(account, 'credits'))),
      grant: (account, request, key) =>
        client.call(
          'POST',
          path(account, 'credits'),
          request,
          key === null ? {} : { 'idempotency-key': key },
        ),
      entries: (account, limit) =>
        Array.fromAsync(client.list<CreditEntryView>(path(account, 'credits/entries'), limit)),
    },
    retention: {
      get: (account) => client.call('GET', retentionPath(account)),
      set: (account, request) => client.call('PUT', retentionPath(account), request),
    },
  };
}
