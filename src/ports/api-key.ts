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

/**
 * read: look at jobs. write: also create and change them. credentials: use stored credentials. credentials:read: also see
 * what pages give that were fetched with them. admin: everything but credentials:read.
 */
export type KeyScope = 'read' | 'write' | 'credentials' | 'credentials:read' | 'admin';

export interface ApiKey extends NewKey {
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}
