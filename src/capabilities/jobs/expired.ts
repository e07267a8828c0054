import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Job } from '../../core/model/job.ts';
import type { PagePart } from '../../core/model/retention.ts';

/** Throws EXPIRED for a job of which only the summary is kept. */
export function requireLedger(job: Pick<Job, 'expired'>): void {
  if (job.expired?.includes('ledger') !== true) return;
  throw new ScrapifieError(
    'EXPIRED',
    'The URLs and pages of the job were deleted, because their time was over; only its summary is kept.',
  );
}

/** The part of a page that was asked for has expired. */
export const expiredPart = (what: string, part: PagePart) =>
  new ScrapifieError('EXPIRED', `${what} was deleted, because its time was over.`, { details: { part } });
