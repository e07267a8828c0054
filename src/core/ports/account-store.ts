import type { Account, AccountLimits, AccountUse, NewAccount } from '../model/account.ts';
import type { AccountId, KeyId } from '../model/ids.ts';
import type { ApiKey, NewKey } from './api-key.ts';
import type { ListPage } from './store.ts';

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
