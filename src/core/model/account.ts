import type { AccountId } from './ids.ts';

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
