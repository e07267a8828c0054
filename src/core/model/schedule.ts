import type { AccountId, JobId, KeyId, MonitorId, RunId, ScheduleId } from './ids.ts';
import type { CredentialAccess, JobStatus } from './job.ts';
import type { ScheduledKind } from './job-kinds.ts';

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
