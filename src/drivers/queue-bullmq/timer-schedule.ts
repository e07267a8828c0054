import type { TimerName } from '../../core/ports/queue.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import type { JobQueue } from './bull-queue.ts';

/** How often a process that runs a timer checks that Redis still has it. */
const LOOK_MS = 2_000;
/** What a tick may be late by, worker hung and replaced included, before the schedule counts as astray. */
const LATE_MS = 60_000;

/**
 * Keeps the schedule of a timer in Redis: as a BullMQ job scheduler, in a queue that runs one job at a time. Returns
 * what ends that care; the schedule itself stays for the next process, with at most one tick waiting.
 */
export async function keepSchedule(
  link: RedisLink,
  queue: JobQueue,
  name: TimerName,
  everyMs: number,
  now: () => number,
): Promise<() => void> {
  async function schedule(): Promise<void> {
    await queue.run((bull) => bull.setGlobalConcurrency(1));
    const opts = { removeOnComplete: true, removeOnFail: true };
    await queue.run((bull) => bull.upsertJobScheduler(name, { every: everyMs }, { name, opts }));
  }

  /** Redis may have been emptied, or a process whose clock runs ahead may have put the next tick far off. */
  async function mend(): Promise<void> {
    const next = await link.run((client) => client.zscore(queue.key('repeat'), name));
    const inMs = Number(next) - now();
    if (next !== null && inMs < 2 * everyMs + LOOK_MS && inMs > -2 * everyMs - LATE_MS) return;
    if (next !== null) await queue.run((bull) => bull.removeJobScheduler(name));
    await schedule();
  }

  await schedule();
  let isMending = false;
  const look = setInterval(() => {
    if (isMending) return;
    isMending = true;
    mend()
      .catch(() => undefined)
      .finally(() => {
        isMending = false;
      });
  }, LOOK_MS);
  return () => clearInterval(look);
}
