import type { JobId } from '../../../core/model/ids.ts';
import type { Bus } from '../../../core/ports/bus.ts';
import type { Consumer, Queue } from '../../../core/ports/queue.ts';
import type { Store } from '../../../core/ports/store.ts';
import { traceJobEnd } from '../../../core/tracing/tracing.ts';

/** The chores that keep an installation going, done by one of its processes at a time, however many run it. */
export interface Maintenance {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Chore {
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface MaintenanceDeps {
  readonly store: Pick<Store, 'expireJobs' | 'getJob' | 'offerHosts' | 'foldUsage'>;
  readonly queue: Pick<Queue, 'every' | 'offer'>;
  readonly bus: Bus;
  readonly now: () => number;
  /** Stops the jobs of accounts that store as much as they may. */
  readonly stopFullAccounts: () => Promise<unknown>;
  /** Deletes sessions that ended long ago. */
  readonly sweepSessions: () => Promise<unknown>;
  /** Deletes some of the rows that are marked as deleted. */
  readonly purge: (signal: AbortSignal) => Promise<unknown>;
  /** Deletes what need not be kept, then blobs that nothing refers to, and how often; null: never. The signal ends when maintenance stops. */
  readonly cleanup: Chore | null;
  /** Makes a backup when one is due, and how often it looks; null: never. */
  readonly backups: Chore | null;
}

const TICK_MS = 1_000;
const SESSIONS_EVERY_MS = 60_000;
/** How long an account that stores as much as it may goes on storing. */
const ACCOUNTS_EVERY_MS = 10_000;
/** Hosts offered per tick: the queue folds those it has already, so this bounds one message, not the work. */
const MOST_OFFERED = 500;

/** Rows of the usage log that are added up per tick: more than a fleet writes in one. */
const MOST_FOLDED = 20_000;

export function createMaintenance(deps: MaintenanceDeps): Maintenance {
  const { store, queue, bus, now, sweepSessions, stopFullAccounts, purge, cleanup, backups } = deps;
  const stopping = new AbortController();
  let sessionsSweptAt = Number.NEGATIVE_INFINITY;
  let accountsCheckedAt = Number.NEGATIVE_INFINITY;
  const timers: Consumer[] = [];

  /** Stops jobs whose time is over; one with pages under way has not ended yet, and its last commit will say so. */
  async function expire(): Promise<void> {
    const stopped = await store.expireJobs();
    if (stopped.length === 0) return;
    const jobs = await Promise.all(stopped.map((id) => store.getJob(id)));
    const finished = jobs.flatMap((job): JobId[] => {
      if (job === null || job.finishedAt === null) return [];
      traceJobEnd(job);
      return [job.id];
    });
    bus.publish('job.changed', { jobs: stopped, finished });
  }

  /** Hosts with work and no owner that no wake-up told of. */
  async function sweep(): Promise<void> {
    const hosts = await store.offerHosts(MOST_OFFERED);
    if (hosts.length === 0) return;
    await queue.offer(
      'scrape-http',
      hosts.map(({ key, rank }) => ({ id: key, rank })),
    );
  }

  return {
    async start() {
      const ticking = await queue.every('cleanup-jobs', TICK_MS, async () => {
        await expire();
        await sweep();
        await store.foldUsage(MOST_FOLDED);
        await purge(stopping.signal);
        if (now() - accountsCheckedAt >= ACCOUNTS_EVERY_MS) {
          accountsCheckedAt = now();
          await stopFullAccounts();
        }
        if (now() - sessionsSweptAt < SESSIONS_EVERY_MS) return;
        sessionsSweptAt = now();
        await sweepSessions();
      });
      timers.push(ticking);
      if (cleanup !== null) {
        timers.push(await queue.every('cleanup-blobs', cleanup.everyMs, () => cleanup.run(stopping.signal)));
      }
      if (backups === null) return;
      timers.push(await queue.every('backups', backups.everyMs, () => backups.run(stopping.signal)));
    },
    async stop() {
      stopping.abort();
      await Promise.all(timers.map((timer) => timer.stop()));
    },
  };
}
