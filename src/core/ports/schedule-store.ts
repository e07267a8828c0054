import type { AccountId, JobId, KeyId, MonitorId, RunId, ScheduleId } from '../model/ids.ts';
import type { CredentialAccess, JobStatus } from '../model/job.ts';
import type { ScheduledKind } from '../model/job-kinds.ts';
import type { AccountQuery } from './session-store.ts';
import type { ListPage } from './store.ts';

/** When a schedule runs: by a cron line or at an interval, never both. */
export interface Timing {
  readonly cron: string | null;
  readonly everyMs: number | null;
  /** What an interval is counted from. */
  readonly anchorAt: number;
  /** IANA name: of the cron line and of the active hours. */
  readonly timeZone: string;
  /** Ticks outside of these hours are none. Null: there is no such limit. */
  readonly activeHours: ActiveHours | null;
}

/** A daily window; `from` after `to` runs over midnight. */
export interface ActiveHours {
  readonly from: string;
  readonly to: string;
  /** 0 = Sunday. Empty: every day. */
  readonly days: readonly number[];
}

/** What becomes of a run that is due while the job of an earlier one goes on. */
export const OVERLAPS = ['skip', 'queue', 'cancelPrevious'] as const;
export type Overlap = (typeof OVERLAPS)[number];
/** What becomes of ticks that nothing ran in time: one run for all of them, or none. */
export const CATCH_UPS = ['one', 'none'] as const;
export type CatchUp = (typeof CATCH_UPS)[number];

/** What every run of a schedule starts. */
export interface ScheduledJob {
  readonly kind: ScheduledKind;
  /** As the API takes it. Only as stored: with a placeholder for each secret. */
  readonly request: unknown;
  /** Only as stored: the whole request, sealed by the vault, in base64. Missing when it holds no secret. */
  readonly sealed?: string;
  /** What the jobs may do with stored credentials: what the key that made the schedule may. */
  readonly credentials: CredentialAccess;
  /** The monitor that owns the schedule. Missing when none does. */
  readonly monitorId?: MonitorId;
  /** The key that made or last changed the schedule. Missing when that was a command on the data folder. */
  readonly keyId?: KeyId;
}

export interface ScheduleRules {
  readonly timing: Timing;
  readonly jitterMs: number;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
}

export interface Schedule extends ScheduleRules {
  readonly id: ScheduleId;
  readonly accountId: AccountId;
  readonly name: string;
  readonly job: ScheduledJob;
  readonly isPaused: boolean;
  /** The first tick that was not decided yet, and when it is due; null when there is none or it is paused. */
  readonly nextTickAt: number | null;
  readonly dueAt: number | null;
  /** Grows with every change that a client makes. */
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * pending: to be decided at once. waiting: begins when the job before it has ended. started: has a job. skipped: the job
 * before it went on, or the schedule was paused. refused: the job was refused. missed: nothing ran these ticks in time.
 */
export const RUN_STATUSES = ['pending', 'waiting', 'started', 'skipped', 'refused', 'missed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface ScheduleRun {
  readonly id: RunId;
  readonly scheduleId: ScheduleId;
  readonly accountId: AccountId;
  /** By a tick of the schedule, or by the request of a client. */
  readonly trigger: 'tick' | 'manual';
  /** The tick; of a manual run, when it was asked for; of missed ticks, the first. */
  readonly tickAt: number;
  /** The tick was run later than it should have been. */
  readonly isLate: boolean;
  readonly status: RunStatus;
  /** Why it waits, was skipped, refused or missed. */
  readonly reason: string | null;
  /** The id that its job has or would have. */
  readonly jobId: JobId;
  /** For a run that stands for missed ticks: when the last of them was due, and how many there were. */
  readonly missed: { readonly lastAt: number; readonly count: number } | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

/** A run with the state of its job; null when there is none, or none any more. */
export type ReportedRun = ScheduleRun & { readonly jobStatus: JobStatus | null };

/**
 * A part of the store: schedules, and the history of their runs.
 *
 * A tick is decided once: `recordTicks` stores the decision and moves the schedule to its next tick in one transaction, and
 * does nothing when the schedule is not at the tick that the caller decided. A run has one job at most: `createJob` of
 * the store makes the job and marks the run as started in one transaction, and does nothing unless the run is open and no
 * other job of its schedule goes on. So any number of schedulers may try, and stop at any point.
 *
 * A job goes on until it has ended or was cancelled.
 */
export interface ScheduleStore {
  /** Stores the schedule unless there is one with its id; returns the stored one. */
  createSchedule(schedule: NewSchedule): Promise<Schedule>;
  getSchedule(account: AccountId, id: ScheduleId): Promise<Schedule | null>;
  /** Lists the schedules of an account, the newest first. */
  listSchedules(query: AccountQuery): Promise<ListPage<Schedule>>;
  countSchedules(account: AccountId): Promise<number>;
  /**
   * Replaces what clients may change of the schedule. Pausing skips its open runs. Null when the schedule is gone or has
   * another revision; nothing has changed then.
   */
  updateSchedule(change: ScheduleChange): Promise<Schedule | null>;
  /** Deletes the schedule with its history; its jobs stay. False when there is none. */
  deleteSchedule(account: AccountId, id: ScheduleId): Promise<boolean>;
  /** Schedules that are due by the store's clock, the earliest first, with the time of that clock. */
  listDueSchedules(limit: number): Promise<{ readonly now: number; readonly items: readonly Schedule[] }>;
  /**
   * Stores what was decided about ticks that are due, and the next tick. False when the schedule has another next tick or
   * revision, is paused, is not due or gone: nothing has changed then. A tick that the history knows already gets no
   * further run. Missed ticks are told by the event `schedule.missed`, once. The oldest entries of a long history are deleted.
   */
  recordTicks(record: TickRecord): Promise<boolean>;
  /** Adds an open run that a client asked for, at the store's time; returns the one with its id when there is one. */
  addRun(run: ManualRun): Promise<ScheduleRun>;
  /** Runs that can be decided now, oldest first: pending ones, and waiting ones of schedules without a job that goes on. */
  listOpenRuns(query: OpenRunQuery): Promise<readonly OpenRun[]>;
  /** Ends an open run without a job, or has a pending run wait. False when it is not open any more. */
  settleRun(id: RunId, end: RunEnd): Promise<boolean>;
  getRun(account: AccountId, id: RunId): Promise<ReportedRun | null>;
  /** Lists the runs of a schedule, the newest first. */
  listRuns(query: RunQuery): Promise<ListPage<ReportedRun>>;
}

/** Entries of a schedule's history that are kept at least; open runs are always kept. */
export const MOST_RUNS_KEPT = 1_000;

export type NewSchedule = Omit<Schedule, 'revision' | 'createdAt' | 'updatedAt'> & {
  readonly createdAt: number;
};

export interface ScheduleChange extends ScheduleRules {
  readonly accountId: AccountId;
  readonly id: ScheduleId;
  /** The revision that was read. */
  readonly revision: number;
  readonly name: string;
  readonly job: ScheduledJob;
  readonly isPaused: boolean;
  readonly nextTickAt: number | null;
  readonly dueAt: number | null;
}

export interface TickRecord {
  readonly scheduleId: ScheduleId;
  readonly revision: number;
  /** The next tick that was read with the schedule. */
  readonly nextTickAt: number;
  readonly runs: readonly TickRun[];
  readonly missed: MissedRun | null;
  readonly next: { readonly tickAt: number; readonly dueAt: number } | null;
}

export interface TickRun {
  readonly id: RunId;
  readonly jobId: JobId;
  readonly tickAt: number;
  readonly isLate: boolean;
}

export interface MissedRun extends TickRun {
  readonly lastAt: number;
  readonly count: number;
}

export interface ManualRun {
  readonly id: RunId;
  readonly jobId: JobId;
  readonly scheduleId: ScheduleId;
  readonly accountId: AccountId;
}

export interface OpenRunQuery {
  readonly limit: number;
  /** Only those of this schedule. */
  readonly scheduleId?: ScheduleId | undefined;
}

export interface OpenRun {
  readonly run: ScheduleRun;
  readonly schedule: Schedule;
  /** Jobs of the schedule that go on, oldest first, ten at most. */
  readonly going: readonly JobId[];
  /** An older run of the schedule is open. */
  readonly isBehind: boolean;
  /** The account is disabled. */
  readonly isDisabled: boolean;
}

export type RunEnd = { readonly status: 'skipped' | 'refused' | 'waiting'; readonly reason: string };

export interface RunQuery extends AccountQuery {
  readonly scheduleId: ScheduleId;
}
