import type { Budgets, Job } from './job.ts';

/** What budgets are compared with. */
export interface Spending {
  readonly counters: Pick<Job['counters'], 'pages' | 'failed' | 'bytes' | 'browserMs' | 'proxyBytes'>;
  readonly microcredits: number;
}

/** Which of the budgets the job has spent already, as a stop reason; null when it could go on under them. */
export function spentBudget(
  { counters, microcredits }: Spending,
  budgets: Omit<Budgets, 'maxDurationMs'>,
): string | null {
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
