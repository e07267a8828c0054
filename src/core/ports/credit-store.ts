import type { AccountId } from '../model/ids.ts';
import type { ListPage } from './store.ts';

/**
 * What accounts may spend, and what they have used. Amounts are whole microcredits.
 *
 * An account without a plan is not limited: nothing is reserved for it, and its usage is only counted. An account with a
 * plan has an allowance, renewed at the beginning of each calendar month in UTC by the store's clock, and a balance of
 * granted credits that do not expire. The allowance is spent first; its rest lapses with its month.
 *
 * For every claimed task `NewJob.reserveMicrocredits` are held for its job, and `claimTasks` claims no more tasks than
 * can be held for. A commit takes what completions cost from what is held. What is held for tasks that go back, however
 * that happens, serves the next claims of the job, and returns to the account when the job ends. So at any time
 *
 *     allowance + balance + held = sum of the account's entries − sum of what commits charged
 *
 * and neither side is negative, unless a task cost more than was reserved for it.
 */
export interface CreditStore {
  /** Null when the account is not limited, or when there is none. */
  getCredits(account: AccountId): Promise<Credits | null>;
  /**
   * Limits the account, or changes its limits; null: no limits from now on, and its balance is kept. A changed allowance
   * counts for the month under way. False when there is no such account.
   */
  setCreditPlan(account: AccountId, plan: CreditPlan | null): Promise<boolean>;
  /**
   * Adds to the balance of the account, or takes from it, and records that. A grant with the `key` of an earlier one
   * of the account changes nothing and returns the earlier entry. Null when there is no such account. CONFLICT when it
   * would take more than the balance, and then nothing has changed.
   */
  grantCredits(account: AccountId, grant: CreditGrant): Promise<CreditEntry | null>;
  /** Lists what was added to the balance of an account or taken from it other than by usage, the newest first. */
  listCreditEntries(query: CreditEntryQuery): Promise<ListPage<CreditEntry>>;
  /**
   * Adds up to `limit` of the oldest rows of the usage log to the sums that `listUsage` reads, and returns how many.
   * Timers call it; `listUsage` answers the same before and after.
   */
  foldUsage(limit: number): Promise<number>;
  /** Sums over the days `from` to `to`, both included, in the order of their values. Takes a time that grows with days × limit. */
  listUsage(query: UsageQuery): Promise<ListPage<UsageSum>>;
}

export interface CreditPlan {
  /** Credited at the beginning of each month. */
  readonly monthlyMicrocredits: number;
  /** Below this, `account.low_credits` is recorded, once until a grant or a new month lifts the account above it. */
  readonly lowMicrocredits: number;
}

export interface Credits extends CreditPlan {
  /** Left of this month's allowance, and of the balance that does not expire, without what is held. */
  readonly allowanceMicrocredits: number;
  readonly balanceMicrocredits: number;
  /** Held for the jobs that are going on. */
  readonly heldMicrocredits: number;
  readonly renewsAt: number;
}

export interface CreditGrant {
  readonly id: string;
  /** How much is added to the balance; a negative number is taken away from it. */
  readonly microcredits: number;
  readonly reason: string;
  readonly key: string | null;
}

/**
 * grant      added or taken by the operator
 * allowance  of a month, or the difference when the plan is changed
 * lapse      the rest of an allowance when its month was over
 */
export type CreditEntryKind = 'grant' | 'allowance' | 'lapse';

export interface CreditEntry {
  readonly id: string;
  readonly kind: CreditEntryKind;
  readonly microcredits: number;
  readonly reason: string;
  readonly at: number;
}

export interface CreditEntryQuery {
  readonly accountId: AccountId;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export const USAGE_GROUPS = ['day', 'key', 'job', 'engine', 'host'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  readonly accountId: AccountId;
  readonly by: UsageGroup;
  /** Days since 1970-01-01 in UTC. */
  readonly from: number;
  readonly to: number;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface UsageCounters {
  /** Tasks of kind page that ended well. */
  readonly pages: number;
  readonly attempts: number;
  readonly bytes: number;
  readonly browserMs: number;
  readonly proxyBytes: number;
  readonly tokens: number;
  readonly microcredits: number;
}

export interface UsageSum extends UsageCounters {
  /** A date such as 2026-01-31, the id of a key or a job, an engine, or a host. Empty: jobs that no key made. */
  readonly value: string;
}
