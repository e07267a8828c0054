import { createHash } from 'node:crypto';
import type { JobId, RunId, ScheduleId } from '../../core/model/ids.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { Consumer, Queue } from '../../core/ports/queue.ts';
import type { ScheduleStore } from '../../core/ports/schedule-store.ts';
import { formatJobId } from '../jobs/job-id.ts';
import { decideRuns, type RunDeps } from './schedule-runs.ts';
import { decideTicks, type TickDecision, type TickSource } from './ticks.ts';

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
const BATCH = 100;
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
