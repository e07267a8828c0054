import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** A column of the statement that makes a job, with the run as $8: starts the run. */
export const START_RUN = ', start_schedule_run($8, made.id, c.now) AS started_run';

/** What `start_schedule_run` raises when the job must not be. */
const RUN_REFUSED = 'SC409';

/** Throws the error of a statement that makes a job: CONFLICT when the run refuses the job. */
export function refuseRun(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== RUN_REFUSED) throw error;
  throw new ScrapifieError('CONFLICT', `The run cannot start: ${message}.`);
}
