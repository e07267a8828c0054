import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { spentBudget } from '../../core/model/credits.ts';
import type { Budgets, Job } from '../../core/model/job.ts';
import { stopSentence } from './rule-words.ts';

export const nothingToResume = (why: string) =>
  new ScrapifieError('CONFLICT', `${why} There is nothing to resume.`);

/** Why a job that has ended did not go on under these limits. */
export function resumeRefusal(job: Job, limits: Budgets): ScrapifieError {
  const hasLeft = job.counters.skipped + job.counters.cancelled > 0;
  const stopReason = (hasLeft ? spentBudget(job, limits) : null) ?? job.stopReason;
  const limit = stopSentence({ stopReason, options: { budgets: limits } });
  return limit === null
    ? nothingToResume('Nothing of the job was left out.')
    : new ScrapifieError('CONFLICT', `${limit} Resume it with a higher limit.`);
}
