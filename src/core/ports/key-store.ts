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

/**
 * A part of the store: browsers that are signed in to the dashboard, and links that sign one in. Both are found by the
 * hash of a secret that only the browser has. A sign-in holds as long as the secret of the API key that it was made
 * with: the caller looks that key up for each request.
 */
export interface SignInStore {
  /** Stores a sign-in. Of the sign-ins with one key, the hundred that were used last are kept. */
  addSignIn(signIn: NewSignIn): Promise<void>;
  /** Finds a sign-in. Null when it is unknown, its time is over, or it was unused for longer than `idleMs`. */
  findSignIn(hash: string): Promise<SignIn | null>;
  /** Records that the sign-in is used now. Nothing happens when there is no such sign-in. */
  touchSignIn(hash: string): Promise<void>;
  /** Deletes the sign-in. Returns false when there is no such sign-in. */
  deleteSignIn(hash: string): Promise<boolean>;
  /** Keeps the hash of a link for `lastsMs`. */
  addSignInLink(link: NewSignInLink): Promise<void>;
  /** Takes the link away, so that it works once. Null when it is unknown, was used, or its time is over. */
  takeSignInLink(hash: string): Promise<{ readonly accountId: AccountId } | null>;
  /** Deletes up to `limit` sign-ins, and as many links, whose time is over. Returns how many. */
  deleteEndedSignIns(limit: number): Promise<number>;
}

export interface NewSignIn {
  /** Hash of the secret in the cookie. */
  readonly hash: string;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  /** Hash of the secret that the key had at the sign-in: a rotation ends the sign-in when it ends that secret. */
  readonly keyHash: string;
  readonly lastsMs: number;
  /** How long it may go unused. */
  readonly idleMs: number;
}

export interface SignIn extends Omit<NewSignIn, 'lastsMs' | 'idleMs'> {
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number;
}

export interface NewSignInLink {
  /** Hash of the secret in the link. */
  readonly hash: string;
  readonly accountId: AccountId;
  readonly lastsMs: number;
}

/** Sign-ins of one key that are kept. */
export const MOST_SIGN_INS = 100;
