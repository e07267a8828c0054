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
  /** What the account keeps of its jobs; null when it has not said. */
  accountRetention(id: AccountId): Promise<RetentionLimits | null>;
  /** Null: as the installation says. False when there is no such account. */
  setAccountRetention(id: AccountId, limits: RetentionLimits | null): Promise<boolean>;
}

export interface AccountDeletion {
  readonly id: AccountId;
  readonly startedAt: number;
  /** That it still has. */
  readonly jobs: number;
}

export interface PurgedAccount {
  readonly rows: number;
  readonly isGone: boolean;
}
