import { z } from 'zod';
import { JOB_STATUSES } from '../../core/model/job.ts';
import { SCHEDULED_KINDS } from '../../core/model/job-kinds.ts';
import {
  CATCH_UPS,
  OVERLAPS,
  type ReportedRun,
  RUN_STATUSES,
  type Schedule,
} from '../../core/ports/schedule-store.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import type { NextTicks } from '../schedules/schedules.ts';
import { hideScheduledJob } from '../sessions/job-secrets.ts';
import { selfLinks, selfSchema } from './list.ts';

const time = z.iso.datetime();

export const scheduleSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    cron: z.string().nullable(),
    everyMs: z.number().int().nullable(),
    timeZone: z.string(),
    activeHours: z.object({ from: z.string(), to: z.string(), days: z.array(z.number().int()) }).nullable(),
    jitterMs: z.number().int(),
    overlap: z.enum(OVERLAPS),
    catchUp: z.enum(CATCH_UPS),
    job: z
      .looseObject({ kind: z.enum(SCHEDULED_KINDS) })
      .describe('What each run starts, with all defaults; secrets are hidden.'),
    status: z.enum(['active', 'paused']),
    nextRunAt: time.nullable().describe('The next tick with its jitter; null while it is paused.'),
    createdAt: time,
    updatedAt: time,
    links: z.object({ self: z.string(), runs: z.string(), next: z.string(), jobs: z.string() }),
  })
  .meta({ id: 'Schedule' });

export function scheduleView(schedule: Schedule) {
  const { id, name, timing, jitterMs, overlap, catchUp, isPaused } = schedule;
  const { kind, request } = hideScheduledJob(schedule.job);
  const { self } = selfLinks('schedules', id);
  return {
    id,
    name,
    cron: timing.cron,
    everyMs: timing.everyMs,
    timeZone: timing.timeZone,
    activeHours: timing.activeHours,
    jitterMs,
    overlap,
    catchUp,
    job: { kind, ...(request as object) },
    status: isPaused ? ('paused' as const) : ('active' as const),
    nextRunAt: isoTimeOrNull(schedule.dueAt),
    createdAt: isoTime(schedule.createdAt),
    updatedAt: isoTime(schedule.updatedAt),
    links: { self, runs: `${self}/runs`, next: `${self}/next`, jobs: `/v1/jobs?schedule=${id}` },
  };
}

export const runSchema = z
  .object({
    id: z.string(),
    scheduleId: z.string(),
    trigger: z.enum(['tick', 'manual']),
    at: time.describe('The tick; of a run that was asked for, when; of missed ticks, the first.'),
    isLate: z.boolean().describe('It ran later than it should have, after a time without schedulers.'),
    status: z
      .enum(RUN_STATUSES)
      .describe(
        'pending: decided within a second. waiting: begins when the job before has ended. started: has a job. skipped, ' +
          'refused, missed: got none, for `reason`.',
      ),
    reason: z.string().nullable(),
    jobId: z.string().nullable().describe('Only of a run that has started.'),
    jobStatus: z
      .enum(JOB_STATUSES)
      .nullable()
      .describe('How its job stands or has ended; null when there is none, or none any more.'),
    missed: z
      .object({ lastAt: time, count: z.number().int().describe('1000 stands for that many or more.') })
      .nullable()
      .describe('Of missed ticks: the last, and how many.'),
    createdAt: time,
    settledAt: time.nullable().describe('When it was decided.'),
    links: selfSchema.extend({ job: z.string().nullable() }),
  })
  .meta({ id: 'ScheduleRun' });

export function runView(run: ReportedRun) {
  const { id, scheduleId, trigger, isLate, status, reason, missed } = run;
  const jobId = status === 'started' ? run.jobId : null;
  return {
    id,
    scheduleId,
    trigger,
    at: isoTime(run.tickAt),
    isLate,
    status,
    reason,
    jobId,
    jobStatus: run.jobStatus,
    missed: missed === null ? null : { lastAt: isoTime(missed.lastAt), count: missed.count },
    createdAt: isoTime(run.createdAt),
    settledAt: isoTimeOrNull(run.settledAt),
    links: {
      ...selfLinks('schedules', scheduleId, 'runs', id),
      job: jobId === null ? null : `/v1/jobs/${jobId}`,
    },
  };
}

export const nextSchema = z.object({
  timeZone: z.string(),
  items: z.array(
    z.object({
      at: time.describe('The tick.'),
      local: z.string().describe('The same by the clock of the time zone.'),
      runsAt: time.describe('The tick with its jitter.'),
    }),
  ),
});

export function nextView({ timeZone, ticks }: NextTicks) {
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return {
    timeZone,
    items: ticks.map(({ tickAt, dueAt }) => ({
      at: isoTime(tickAt),
      local: local.format(tickAt).replace(' ', 'T'),
      runsAt: isoTime(dueAt),
    })),
  };
}

export type ScheduleView = ReturnType<typeof scheduleView>;
export type RunView = ReturnType<typeof runView>;
export type NextView = ReturnType<typeof nextView>;
