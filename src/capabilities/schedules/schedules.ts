import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId, MonitorId, RunId, ScheduleId } from '../../core/model/ids.ts';
import type { CredentialAccess } from '../../core/model/job.ts';
import type {
  NewSchedule,
  ReportedRun,
  Schedule,
  ScheduledJob,
  ScheduleRules,
  Timing,
} from '../../core/ports/schedule-store.ts';
import type { AccountQuery } from '../../core/ports/session-store.ts';
import type { ListPage, Store } from '../../core/ports/store.ts';
import { defined } from '../../lib/defined.ts';
import { isJobId } from '../jobs/job-id.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { type FieldProblem, invalidRequest } from '../jobs/request/invalid-request.ts';
import { sealScheduledJob } from '../sessions/job-secrets.ts';
import type { Vault } from '../sessions/vault.ts';
import {
  everyMsOf,
  jobRequestOf,
  type PreviewRequest,
  type ScheduleChangeRequest,
  type ScheduledRequest,
  type ScheduleRequest,
} from './schedule-request.ts';
import { decideRuns, type RunDeps } from './schedule-runs.ts';
import { type DueTick, dueTick, hasTicksWithin, nextTick, upcomingTicks } from './ticks.ts';

export interface SchedulesDeps {
  readonly store: Store;
  readonly jobs: RunDeps['jobs'] & Pick<Jobs, 'newId' | 'verify' | 'requireRoom'>;
  /** Encrypts secrets of requests before they are stored; null: they are stored as they are. */
  readonly vault: Vault | null;
  /** Only monitors may change the schedules that they own. */
  readonly isForMonitors?: boolean;
  /** The least time between two ticks that a client may ask for. */
  readonly leastSeconds: number;
}

/** The account and the key that make a schedule, and what its jobs may do with stored credentials. */
export interface ScheduleOwner {
  readonly accountId: AccountId;
  readonly credentials: CredentialAccess;
  /** The key of the client; none for commands on the data folder. */
  readonly keyId?: KeyId;
}

/**
 * The schedules of accounts. Every method that takes an id throws NOT_FOUND for schedules of other accounts, and every one
 * that changes or runs a schedule CONFLICT for one that a monitor owns.
 */
export interface Schedules {
  /** A schedule that is not stored yet. Throws VALIDATION_FAILED, and what its job is refused for. */
  draft(
    request: ScheduleRequest,
    owner: ScheduleOwner,
    id: ScheduleId,
    monitorId?: MonitorId,
  ): Promise<NewSchedule>;
  /**
   * The schedule with this id when there is one already. Throws VALIDATION_FAILED, what its job is refused for, and
   * CONFLICT when the account has as many schedules as it may.
   */
  create(request: ScheduleRequest, owner: ScheduleOwner, id?: ScheduleId): Promise<Schedule>;
  get(account: AccountId, id: string): Promise<Schedule>;
  list(query: AccountQuery): Promise<ListPage<Schedule>>;
  update(id: string, change: ScheduleChangeRequest, owner: ScheduleOwner): Promise<Schedule>;
  /** Nothing happens to one that is paused. Open runs are skipped; jobs go on. */
  pause(account: AccountId, id: string): Promise<Schedule>;
  /** Goes on with the next tick from now; ticks that were passed over meanwhile are not missed. */
  resume(account: AccountId, id: string): Promise<Schedule>;
  delete(account: AccountId, id: string): Promise<void>;
  /**
   * Runs a schedule now, a paused one too, by its rule for overlaps. CONFLICT when it is skipped, and what its job is
   * refused for.
   */
  runNow(account: AccountId, id: string, runId?: RunId): Promise<ReportedRun>;
  runs(query: AccountQuery & { readonly id: string }): Promise<ListPage<ReportedRun>>;
  run(account: AccountId, id: string, runId: string): Promise<ReportedRun>;
  /** The next ten ticks; of a paused schedule, those that it would have. */
  next(account: AccountId, id: string): Promise<NextTicks>;
  preview(request: PreviewRequest): Promise<NextTicks>;
}

export interface NextTicks {
  readonly timeZone: string;
  readonly ticks: readonly DueTick[];
}

const SHOWN_TICKS = 10;
/** The most schedules of one account. Requests at the same moment may make a few more. */
const MOST_SCHEDULES = 1_000;
/** Kinds of access, from the least to the most. */
const ACCESS_ORDER: readonly CredentialAccess[] = ['none', 'use', 'read'];
/** Changes of one schedule that race for it. */
const MAX_TRIES = 10;

export function createSchedules(deps: SchedulesDeps): Schedules {
  const { store, jobs, vault, isForMonitors = false, leastSeconds } = deps;
  /** Where the fields of a timing stand in the request. */
  const place = isForMonitors ? 'schedule.' : '';
  const runDeps: RunDeps = { store, jobs, vault };

  async function get(account: AccountId, id: string): Promise<Schedule> {
    const schedule = isJobId(id) ? await store.getSchedule(account, id as string as ScheduleId) : null;
    if (schedule === null) throw noSuchSchedule(id);
    return schedule;
  }

  /** The schedule, to be changed or run. */
  async function getFree(account: AccountId, id: string): Promise<Schedule> {
    const schedule = await get(account, id);
    const { monitorId } = schedule.job;
    if (monitorId === undefined || isForMonitors) return schedule;
    const message = `The schedule belongs to the monitor ${monitorId}; use /v1/monitors/${monitorId}.`;
    throw new ScrapifieError('CONFLICT', message, { details: { monitorId } });
  }

  /** Changes the schedule as it is at the moment of the change. */
  async function change(
    account: AccountId,
    id: string,
    to: (schedule: Schedule, now: number) => Schedule,
  ): Promise<Schedule> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const schedule = await getFree(account, id);
      const changed = to(schedule, await store.clock());
      if (changed === schedule) return schedule;
      const stored = await store.updateSchedule(changed);
      if (stored !== null) return stored;
    }
    throw new ScrapifieError(
      'CONFLICT',
      'The schedule is being changed by others at the same time. Try again.',
    );
  }

  async function requireRoom(account: AccountId, id: ScheduleId): Promise<void> {
    if ((await store.countSchedules(account)) < MOST_SCHEDULES) return;
    if ((await store.getSchedule(account, id)) !== null) return;
    const message = `The account has ${MOST_SCHEDULES} schedules, which is the most; delete one first.`;
    throw new ScrapifieError('CONFLICT', message);
  }

  const verified = (job: ScheduledRequest, { accountId, credentials }: ScheduleOwner) =>
    inJob(() => jobs.verify(job, accountId, { credentials }));

  async function draft(
    request: ScheduleRequest,
    owner: ScheduleOwner,
    id: ScheduleId,
    monitorId?: MonitorId,
  ): Promise<NewSchedule> {
    const job = jobRequestOf(request.job);
    await verified(job, owner);
    const now = await store.clock();
    const { name, jitterMs, overlap, catchUp } = request;
    const rules: ScheduleRules = { timing: timingOf(request, now), jitterMs, overlap, catchUp };
    requireDistance(rules.timing, leastSeconds, place);
    const next = firstDue(id, rules, now, place);
    const { accountId, credentials } = owner;
    return {
      id,
      accountId,
      name,
      ...rules,
      job: sealScheduledJob(ownedBy(owner, { ...job, credentials, ...defined({ monitorId }) }), vault, {
        id,
        accountId,
      }),
      isPaused: false,
      nextTickAt: next.tickAt,
      dueAt: next.dueAt,
      createdAt: now,
    };
  }

  return {
    get,
    list: (query) => store.listSchedules(query),

    draft,
    async create(request, owner, id = jobs.newId() as string as ScheduleId) {
      const schedule = await draft(request, owner, id);
      await requireRoom(owner.accountId, id);
      return store.createSchedule(schedule);
    },

    async update(id, asked, owner) {
      const { accountId, credentials } = owner;
      const job = asked.job === undefined ? null : jobRequestOf(asked.job);
      if (job !== null) await verified(job, owner);
      return change(accountId, id, (schedule, now) => {
        const isTimed = [asked.cron, asked.every, asked.timeZone, asked.activeHours, asked.jitterMs].some(
          (field) => field !== undefined,
        );
        const rules: ScheduleRules = {
          timing: isTimed ? changedTiming(schedule.timing, asked, now) : schedule.timing,
          jitterMs: asked.jitterMs ?? schedule.jitterMs,
          overlap: asked.overlap ?? schedule.overlap,
          catchUp: asked.catchUp ?? schedule.catchUp,
        };
        if (asked.cron !== undefined || asked.every !== undefined)
          requireDistance(rules.timing, leastSeconds, place);
        const next = isTimed ? firstDue(schedule.id, rules, now, place) : null;
        return {
          ...schedule,
          ...rules,
          name: asked.name ?? schedule.name,
          job:
            job === null
              ? takenOver(schedule.job, owner)
              : sealScheduledJob(
                  ownedBy(owner, { ...job, credentials, ...monitorOf(schedule.job) }),
                  vault,
                  schedule,
                ),
          ...(next === null || schedule.isPaused ? {} : { nextTickAt: next.tickAt, dueAt: next.dueAt }),
        };
      });
    },

    pause: (account, id) =>
      change(account, id, (schedule) =>
        schedule.isPaused ? schedule : { ...schedule, isPaused: true, nextTickAt: null, dueAt: null },
      ),

    resume: (account, id) =>
      change(account, id, (schedule, now) => {
        if (!schedule.isPaused) return schedule;
        const next = firstDue(schedule.id, schedule, now, place);
        return { ...schedule, isPaused: false, nextTickAt: next.tickAt, dueAt: next.dueAt };
      }),

    async delete(account, id) {
      const schedule = await getFree(account, id);
      if (!(await store.deleteSchedule(account, schedule.id))) throw noSuchSchedule(id);
    },

    async runNow(account, id, runId = jobs.newId() as string as RunId) {
      const { id: scheduleId } = await getFree(account, id);
      jobs.requireRoom();
      await store.addRun({ id: runId, jobId: jobs.newId(), scheduleId, accountId: account });
      await decideRuns(runDeps, scheduleId);
      const run = await store.getRun(account, runId);
      if (run === null) throw noSuchSchedule(id);
      if (run.status === 'skipped' || run.status === 'refused') throw refusalOf(run);
      return run;
    },

    async runs({ id, ...query }) {
      const { id: scheduleId } = await get(query.accountId, id);
      return store.listRuns({ ...query, scheduleId });
    },

    async run(account, id, runId) {
      const { id: scheduleId } = await get(account, id);
      const run = await store.getRun(account, runId as RunId);
      if (run === null || run.scheduleId !== scheduleId) {
        throw new ScrapifieError('NOT_FOUND', `There is no run ${runId.slice(0, 100)}.`);
      }
      return run;
    },

    async next(account, id) {
      const schedule = await get(account, id);
      const { timing, nextTickAt } = schedule;
      const now = await store.clock();
      // A tick that is due and not decided yet is still to come.
      const after = nextTickAt === null ? now : Math.min(now, nextTickAt - 1);
      const ticks = upcomingTicks(timing, after, SHOWN_TICKS);
      return {
        timeZone: timing.timeZone,
        ticks: ticks.map((tickAt) => dueTick(schedule, tickAt) as DueTick),
      };
    },

    async preview(request) {
      const now = await store.clock();
      const timing = timingOf(request, now);
      requireDistance(timing, leastSeconds, place);
      firstDue('', { timing, jitterMs: 0 }, now, place);
      const ticks = upcomingTicks(timing, now, SHOWN_TICKS);
      return { timeZone: timing.timeZone, ticks: ticks.map((tickAt) => ({ tickAt, dueAt: tickAt })) };
    },
  };
}

const monitorOf = ({ monitorId }: ScheduledJob) => (monitorId === undefined ? {} : { monitorId });

function ownedBy({ keyId }: ScheduleOwner, { keyId: _former, ...job }: ScheduledJob): ScheduledJob {
  return keyId === undefined ? job : { ...job, keyId };
}

/** A key that may do less with credentials than the job does answers for the rest of the schedule only. */
function takenOver(job: ScheduledJob, owner: ScheduleOwner): ScheduledJob {
  const mayAsMuch = ACCESS_ORDER.indexOf(owner.credentials) >= ACCESS_ORDER.indexOf(job.credentials);
  return mayAsMuch ? ownedBy(owner, job) : job;
}

const noSuchSchedule = (id: string) =>
  new ScrapifieError('NOT_FOUND', `There is no schedule ${id.slice(0, 100)}.`);

/** The error of a run that got no job; of a refused one, what its job was refused for. */
function refusalOf({ id: runId, status, reason }: ReportedRun): ScrapifieError {
  const [, code = '', message = ''] = /^([A-Z_]+): (.*)$/s.exec(reason ?? '') ?? [];
  const details = { runId };
  if (status !== 'refused' || !(code in ERRORS)) {
    return new ScrapifieError('CONFLICT', `The schedule did not run. ${reason}.`, { details });
  }
  return new ScrapifieError(code as ErrorCode, message, { details });
}

function timingOf({ cron, every, timeZone, activeHours }: PreviewRequest, now: number): Timing {
  return {
    cron: cron ?? null,
    everyMs: every === undefined ? null : everyMsOf(every),
    anchorAt: now,
    timeZone,
    activeHours,
  };
}

function changedTiming(timing: Timing, asked: ScheduleChangeRequest, now: number): Timing {
  const changed = {
    ...timing,
    timeZone: asked.timeZone ?? timing.timeZone,
    activeHours: asked.activeHours === undefined ? timing.activeHours : asked.activeHours,
  };
  if (asked.cron !== undefined) return { ...changed, cron: asked.cron, everyMs: null };
  if (asked.every === undefined) return changed;
  return { ...changed, cron: null, everyMs: everyMsOf(asked.every), anchorAt: now };
}

/** Throws VALIDATION_FAILED when ticks follow each other faster than the server allows. */
function requireDistance(timing: Timing, leastSeconds: number, place: string): void {
  if (!hasTicksWithin(timing, leastSeconds * 1_000)) return;
  const message =
    `Two runs would be less than ${leastSeconds} s apart, which is the least on this server ` +
    '(SCRAPIFIE_MIN_SCHEDULE_SECONDS).';
  throw invalidRequest([{ field: `${place}${timing.cron === null ? 'every' : 'cron'}`, message }]);
}

/** The first tick from now on. Throws VALIDATION_FAILED when there is none. */
function firstDue(
  id: string,
  { timing, jitterMs }: Pick<ScheduleRules, 'timing' | 'jitterMs'>,
  now: number,
  place: string,
) {
  const next = dueTick({ id, timing, jitterMs }, nextTick(timing, now));
  if (next !== null) return next;
  throw invalidRequest([
    {
      field: `${place}activeHours`,
      message: 'The schedule never runs: none of its times falls into these hours.',
    },
  ]);
}

/** The fields that a job is refused for are fields of `job`. */
async function inJob(verify: () => Promise<void>): Promise<void> {
  try {
    await verify();
  } catch (error) {
    if (!isScrapifieError(error) || !Array.isArray(error.details)) throw error;
    const details = (error.details as FieldProblem[]).map(({ field, message }) => ({
      field: `job.${field}`,
      message,
    }));
    throw new ScrapifieError(error.code, error.message, { cause: error, details });
  }
}
