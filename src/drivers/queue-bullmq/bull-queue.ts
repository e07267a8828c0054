import { randomBytes } from 'node:crypto';
import { Queue as BullQueue, Job, type JobsOptions } from 'bullmq';
import type { KeyType } from '../redis-link/key-types.ts';
import type { RedisLink } from '../redis-link/redis-link.ts';
import { priorityOf } from './rank-priority.ts';

/** A job to be; `foldBy` makes further ones of the same name fold into it. */
export interface NewQueueJob {
  readonly id: string;
  readonly rank: number;
  readonly data: unknown;
  readonly foldBy?: string;
}

/** The producing side of one BullMQ queue. */
export interface JobQueue {
  /** Runs an operation on it within the link's time limit. */
  run<T>(action: (bull: BullQueue) => Promise<T>): Promise<T>;
  /** Resolves to the ids they have now: that of an earlier one where a job was folded. */
  add(jobs: readonly NewQueueJob[]): Promise<string[]>;
  /** The Redis key of a part of the queue, or of a job. */
  key(part: string): string;
  close(): Promise<void>;
}

/** Nothing reads BullMQ's stream of events; it is cut short so that it stays small. */
const EVENTS_KEPT = 100;

/** The keys of every queue of BullMQ, of those that we use. */
export const BULL_KEY_TYPES: readonly (readonly [part: string, type: KeyType])[] = [
  ['active', 'list'],
  ['completed', 'zset'],
  ['delayed', 'zset'],
  ['events', 'stream'],
  ['failed', 'zset'],
  ['id', 'string'],
  ['limiter', 'string'],
  ['marker', 'zset'],
  ['meta', 'hash'],
  ['paused', 'list'],
  ['pc', 'string'],
  ['prioritized', 'zset'],
  ['repeat', 'zset'],
  ['stalled', 'set'],
  ['stalled-check', 'string'],
  ['wait', 'list'],
];

export function openJobQueue(link: RedisLink, prefix: string, name: string): JobQueue {
  let opened: BullQueue | undefined;

  /** Returns a queue that works: a queue that was opened while Redis was away fails for good, so it is opened again. */
  async function usable(): Promise<BullQueue> {
    opened ??= open();
    const bull = opened;
    try {
      await bull.waitUntilReady();
      return bull;
    } catch (error) {
      if (opened === bull) opened = undefined;
      await bull.close().catch(() => undefined);
      throw error;
    }
  }

  function open(): BullQueue {
    const bull = new BullQueue(name, {
      connection: link.client,
      prefix,
      streams: { events: { maxLen: EVENTS_KEPT } },
    });
    // What fails here rejects where it was asked for, or the link tells of it.
    bull.on('error', () => undefined);
    return bull;
  }

  function jobOf(bull: BullQueue, { id, rank, data, foldBy }: NewQueueJob) {
    const options: JobsOptions = {
      priority: priorityOf(rank),
      removeOnComplete: true,
      removeOnFail: true,
      ...(foldBy === undefined ? {} : { deduplication: { id: foldBy, keepLastIfActive: true } }),
    };
    return { jobId: id, job: new Job(bull, name, data, options, id).asJSON() };
  }

  const run: JobQueue['run'] = (action) => link.run(async () => action(await usable()));
  return {
    run,
    add: (jobs) => run((bull) => bull.getBackend().addJobs(jobs.map((job) => jobOf(bull, job)))),
    key: (part) => `${prefix}:${name}:${part}`,
    close: async () => opened?.close(),
  };
}

/** An id that was never used before: after a flush, a job must not be taken for an older one that still runs. */
export function freshJobId(of: string): string {
  return `${of.replaceAll(':', '.')}~${randomBytes(6).toString('base64url')}`;
}
