import type { IdentityKind } from '../model/identity.ts';
import type { AccountId, SessionId } from '../model/ids.ts';
import type { ProxyTier } from '../model/proxy.ts';
import type { ListPage } from './store.ts';

/** A part of the store: sessions and credentials by account and name. What they hold is bytes here: the store never looks inside. */
export interface SessionStore {
  /** Stores the session unless the account has one of that name; returns the stored session, ended ones included. */
  openSession(session: NewSession): Promise<StoredSession>;
  /** Finds a session by its name, also one that has ended. */
  getSession(account: AccountId, name: string): Promise<StoredSession | null>;
  /** Lists the sessions of an account, the newest first, ended ones included. */
  listSessions(query: AccountQuery): Promise<ListPage<SessionEntry>>;
  /**
   * Replaces the data of the session with this id and version, and counts the use. False when another writer was
   * first or it is gone; nothing has changed then, and the caller reads, merges and tries again.
   */
  updateSession(change: SessionChange): Promise<boolean>;
  /** Counts uses that changed nothing. Sessions that are gone are passed over. */
  touchSessions(uses: readonly SessionTouch[]): Promise<void>;
  deleteSession(account: AccountId, name: string): Promise<boolean>;
  /** Deletes sessions that ended before this time, those that ended first at first; returns how many. */
  deleteEndedSessions(endedBefore: number, limit: number): Promise<number>;
  /** Stores a credential in place of one of the same name, whose `createdAt` stays. */
  putCredential(credential: NewCredential): Promise<void>;
  getCredential(account: AccountId, name: string): Promise<StoredCredential | null>;
  /** Lists the credentials of an account, in the order in which they came. */
  listCredentials(query: AccountQuery): Promise<ListPage<CredentialEntry>>;
  deleteCredential(account: AccountId, name: string): Promise<boolean>;
}

export interface AccountQuery {
  readonly accountId: AccountId;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** What was asked for when a session was made; it never changes. */
export interface SessionWish {
  /** The name of what to log in with. */
  readonly credentials: string | null;
  readonly proxy: { readonly tier: ProxyTier | null; readonly country: string | null } | null;
  readonly identity: IdentityKind | null;
}

export interface NewSession {
  /** Tells a session from a later one of the same name. */
  readonly id: SessionId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly wish: SessionWish;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly data: Uint8Array;
}

export interface SessionEntry extends Omit<NewSession, 'data'> {
  readonly lastUsedAt: number | null;
  readonly requestCount: number;
}

export interface StoredSession extends SessionEntry {
  readonly data: Uint8Array;
  /** Grows whenever the data is replaced. */
  readonly version: number;
}

export interface SessionTouch {
  readonly id: SessionId;
  readonly at: number;
  readonly requests: number;
}

export interface SessionChange extends SessionTouch {
  /** Version of the data that the new data was made from. */
  readonly version: number;
  readonly data: Uint8Array;
}

export interface NewCredential {
  readonly accountId: AccountId;
  readonly name: string;
  /** For showing, as the hosts are: what counts is in the data. */
  readonly kind: string;
  readonly hosts: readonly string[];
  readonly data: Uint8Array;
  readonly at: number;
}

export interface CredentialEntry extends Omit<NewCredential, 'data' | 'at'> {
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface StoredCredential extends CredentialEntry {
  readonly data: Uint8Array;
}

/**
 * A part of the store: the records that may hold secrets, for changing the key that encrypts them. The store does
 * not open what they hold.
 */
export interface SecretStore {
  /**
   * Whether any credential is stored, any session or webhook whose data is not in the open, or any job or schedule with
   * sealed options.
   */
  hasSealed(): Promise<boolean>;
  /** All records of one kind over all accounts, in the order in which they came. */
  listSecrets(query: SecretQuery): Promise<ListPage<SecretRecord>>;
  /**
   * Replaces the bytes of the record. False when the record is gone or its bytes are no longer those of `record`, and
   * nothing has happened then. The version of a session stays, because what it holds is the same.
   */
  replaceSecret(record: SecretRecord, data: Uint8Array): Promise<boolean>;
}

export type SecretKind = 'credential' | 'session' | 'job' | 'webhook' | 'schedule';
export const SECRET_KINDS: readonly SecretKind[] = ['credential', 'session', 'job', 'webhook', 'schedule'];

export interface SecretQuery {
  readonly kind: SecretKind;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface SecretRecord {
  readonly kind: SecretKind;
  /** Number of the row in its table. */
  readonly seq: number;
  readonly accountId: AccountId;
  /** Name of the credential or the session; for a job, a webhook or a schedule its id. */
  readonly name: string;
  /**
   * The sealed bytes. For a job its options as JSON in UTF-8, with sealed values; for a schedule its job, likewise.
   */
  readonly data: Uint8Array;
}
