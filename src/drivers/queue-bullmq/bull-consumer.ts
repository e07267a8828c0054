import { setTimeout as pause } from 'node:timers/promises';
import { type Job, WaitingError, Worker } from 'bullmq';
import { listen } from '../../core/errors/guarded.ts';
import type { Consumer } from '../../core/ports/queue.ts';
import { within } from '../../lib/waits.ts';
import { asQueueError } from '../redis-link/redis-error.ts';
import { closeClient, type RedisLink } from '../redis-link/redis-link.ts';

/** How soon a consumer that died or hangs is noticed: at most the lock and two checks later. */
export interface StallTimes {
  readonly lockMs: number;
  readonly checkMs: number;
}

export interface BullConsumerOptions {
  readonly link: RedisLink;
  readonly prefix: string;
  readonly name: string;
  readonly concurrency: number;
  readonly stall: StallTimes;
  /** Works on one job; must not reject. */
  readonly run: (job: Job) => Promise<void>;
  /** Called with errors other than a lost connection; none of them ends the consumer. */
  readonly onError: (error: Error) => void;
}

/** A run that is doubled does no harm: leases and epochs in the store see to it. So no number of stalls is too many. */
const NO_LIMIT = 1_000_000_000;
const OPEN_MS = 5_000;
const CLOSE_MS = 3_000;
const AWAY_MS = 200;
const RETRY_MS = 1_000;

/** Consumes jobs until it is stopped, through every outage in between. */
export async function startBullConsumer(options: BullConsumerOptions): Promise<Consumer> {
  const { link, concurrency, stall } = options;
  let running = 0;
  let isStopping = false;
  let stallCheck: NodeJS.Timeout | undefined;
  let whenIdle = (): void => undefined;

  async function work(job: Job, token?: string): Promise<void> {
    if (isStopping) {
      // Fetched before the consumer was told to stop: another consumer takes it.
      await job.moveToWait(token);
      throw new WaitingError();
    }
    running += 1;
    try {
      await options.run(job);
    } finally {
      running -= 1;
      if (running === 0) whenIdle();
    }
  }

  const client = link.patient();
  const worker = new Worker(options.name, work, {
    connection: client,
    prefix: options.prefix,
    concurrency,
    autorun: false,
    lockDuration: stall.lockMs,
    stalledInterval: stall.checkMs,
    maxStalledCount: NO_LIMIT,
    runRetryDelay: RETRY_MS,
  });
  listen(worker, 'error', (error: Error) => {
    if (isConnectionError(error) || client.status !== 'ready') return;
    options.onError(new Error(error.message));
    checkStallsAgain();
  });
  try {
    await within(OPEN_MS, worker.waitUntilReady());
  } catch (error) {
    worker.close().catch(() => undefined);
    await closeClient(client);
    throw asQueueError(error, link.address);
  }
  void keepRunning();

  /**
   * BullMQ ends its check for stalled jobs for good when Redis refuses a command of it (out of memory, a replica, a key
   * of a wrong type); a job that its worker has lost would then never be given to another. Starting the check anew
   * replaces one that still runs.
   */
  function checkStallsAgain(): void {
    if (isStopping) return;
    stallCheck ??= setTimeout(() => {
      stallCheck = undefined;
      if (!isStopping) worker.startStalledCheckTimer().catch(() => undefined);
    }, stall.checkMs).unref();
  }

  /** The loop of a worker is not meant to end by itself; should it, work would stop without a word. */
  async function keepRunning(): Promise<void> {
    while (!isStopping) {
      try {
        await worker.run();
      } catch (error) {
        options.onError(new Error(`The consumer of ${options.name} broke off: ${String(error)}`));
      }
      if (!isStopping) await pause(RETRY_MS);
    }
  }

  async function stop(): Promise<void> {
    isStopping = true;
    clearTimeout(stallCheck);
    const closed = worker.close();
    if (running > 0) {
      await new Promise<void>((resolve) => {
        whenIdle = resolve;
      });
    }
    // Without Redis the worker would wait to tell it; what it does not tell, the stalled check finds out.
    await within(client.status === 'ready' ? CLOSE_MS : AWAY_MS, closed).catch(() => undefined);
    await closeClient(client);
  }

  let stopped: Promise<void> | undefined;
  return {
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

function isConnectionError({ message }: Error): boolean {
  return /ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|Connection is closed|Socket closed/i.test(message);
}
