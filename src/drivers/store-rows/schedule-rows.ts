import type { AccountId, JobId, RunId, ScheduleId } from '../../core/model/ids.ts';
import type { JobStatus } from '../../core/model/job.ts';
import type {
  MissedRun,
  OpenRun,
  ReportedRun,
  RunStatus,
  Schedule,
  ScheduledJob,
  ScheduleRules,
  ScheduleRun,
} from '../../core/ports/schedule-store.ts';
import type { Row } from './rows.ts';

const maybeNumber = (value: unknown) => (value === null ? null : Number(value));

export function scheduleOf(row: Row): Schedule {
  return {
    id: String(row.id) as ScheduleId,
    accountId: String(row.account_id) as AccountId,
    name: String(row.name),
    ...(JSON.parse(String(row.rules)) as ScheduleRules),
    job: JSON.parse(String(row.job)) as ScheduledJob,
    isPaused: Boolean(row.is_paused),
    nextTickAt: maybeNumber(row.next_tick_at),
    dueAt: maybeNumber(row.due_at),
    revision: Number(row.revision),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

export function runOf(row: Row): ScheduleRun {
  const lastAt = maybeNumber(row.missed_last_at);
  return {
    id: String(row.id) as RunId,
    scheduleId: String(row.schedule_id) as ScheduleId,
    accountId: String(row.account_id) as AccountId,
    trigger: row.started_by as ScheduleRun['trigger'],
    tickAt: Number(row.tick_at),
    isLate: Boolean(row.is_late),
    status: row.status as RunStatus,
    reason: row.reason as string | null,
    jobId: String(row.job_id) as JobId,
    missed: lastAt === null ? null : { lastAt, count: Number(row.missed_count) },
    createdAt: Number(row.created_at),
    settledAt: maybeNumber(row.settled_at),
  };
}

/** The data of a `schedule.missed` event. */
export const missedEventOf = ({ id, name }: Row, { id: runId, tickAt, lastAt, count }: MissedRun) => ({
  scheduleId: id,
  name,
  runId,
  firstAt: new Date(tickAt).toISOString(),
  lastAt: new Date(lastAt).toISOString(),
  count,
});

/** Columns of a run (r) and of its job (j), which may be gone. */
export const RUN_COLUMNS = 'r.*, j.status AS job_status';
export const RUN_TABLES = 'schedule_runs r LEFT JOIN jobs j ON j.id = r.job_id';

export const reportedRunOf = (row: Row): ReportedRun => ({
  ...runOf(row),
  jobStatus: row.job_status as JobStatus | null,
});

/** Most jobs that `listOpenRuns` names of one schedule. */
export const MOST_GOING = 10;
/** A job (j) that goes on. */
export const GOES_ON = `j.finished_at IS NULL AND j.status <> 'cancelled'`;

/** `going` and `schedule` are JSON. */
export const openRunOf = (row: Row): OpenRun => ({
  run: runOf(row),
  schedule: scheduleOf(JSON.parse(String(row.schedule)) as Row),
  going: JSON.parse(String(row.going)) as JobId[],
  isBehind: Boolean(row.is_behind),
  isDisabled: Boolean(row.is_disabled),
});
