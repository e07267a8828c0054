import type { AccountId, JobId, RunId, ScheduleId } from '../model/ids.ts';
import type { ReportedRun, Schedule, ScheduledJob, ScheduleRules, ScheduleRun } from '../model/schedule.ts';
import type { AccountQuery } from './session-store.ts';
import type { ListPage } from './store.ts';

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
