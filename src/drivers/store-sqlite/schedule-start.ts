import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { NewJob } from '../../core/model/job.ts';
import { GOES_ON } from '../store-rows/schedule-rows.ts';
import type { SqliteDatabase } from './database.ts';

/** Marks the run as started by the job that was just inserted. Throws CONFLICT, which undoes the job, unless it may. */
export function startScheduleRun(
  database: SqliteDatabase,
  run: NonNullable<NewJob['run']>,
  job: JobId,
  now: number,
): void {
  const going = database.get(
    `SELECT j.id FROM jobs j WHERE j.schedule_id = ? AND ${GOES_ON} LIMIT 1`,
    run.scheduleId,
  );
  if (going !== undefined) throw cannotStart('another job of the schedule goes on');
  const started = database.run(
    `UPDATE schedule_runs SET status = 'started', reason = NULL, settled_at = ?
     WHERE id = ? AND job_id = ? AND status IN ('pending', 'waiting')`,
    now,
    run.id,
    job,
  );
  if (started === 0) throw cannotStart('the run is not open');
  database.run('UPDATE jobs SET schedule_id = ? WHERE id = ?', run.scheduleId, job);
}

const cannotStart = (why: string) => new ScrapifieError('CONFLICT', `The run cannot start: ${why}.`);
