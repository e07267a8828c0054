import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Settings } from '../../core/config/settings.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { CredentialAccess } from '../../core/model/job.ts';
import type { ApiKey, FoundKey, KeyScope, NewKey } from '../../core/ports/key-store.ts';
import type { AccountStore } from '../../core/ports/store.ts';
import { allows, SCOPES } from './scopes.ts';

/** The actor of commands that work on a data folder themselves. No stored key has this id. */
export const COMMAND_LINE = 'command line' as KeyId;

const SECRET_BYTES = 32;
export const ALL_SCOPES: readonly KeyScope[] = ['read', 'write', 'admin'];

/** 256 bits of chance, so that a plain hash is enough to keep: there is nothing to guess. */
export function newSecret(chance: Buffer | null = null): string {
  return `sk_${(chance ?? randomBytes(SECRET_BYTES)).toString('base64url')}`;
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

export interface KeyOptions {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly ratePerMinute: number | null;
  readonly expiresAt: number | null;
}

/** What is shown of a secret. One that the operator chose may be short, so its prefix is shorter. */
export const prefixOf = (secret: string) => secret.slice(0, secret.startsWith('sk_') ? 11 : 4);

export function newKey(accountId: AccountId, secret: string, options: KeyOptions, now: number): NewKey {
  return {
    id: randomUUID() as KeyId,
    accountId,
    hash: hashSecret(secret),
    prefix: prefixOf(secret),
    createdAt: now,
    ...options,
  };
}

/** Times are shown with four digits for the year. */
export const LAST_EXPIRY = Date.UTC(9999, 11, 31, 23, 59, 59);

export const MOST_RATE_PER_MINUTE = 100_000_000;

export const isUsable = (key: ApiKey, now: number) =>
  key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);

/** What jobs of this key may do with stored credentials. */
export function credentialAccessOf({ scopes }: Pick<ApiKey, 'scopes'>): CredentialAccess {
  if (allows(scopes, 'credentials:read')) return 'read';
  return allows(scopes, 'credentials') ? 'use' : 'none';
}

/**
 * Makes sure that the API can be used: registers the key of the settings, or, when no key is usable, makes
 * one. Its secret is returned this one time; only its hash is kept. `onMade` gets it before the key can be used: when that
 * throws, there is no key, and the next start makes one.
 */
export async function ensureFirstKey(
  store: AccountStore,
  settings: Pick<Settings, 'apiKey'>,
  now: number,
  onMade: (secret: string) => Promise<void> = async () => undefined,
): Promise<{ secret: string | null }> {
  const account = await store.defaultAccount();
  const options = { scopes: ALL_SCOPES, ratePerMinute: null, expiresAt: null };
  if (settings.apiKey !== undefined) {
    if ((await store.findKey(hashSecret(settings.apiKey))) === null) {
      await store.createKey(newKey(account, settings.apiKey, { name: 'settings', ...options }, now));
    }
    return { secret: null };
  }
  const keys = await store.listKeys(account);
  if (keys.some((key) => isUsable(key, now))) return { secret: null };
  const secret = newSecret();
  await onMade(secret);
  await store.createKey(newKey(account, secret, { name: 'first key', ...options }, now));
  return { secret };
}

/**
 * The key of the operator at a command line, with all rights in one account. It is made in the process of a command and
 * has no secret, so no request that comes over a network is ever known by it.
 */
export const commandLineKey = (accountId: AccountId): FoundKey => ({
  ...{ id: COMMAND_LINE, accountId, name: COMMAND_LINE, hash: '', prefix: '', scopes: SCOPES },
  ...{ ratePerMinute: null, createdAt: 0, expiresAt: null, revokedAt: null, lastUsedAt: null },
  account: { disabledAt: null, requestsPerMinute: null },
});
