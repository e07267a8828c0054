import type { Budgets, Job } from './job.ts';
import type { StopReason } from './task-reasons.ts';

/** How many make a credit; stores and prices count in these, so that no sum is ever rounded. */
const MICROCREDITS = 1_000_000;

/** The largest amount of one entry or price, in credits. */
export const MOST_CREDITS = 1_000_000_000;

/** Credits as clients see them. */
export const creditsOf = (microcredits: number): number => microcredits / MICROCREDITS;

/** The nearest whole number of microcredits. */
export const microcreditsOf = (credits: number): number => Math.round(credits * MICROCREDITS);

/** Months since year 0 in UTC: allowances are renewed when it changes. */
export function monthOf(at: number): number {
  const date = new Date(at);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** When the month begins, as epoch milliseconds. */
export const startOfMonth = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12);

const DAY_MS = 86_400_000;
/** Days since 1970-01-01 in UTC: the day that usage is counted under. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** The reason of a job that was stopped because its account could not pay for another page. */
export const CREDITS_EXHAUSTED = 'credits.exhausted' satisfies StopReason;

/** What budgets are compared with. */
interface Spending {
  readonly counters: Pick<Job['counters'], 'pages' | 'failed' | 'bytes' | 'browserMs' | 'proxyBytes'>;
  readonly microcredits: number;
}

/** Which of the budgets the job has spent already, as a stop reason; null when it could go on under them. */
export function spentBudget(
  { counters, microcredits }: Spending,
  budgets: Omit<Budgets, 'maxDurationMs'>,
): StopReason | null {
  const { pages, failed, bytes, browserMs, proxyBytes } = counters;
  const reaches = (spent: number, most: number | null | undefined) => most != null && spent >= most;
  // What a job has not used at all stops it under no limit.
  const uses = (spent: number, most: number | null | undefined) => spent > 0 && reaches(spent, most);
  if (reaches(pages + failed, budgets.maxPages)) return 'budget.pages';
  if (reaches(bytes, budgets.maxBytes)) return 'budget.bytes';
  if (uses(browserMs, budgets.maxBrowserMs)) return 'budget.browser';
  if (uses(proxyBytes, budgets.maxProxyBytes)) return 'budget.proxy';
  return uses(microcredits, budgets.maxMicrocredits) ? 'budget.credits' : null;
}
