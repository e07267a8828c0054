import { createHash } from 'node:crypto';
import { isScrapifieError, type ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId, RunId, ScheduleId } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Consumer, Queue } from '../../core/ports/queue.ts';
import type {
  OpenRun,
  RunEnd,
  Schedule,
  ScheduleRun,
  ScheduleStore,
} from '../../core/ports/schedule-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { defined } from '../../lib/defined.ts';
import { formatJobId } from '../jobs/job-id.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { openScheduledJob } from '../sessions/job-secrets.ts';
import type { Vault } from '../sessions/vault.ts';
import { readJobRequest } from './schedule-request.ts';
import { decideTicks, type TickDecision, type TickSource } from './ticks.ts';

export interface RunDeps {
  readonly store: Pick<Store, 'listOpenRuns' | 'settleRun' | 'listKeys'>;
  readonly jobs: Pick<Jobs, 'start' | 'cancel'>;
  readonly vault: Vault | null;
  /** Called with each run that was decided for good. */
  readonly onDecided?: (decision: 'started' | 'skipped' | 'refused', run: ScheduleRun) => void;
}

const KEY_REVOKED = 'The key that made it was revoked; save the schedule again with another key.';
const BATCH = 100;
/** Runs of one schedule are decided one after the other; more than these wait for the next call. */
const MAX_ROUNDS = 100;

/**
 * Decides runs that are open: each gets its job, waits, is skipped or refused, with the reason. Any number of processes may
 * do so at once and stop at any point: the store makes the job of a run only while the run is open and no other job of
 * the schedule goes on, so a decision that came too late changes nothing.
 */
export async function decideRuns(deps: RunDeps, scheduleId?: ScheduleId): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const open = await deps.store.listOpenRuns({ limit: BATCH, scheduleId });
    const seen = new Set<ScheduleId>();
    let decided = 0;
    for (const each of open) {
      // What is known of a schedule is out of date once one of its runs was decided.
      if (seen.has(each.schedule.id)) continue;
      seen.add(each.schedule.id);
      if (await decide(deps, each)) decided += 1;
    }
    if (decided === 0) return;
  }
}

/** False when the run is as open as before. */
async function decide(deps: RunDeps, open: OpenRun): Promise<boolean> {
  const { run, schedule, going, isBehind, isDisabled } = open;
  const { store, jobs } = deps;
  const [job] = going;
  if (isDisabled) return settle(deps, run, { status: 'skipped', reason: 'The account is disabled' });
  if (await isKeyRevoked(store, schedule)) {
    return settle(deps, run, { status: 'refused', reason: `FORBIDDEN: ${KEY_REVOKED}` });
  }
  if (job !== undefined && schedule.overlap === 'skip') {
    return settle(deps, run, { status: 'skipped', reason: `The job before goes on: ${job}` });
  }
  if (job !== undefined && schedule.overlap === 'queue') {
    return settle(
      deps,
      run,
      isBehind
        ? { status: 'skipped', reason: 'Another run waits for the job before' }
        : { status: 'waiting', reason: `The job before goes on: ${job}` },
    );
  }
  for (const each of going) await cancelled(jobs, open, each);
  return start(deps, open);
}

async function settle({ store, onDecided }: RunDeps, run: ScheduleRun, end: RunEnd): Promise<boolean> {
  const isSettled = await store.settleRun(run.id, end);
  if (isSettled && end.status !== 'waiting') onDecided?.(end.status, run);
  return isSettled;
}

/** A key that has expired or got another secret was in order, and so is what it was used for. */
export async function isKeyRevoked(
  store: Pick<RunDeps['store'], 'listKeys'>,
  { accountId, job }: Schedule,
): Promise<boolean> {
  if (job.keyId === undefined) return false;
  const keys = await store.listKeys(accountId);
  return keys.some(({ id, revokedAt }) => id === job.keyId && revokedAt !== null);
}

async function cancelled(jobs: RunDeps['jobs'], { schedule }: OpenRun, job: string): Promise<void> {
  try {
    await jobs.cancel(job, schedule.accountId);
  } catch (error) {
    // The job has ended or was deleted meanwhile, which has the same effect.
    if (!isScrapifieError(error) || (error.code !== 'CONFLICT' && error.code !== 'NOT_FOUND')) throw error;
  }
}

async function start(deps: RunDeps, { run, schedule }: OpenRun): Promise<boolean> {
  const { jobs, vault, onDecided } = deps;
  try {
    const { kind, request, credentials, keyId, monitorId } = openScheduledJob(schedule.job, vault, schedule);
    await jobs.start(readJobRequest(kind, request), schedule.accountId, {
      id: run.jobId,
      credentials,
      run: { id: run.id, scheduleId: schedule.id },
      ...(monitorId === undefined ? {} : { monitor: { id: monitorId, round: 0 } }),
      startedBy: {
        actor: `schedule ${schedule.id}`,
        address: 'scheduler',
        ...defined({ keyId }),
      },
    });
    onDecided?.('started', run);
    return true;
  } catch (error) {
    // Another process has decided the run, or a job of the schedule has begun: the next look will tell.
    if (isScrapifieError(error) && error.code === 'CONFLICT') return false;
    if (isScrapifieError(error) && isTriedAgain(error)) throw error;
    const [code, message] = isScrapifieError(error)
      ? [error.code, error.message]
      : ['INTERNAL', 'The program failed to make the job; its log has more'];
    await settle(deps, run, { status: 'refused', reason: `${code}: ${message}` });
    if (!isScrapifieError(error)) throw error;
    return true;
  }
}

/** The store is away, there is no room, or this process stops: the run stays open. All else would be the same again. */
const TRIED_AGAIN: ReadonlySet<string> = new Set(['STORE_UNAVAILABLE', 'DISK_FULL', 'SHUTTING_DOWN']);
const isTriedAgain = ({ code }: ScrapifieError) => TRIED_AGAIN.has(code);

/** Runs schedules that are due; in any number of processes at once. */
interface ScheduleClock {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface ScheduleClockDeps extends RunDeps {
  readonly store: RunDeps['store'] & Pick<ScheduleStore, 'listDueSchedules' | 'recordTicks'>;
  readonly queue: Pick<Queue, 'every'>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Done at the end of each turn. */
  readonly alongside?: () => Promise<void>;
}

const TICK_MS = 1_000;
/** Schedules decided in one turn; the rest is due in the next. */
const MAX_BATCHES = 20;

export function createScheduleClock(deps: ScheduleClockDeps): ScheduleClock {
  let timer: Consumer | null = null;
  return {
    async start() {
      timer = await deps.queue.every('run-schedules', TICK_MS, () => runSchedules(deps));
    },
    async stop() {
      await timer?.stop();
    },
  };
}

/** One turn: decides the ticks that are due by the store's clock, then the runs that are open. */
export async function runSchedules(deps: Omit<ScheduleClockDeps, 'queue'>): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    if ((await recordDue(deps)) < BATCH) break;
  }
  await decideRuns(deps);
  await deps.alongside?.();
}

/** A schedule that this program cannot read must not keep the others from running. */
function decided(
  schedule: TickSource,
  now: number,
  logger: ScheduleClockDeps['logger'],
): TickDecision | null {
  try {
    return decideTicks(schedule, now);
  } catch (error) {
    logger.warn({ err: error, scheduleId: schedule.id }, 'schedule: its ticks could not be decided');
    return null;
  }
}

/** Returns how many schedules were found due and moved on. */
async function recordDue({ store, logger }: Omit<ScheduleClockDeps, 'queue'>): Promise<number> {
  const { now, items } = await store.listDueSchedules(BATCH);
  let recorded = 0;
  for (const schedule of items) {
    const { id, revision, nextTickAt } = schedule;
    if (nextTickAt === null) continue;
    const decision = decided({ ...schedule, nextTickAt }, now, logger);
    if (decision === null) continue;
    const { runs, missed, next } = decision;
    const isRecorded = await store.recordTicks({
      scheduleId: id,
      revision,
      nextTickAt,
      runs: runs.map((run) => ({ ...run, ...tickIds(id, run.tickAt) })),
      missed:
        missed === null
          ? null
          : { ...tickIds(id, missed.firstAt), ...missed, tickAt: missed.firstAt, isLate: true },
      next,
    });
    if (isRecorded) recorded += 1;
    if (isRecorded && missed !== null) {
      logger.warn({ scheduleId: id, count: missed.count }, 'schedule: ticks were missed');
    }
  }
  return recorded;
}

/** The ids of the run of a tick and of its job: the same wherever and whenever they are asked for. */
function tickIds(schedule: ScheduleId, tickAt: number): { readonly id: RunId; readonly jobId: JobId } {
  return {
    id: idFrom('run', schedule, tickAt) as string as RunId,
    jobId: idFrom('job', schedule, tickAt),
  };
}

function idFrom(what: string, schedule: ScheduleId, tickAt: number): JobId {
  const digest = createHash('sha256').update(`${what}:${schedule}:${tickAt}`).digest();
  const chance = (at: number) => digest.readUInt32BE(at) / 0x1_0000_0000;
  return formatJobId({ ms: tickAt, count: digest.readUInt16BE(8) & 0xfff }, chance(0), chance(4));
}
