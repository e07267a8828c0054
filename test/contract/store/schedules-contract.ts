import { expect } from 'vitest';
import type { AccountId, JobId, RunId, ScheduleId } from '../../../src/core/model/ids.ts';
import {
  MOST_RUNS_KEPT,
  type NewSchedule,
  type ScheduleRun,
  type TickRecord,
} from '../../../src/core/ports/schedule-store.ts';
import type { Store } from '../../../src/core/ports/store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import { newTask, OPTIONS, T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const HOUR_MS = 3_600_000;
const SOMEBODY_ELSE = 'somebody-else' as AccountId;

let made = 0;
function newSchedule(accountId: AccountId, changes: Partial<NewSchedule> = {}): NewSchedule {
  made += 1;
  return {
    id: `schedule-${made}` as ScheduleId,
    accountId,
    name: 'nightly ✓',
    timing: { cron: '0 * * * *', everyMs: null, anchorAt: T0, timeZone: 'Europe/Berlin', activeHours: null },
    jitterMs: 0,
    overlap: 'skip',
    catchUp: 'one',
    job: {
      kind: 'scrape',
      request: { url: 'https://example.com/ü' },
      sealed: 'c2VhbGVk',
      credentials: 'use',
    },
    isPaused: false,
    nextTickAt: T0 + HOUR_MS,
    dueAt: T0 + HOUR_MS + 5,
    createdAt: T0,
    ...changes,
  };
}

const tickRun = (schedule: NewSchedule, tickAt: number) => ({
  id: `run-${schedule.id}-${tickAt}` as RunId,
  jobId: `job-${schedule.id}-${tickAt}` as JobId,
  tickAt,
  isLate: false,
});

function tickRecord(schedule: NewSchedule, changes: Partial<TickRecord> = {}): TickRecord {
  const tickAt = changes.nextTickAt ?? schedule.nextTickAt ?? 0;
  return {
    scheduleId: schedule.id,
    revision: 1,
    nextTickAt: tickAt,
    runs: [tickRun(schedule, tickAt)],
    missed: null,
    next: { tickAt: tickAt + HOUR_MS, dueAt: tickAt + HOUR_MS },
    ...changes,
  };
}

/** A schedule with one open run of its first tick. */
async function withOpenRun(store: TimedStore, changes: Partial<NewSchedule> = {}) {
  const schedule = newSchedule(await store.defaultAccount(), changes);
  await store.plain.createSchedule(schedule);
  store.at(T0 + 2 * HOUR_MS);
  expect(await store.plain.recordTicks(tickRecord(schedule))).toBe(true);
  return { schedule, run: tickRun(schedule, T0 + HOUR_MS) };
}

const startJob = (store: Store, schedule: NewSchedule, run: Pick<ScheduleRun, 'id' | 'jobId'>) =>
  store.createJob(
    {
      id: run.jobId,
      accountId: schedule.accountId,
      kind: 'scrape',
      options: OPTIONS,
      seeds: ['https://example.com/'],
      run: { id: run.id, scheduleId: schedule.id },
    },
    [newTask('https://example.com/')],
  );

async function historyOf({ plain }: TimedStore, { accountId, id }: NewSchedule) {
  return (await plain.listRuns({ accountId, scheduleId: id, limit: 100 })).items;
}

/** Schedules: each tick is decided once, and each run has one job at most. */
export function schedulesContract(holds: Claim<TimedStore>): void {
  holds('keeps a schedule as it was given, once for its id', async (store, opened) => {
    const schedule = newSchedule(await store.defaultAccount());
    const kept = await store.createSchedule(schedule);
    expect(kept).toEqual({ ...schedule, revision: 1, updatedAt: T0 });
    expect(await store.createSchedule({ ...schedule, name: 'another' })).toEqual(kept);
    expect(await store.getSchedule(SOMEBODY_ELSE, schedule.id)).toBeNull();
    expect(await store.deleteSchedule(SOMEBODY_ELSE, schedule.id)).toBe(false);
    const other = newSchedule(schedule.accountId);
    await store.createSchedule(other);
    expect(await store.deleteSchedule(other.accountId, other.id)).toBe(true);
    expect(await store.getSchedule(other.accountId, other.id)).toBeNull();
    await afterKill(opened, async (again) => {
      expect(await again.getSchedule(schedule.accountId, schedule.id)).toEqual(kept);
    });
  });

  holds('tells how late the schedule is that is due for longest', async (store) => {
    const schedule = newSchedule(await store.defaultAccount());
    await store.plain.createSchedule(schedule);
    expect(await store.at(T0 + HOUR_MS - 1).workload()).toMatchObject({ scheduleOverdueMs: 0 });
    const late = (schedule.dueAt ?? 0) + 5_000;
    expect(await store.at(late).workload()).toMatchObject({ scheduleOverdueMs: 5_000 });
    expect(await store.plain.recordTicks(tickRecord(schedule))).toBe(true);
    expect(await store.at(late).workload()).toMatchObject({ scheduleOverdueMs: 0 });
  });

  holds('lists and counts schedules of one account, newest first, page by page', async (store) => {
    const accountId = await store.defaultAccount();
    const ids: ScheduleId[] = [];
    for (let index = 0; index < 5; index++) {
      const schedule = newSchedule(accountId);
      await store.createSchedule(schedule);
      ids.unshift(schedule.id);
    }
    const first = await store.listSchedules({ accountId, limit: 3 });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const rest = await store.listSchedules({ accountId, limit: 3, cursor: first.nextCursor ?? '' });
    expect(rest.items.map(({ id }) => id)).toEqual(ids.slice(3));
    expect(rest.nextCursor).toBeNull();
    expect((await store.listSchedules({ accountId: SOMEBODY_ELSE, limit: 3 })).items).toEqual([]);
    expect(await store.countSchedules(accountId)).toBe(5);
    expect(await store.countSchedules(SOMEBODY_ELSE)).toBe(0);
  });

  holds('changes the revision of a schedule that was read, and no other', async (store) => {
    const schedule = newSchedule(await store.defaultAccount());
    await store.createSchedule(schedule);
    store.at(T0 + 7);
    const change = {
      ...schedule,
      revision: 1,
      name: 'weekly',
      isPaused: false,
      nextTickAt: null,
      dueAt: null,
    };
    expect(await store.plain.updateSchedule({ ...change, accountId: SOMEBODY_ELSE })).toBeNull();
    expect(await store.plain.updateSchedule(change)).toMatchObject({
      name: 'weekly',
      revision: 2,
      nextTickAt: null,
      createdAt: T0,
      updatedAt: T0 + 7,
    });
    expect(await store.plain.updateSchedule(change)).toBeNull();
  });

  holds('has schedules due by its own clock, those due first at first', async (store) => {
    const accountId = await store.defaultAccount();
    const late = newSchedule(accountId, { dueAt: T0 + 3_000 });
    const early = newSchedule(accountId, { dueAt: T0 + 1_000 });
    for (const each of [late, early, newSchedule(accountId, { nextTickAt: null, dueAt: null })]) {
      await store.createSchedule(each);
    }
    store.at(T0 + 999);
    expect(await store.plain.listDueSchedules(10)).toEqual({ now: T0 + 999, items: [] });
    store.at(T0 + 3_000);
    const due = await store.plain.listDueSchedules(10);
    expect(due.items.map(({ id }) => id)).toEqual([early.id, late.id]);
    expect((await store.plain.listDueSchedules(1)).items.map(({ id }) => id)).toEqual([early.id]);
  });

  holds('decides a tick once, however many try', async (store) => {
    const schedule = newSchedule(await store.defaultAccount());
    await store.plain.createSchedule(schedule);
    store.at(T0 + HOUR_MS + 5);
    const record = tickRecord(schedule);
    const tried = await Promise.all(Array.from({ length: 8 }, () => store.plain.recordTicks(record)));
    expect(tried.filter(Boolean)).toHaveLength(1);
    expect(await historyOf(store, schedule)).toMatchObject([{ tickAt: T0 + HOUR_MS, status: 'pending' }]);
    expect(await store.getSchedule(schedule.accountId, schedule.id)).toMatchObject({
      nextTickAt: T0 + 2 * HOUR_MS,
      revision: 1,
    });
  });

  holds('decides no tick that is not due, changed, paused or gone', async (store) => {
    const schedule = newSchedule(await store.defaultAccount());
    await store.plain.createSchedule(schedule);
    store.at(T0 + HOUR_MS + 4);
    expect(await store.plain.recordTicks(tickRecord(schedule))).toBe(false);
    store.at(T0 + HOUR_MS + 5);
    expect(await store.plain.recordTicks(tickRecord(schedule, { revision: 2 }))).toBe(false);
    expect(await store.plain.recordTicks(tickRecord(schedule, { nextTickAt: T0 }))).toBe(false);
    await store.plain.updateSchedule({ ...schedule, revision: 1, isPaused: true });
    expect(await store.plain.recordTicks(tickRecord(schedule, { revision: 2 }))).toBe(false);
    await store.deleteSchedule(schedule.accountId, schedule.id);
    expect(await store.plain.recordTicks(tickRecord(schedule, { revision: 2 }))).toBe(false);
    expect(await historyOf(store, schedule)).toEqual([]);
  });

  holds('gives a tick that the history knows no further run', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    await store.plain.updateSchedule({ ...schedule, revision: 1 });
    const again = { ...run, id: 'another-run' as RunId, jobId: 'another-job' as JobId };
    expect(await store.plain.recordTicks(tickRecord(schedule, { revision: 2, runs: [again] }))).toBe(true);
    expect(await historyOf(store, schedule)).toMatchObject([{ id: run.id }]);
  });

  holds('records missed ticks as one entry', async (store) => {
    const schedule = newSchedule(await store.defaultAccount());
    await store.plain.createSchedule(schedule);
    store.at(T0 + 5 * HOUR_MS);
    const first = tickRun(schedule, T0 + HOUR_MS);
    const late = { ...tickRun(schedule, T0 + 5 * HOUR_MS), isLate: true };
    const missed = { ...first, lastAt: T0 + 4 * HOUR_MS, count: 4 };
    expect(await store.plain.recordTicks(tickRecord(schedule, { runs: [late], missed }))).toBe(true);
    expect(await historyOf(store, schedule)).toMatchObject([
      { tickAt: T0 + 5 * HOUR_MS, isLate: true, status: 'pending', missed: null },
      {
        tickAt: T0 + HOUR_MS,
        status: 'missed',
        missed: { lastAt: T0 + 4 * HOUR_MS, count: 4 },
        settledAt: T0 + 5 * HOUR_MS,
      },
    ]);
    expect(await store.plain.recordTicks(tickRecord(schedule, { runs: [late], missed }))).toBe(false);
    const { accountId } = schedule;
    const events = await eventsUntil(store, ({ length }) => length > 0, { accountId });
    expect(events).toMatchObject([
      {
        type: 'schedule.missed',
        data: {
          scheduleId: schedule.id,
          name: schedule.name,
          firstAt: new Date(T0 + HOUR_MS).toISOString(),
          lastAt: new Date(T0 + 4 * HOUR_MS).toISOString(),
          count: 4,
        },
      },
    ]);
  });

  holds('makes the job of a run once, and starts the run with it', async (store, opened) => {
    const { schedule, run } = await withOpenRun(store);
    const tried = await Promise.allSettled(
      Array.from({ length: 6 }, () => startJob(store.plain, schedule, run)),
    );
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await store.getJob(run.jobId)).toMatchObject({ scheduleId: schedule.id });
    expect(await store.plain.listOpenRuns({ limit: 10 })).toEqual([]);
    await afterKill(opened, async (again) => {
      expect(await historyOf(again, schedule)).toMatchObject([
        { id: run.id, jobId: run.jobId, status: 'started', jobStatus: 'queued', settledAt: T0 + 2 * HOUR_MS },
      ]);
    });
  });

  holds('makes no job for a run that is not open', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    expect(await store.plain.settleRun(run.id, { status: 'skipped', reason: 'not now' })).toBe(true);
    await expect(startJob(store.plain, schedule, run)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await store.getJob(run.jobId)).toBeNull();
    expect(await store.countOpenTasks()).toBe(0);
    expect(await store.plain.settleRun(run.id, { status: 'refused', reason: 'again' })).toBe(false);
    expect(await historyOf(store, schedule)).toMatchObject([{ status: 'skipped', reason: 'not now' }]);
  });

  holds('makes no job while another one of the schedule goes on', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    await startJob(store.plain, schedule, run);
    const manual = { id: 'manual' as RunId, jobId: 'manual-job' as JobId };
    const { accountId, id: scheduleId } = schedule;
    await store.plain.addRun({ ...manual, accountId, scheduleId });
    await expect(startJob(store.plain, schedule, manual)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await store.plain.listOpenRuns({ limit: 10 })).toMatchObject([
      { run: { id: 'manual', trigger: 'manual' }, going: [run.jobId], isBehind: false },
    ]);
    await store.plain.cancelJob(run.jobId);
    expect(await store.plain.listOpenRuns({ limit: 10 })).toMatchObject([{ going: [] }]);
    expect(await startJob(store.plain, schedule, manual)).toMatchObject({ scheduleId });
  });

  holds('lists runs that wait when no job of their schedule goes on', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    await startJob(store.plain, schedule, run);
    const second = tickRecord(schedule, { nextTickAt: T0 + 2 * HOUR_MS });
    expect(await store.plain.recordTicks(second)).toBe(true);
    const waiting = second.runs[0]?.id as RunId;
    expect(await store.plain.settleRun(waiting, { status: 'waiting', reason: 'behind a job' })).toBe(true);
    expect(await store.plain.settleRun(waiting, { status: 'waiting', reason: 'twice' })).toBe(false);
    expect(await store.plain.listOpenRuns({ limit: 10 })).toEqual([]);
    store.at(T0 + 3 * HOUR_MS);
    const third = tickRecord(schedule, { nextTickAt: T0 + 3 * HOUR_MS });
    expect(await store.plain.recordTicks(third)).toBe(true);
    expect(await store.plain.listOpenRuns({ limit: 10 })).toMatchObject([
      { run: { id: third.runs[0]?.id }, schedule: { id: schedule.id, name: schedule.name }, isBehind: true },
    ]);
    await store.plain.cancelJob(run.jobId);
    expect((await store.plain.listOpenRuns({ limit: 10 })).map((each) => each.run.id)).toEqual([
      waiting,
      third.runs[0]?.id,
    ]);
    expect(await store.plain.listOpenRuns({ limit: 10, scheduleId: 'other' as ScheduleId })).toEqual([]);
  });

  holds('tells of open runs whose account is disabled', async (store) => {
    const { schedule } = await withOpenRun(store);
    expect(await store.plain.listOpenRuns({ limit: 10 })).toMatchObject([{ isDisabled: false }]);
    await store.plain.changeAccount(schedule.accountId, { isDisabled: true });
    expect(await store.plain.listOpenRuns({ limit: 10 })).toMatchObject([{ isDisabled: true }]);
  });

  holds('skips the open runs of a schedule that is paused', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    await store.plain.updateSchedule({ ...schedule, revision: 1, isPaused: true });
    expect(await historyOf(store, schedule)).toMatchObject([
      { id: run.id, status: 'skipped', reason: 'the schedule was paused' },
    ]);
    await expect(startJob(store.plain, schedule, run)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  holds('keeps the jobs of a schedule that is deleted, and finds jobs by schedule', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    await startJob(store.plain, schedule, run);
    const { accountId, id: scheduleId } = schedule;
    const jobs = async (id: ScheduleId) =>
      (await store.listJobs({ accountId, scheduleId: id, limit: 10 })).items;
    expect((await jobs(scheduleId)).map(({ id }) => id)).toEqual([run.jobId]);
    expect(await jobs('other' as ScheduleId)).toEqual([]);
    expect(await store.deleteSchedule(accountId, scheduleId)).toBe(true);
    expect((await jobs(scheduleId)).map(({ id }) => id)).toEqual([run.jobId]);
    expect(await store.getRun(accountId, run.id)).toBeNull();
  });

  holds('shows runs of one account, with the state of their jobs while there are any', async (store) => {
    const { schedule, run } = await withOpenRun(store);
    await startJob(store.plain, schedule, run);
    expect(await store.getRun(SOMEBODY_ELSE, run.id)).toBeNull();
    await store.plain.cancelJob(run.jobId);
    expect(await store.getRun(schedule.accountId, run.id)).toMatchObject({ jobStatus: 'cancelled' });
    await store.deleteJob(run.jobId);
    expect(await store.getRun(schedule.accountId, run.id)).toMatchObject({ jobStatus: null });
  });

  holds('forgets the oldest runs of a long history, and none that is open', async (store) => {
    const schedule = newSchedule(await store.defaultAccount());
    await store.plain.createSchedule(schedule);
    const ticks = Array.from({ length: MOST_RUNS_KEPT + 5 }, (_, index) => T0 + index);
    store.at(T0 + 2 * HOUR_MS);
    const runs = ticks.map((tickAt) => tickRun(schedule, tickAt));
    expect(await store.plain.recordTicks(tickRecord(schedule, { runs }))).toBe(true);
    for (const { id } of runs.slice(1, 5))
      await store.plain.settleRun(id, { status: 'skipped', reason: 'x' });
    const next = tickRecord(schedule, { nextTickAt: T0 + 2 * HOUR_MS });
    expect(await store.plain.recordTicks(next)).toBe(true);
    expect(await store.getRun(schedule.accountId, runs[0]?.id as RunId)).toMatchObject({ status: 'pending' });
    expect(await store.getRun(schedule.accountId, runs[1]?.id as RunId)).toBeNull();
    expect(await store.getRun(schedule.accountId, runs[5]?.id as RunId)).not.toBeNull();
  });
}
