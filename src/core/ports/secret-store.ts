import type { AccountId } from '../model/ids.ts';
import type { ListPage } from './store.ts';

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
