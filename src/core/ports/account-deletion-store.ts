import type { AccountId } from '../model/ids.ts';
import type { RetentionLimits } from '../model/retention.ts';

/** A part of the store: deleting accounts with everything of them, and what accounts keep of their jobs. */
export interface AccountDeletionStore {
  /**
   * Marks the account: its keys are revoked, and it is disabled for good. Returns since when it is being deleted; null
   * when there is no such account. Repeating it changes nothing.
   */
  beginAccountDeletion(id: AccountId): Promise<number | null>;
  /** Accounts that are being deleted, those first that were marked first. */
  listAccountDeletions(limit: number): Promise<readonly AccountDeletion[]>;
  /**
   * Deletes up to `limit` rows of a marked account, whatever table of the store they are in; in the end its keys and the
   * account itself. Jobs are left to `deleteJob`, and the account stays while it has one. The audit log stays.
   */
  purgeAccount(id: AccountId, limit: number): Promise<PurgedAccount>;
  /** What is kept of the jobs of the account. Nothing is said about an account that there is not. */
  accountRetention(id: AccountId): Promise<AccountRetention>;
  /**
   * Says what the account, or the operator for it, wants to keep; null: nothing is said. Neither changes what the other
   * says. False when there is no such account; CONFLICT when it is being deleted.
   */
  setAccountRetention(
    id: AccountId,
    by: keyof AccountRetention,
    limits: RetentionLimits | null,
  ): Promise<boolean>;
}

/** What is said about retention for one account; null: nothing. */
export interface AccountRetention {
  /** The limits that the account set for itself. */
  readonly own: RetentionLimits | null;
  /** The limits that the operator set for the account. */
  readonly operator: RetentionLimits | null;
}

export interface AccountDeletion {
  readonly id: AccountId;
  readonly startedAt: number;
  /** How many jobs of the account are not deleted yet. */
  readonly jobs: number;
}

export interface PurgedAccount {
  readonly rows: number;
  readonly isGone: boolean;
}
