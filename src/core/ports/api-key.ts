import type { AccountId, KeyId } from '../model/ids.ts';

export interface NewKey {
  readonly id: KeyId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly hash: string;
  /** First characters of the secret, for recognising it. */
  readonly prefix: string;
  readonly scopes: readonly KeyScope[];
  /** Requests per minute; null: the server's default. */
  readonly ratePerMinute: number | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** What a key may do. `read` and `write` are groups of others; src/capabilities/accounts/scopes.ts says which includes which. */
export type KeyScope =
  | 'scrape'
  | 'jobs:read'
  | 'jobs:write'
  | 'exports'
  | 'schedules'
  | 'webhooks'
  | 'read'
  | 'write'
  | 'credentials'
  | 'credentials:read'
  | 'admin';

export interface ApiKey extends NewKey {
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** A key that was found by a secret. Where that is a former one, `expiresAt` is the end of it at the latest. */
export interface FoundKey extends ApiKey {
  /** What every request needs to know of the key's account. */
  readonly account: { readonly disabledAt: number | null; readonly requestsPerMinute: number | null };
}

/** The keys of accounts. */
export interface KeyStore {
  /**
   * A key whose hash is known stays as it was: processes that start together register the same one. CONFLICT when the
   * account is being deleted.
   */
  createKey(key: NewKey): Promise<void>;
  /**
   * By the hash of the secret, or of a former one; null when unknown. Expired and revoked keys, and keys of disabled
   * accounts, are returned: the caller says no.
   */
  findKey(hash: string): Promise<FoundKey | null>;
  listKeys(account: AccountId): Promise<readonly ApiKey[]>;
  revokeKey(account: AccountId, id: KeyId, now: number): Promise<boolean>;
  touchKeys(used: readonly { id: KeyId; at: number }[]): Promise<void>;
}
