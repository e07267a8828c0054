import type { AccountId, KeyId } from '../model/ids.ts';
import type { RetentionLimits } from '../model/retention.ts';
import type { ApiKey, NewKey } from './key-store.ts';
import type { ListPage } from './store.ts';

/** What an account may use at most; null: as much as the installation gives. */
export interface AccountLimits {
  /** Requests to the API, over all keys of the account. */
  readonly requestsPerMinute: number | null;
  /** Pages fetched at the same time, over all processes of a fleet. */
  readonly concurrentPages: number | null;
  /** URLs of its jobs that have not ended. */
  readonly openUrls: number | null;
  /** Bytes of the bodies that its jobs have stored, before compression. */
  readonly storedBytes: number | null;
}

export const NO_LIMITS: AccountLimits = {
  requestsPerMinute: null,
  concurrentPages: null,
  openUrls: null,
  storedBytes: null,
};

/** The plan of an account whose limits are its own. */
export const CUSTOM_PLAN = 'custom';

export interface NewAccount {
  readonly id: AccountId;
  readonly name: string;
  /** A plan of the settings, whose limits the account has, or `custom`. */
  readonly plan: string;
  readonly limits: AccountLimits;
}

export interface Account extends NewAccount {
  /** Since when its keys are refused and its jobs stand still; null: it is in use. */
  readonly disabledAt: number | null;
  /** Since when it is being deleted, which nothing undoes; null: it is not. */
  readonly deletingSince: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an account uses of its limits right now. */
export interface AccountUse {
  readonly openUrls: number;
  readonly claimedPages: number;
  readonly storedBytes: number;
}

/**
 * Accounts, their limits, and the secrets of their keys.
 *
 * `HostStore.claimTasks` passes over the jobs of accounts that are disabled, or have as many pages under way as they may.
 * Where several hosts wait for places of an account, they get them by turns; a host that waits for nothing else is offered
 * again after a while, or when other tasks come.
 */
export interface AccountRecordStore {
  /** Stores the account, with its first key where one is given. False when there is an account with this id. */
  createAccount(account: NewAccount, firstKey: NewKey | null): Promise<boolean>;
  /** Null when there is no such account. */
  getAccount(id: AccountId): Promise<Account | null>;
  /** Lists all accounts in the order of their ids. */
  listAccounts(query: {
    readonly cursor?: string | undefined;
    readonly limit: number;
  }): Promise<ListPage<Account>>;
  /** Changes what is given; `limits` are replaced as a whole. Null when there is no such account; CONFLICT when it is being deleted. */
  changeAccount(id: AccountId, change: AccountChange): Promise<Account | null>;
  /** Gives all accounts of a plan the limits of that plan. Returns how many it changed. */
  applyPlan(plan: string, limits: AccountLimits): Promise<number>;
  /** What the account uses of its limits; zeros when there is no such account. Reads a row for each of its jobs. */
  accountUse(id: AccountId): Promise<AccountUse>;
  /** URLs of the account that have not ended. Reads a row for each of its jobs that has not ended. */
  countOpenUrls(id: AccountId): Promise<number>;
  /** Accounts that store more than they may. Reads a row for each job of accounts with a limit. */
  listFullAccounts(): Promise<readonly AccountId[]>;
  /**
   * Gives a key another secret. The secrets that it has had go on for as long as they have been promised to, and the one
   * that it has now for `overlapMs`, so that a rotation whose answer was lost can be repeated. `overlapMs` 0 ends all of
   * them at once. Null when the account has no such key, or the key was revoked or has expired. CONFLICT when ten earlier
   * secrets are still valid.
   */
  rotateKey(account: AccountId, id: KeyId, secret: NewSecret, overlapMs: number): Promise<ApiKey | null>;
}

export interface AccountChange {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  readonly limits?: AccountLimits | undefined;
  readonly isDisabled?: boolean | undefined;
}

export interface NewSecret {
  readonly hash: string;
  readonly prefix: string;
}

/** Earlier secrets of one key that are valid at the same time. */
export const MOST_FORMER_SECRETS = 10;

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
