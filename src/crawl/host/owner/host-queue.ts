import { setTimeout as pause } from 'node:timers/promises';
import { type Logger, levelOfError } from '../../../core/observe/logger.ts';
import type { Consumer } from '../../../core/ports/queue.ts';

/**
 * Takes hosts from the queue while the store can be reached. A process that is cut off from the store could only keep
 * the hosts from other processes.
 */
export interface HostQueue {
  start(): Promise<void>;
  /** The store does not answer: takes nothing until it does. */
  suspend(): void;
  /** Takes nothing more; resolves when the running handlers are done. */
  stop(): Promise<void>;
}

export interface HostQueueOptions {
  readonly consume: () => Promise<Consumer>;
  /** Rejects while the store cannot be reached. */
  readonly reach: () => Promise<unknown>;
  readonly logger: Logger;
  readonly lookMs?: number;
}

export function createHostQueue({ consume, reach, logger, lookMs = 1_000 }: HostQueueOptions): HostQueue {
  let consumer: Consumer | null = null;
  /** Consumers that take nothing more and may still have handlers running. */
  const leaving = new Set<Promise<void>>();
  let isStopping = false;

  function leave({ stop }: Consumer): void {
    const left: Promise<void> = stop()
      .catch((error: unknown) =>
        logger[levelOfError(error)]({ err: error }, 'closing a queue consumer failed'),
      )
      .finally(() => leaving.delete(left));
    leaving.add(left);
  }

  async function resume(): Promise<void> {
    while (!isStopping && consumer === null) {
      await pause(lookMs, undefined, { ref: false });
      try {
        await Promise.race([reach(), pause(2 * lookMs, undefined, { ref: false }).then(tookTooLong)]);
        const next = await consume();
        if (isStopping) leave(next);
        else consumer = next;
      } catch {
        // The queue is still away, so the loop tries again.
      }
    }
    if (!isStopping) logger.info('store available: hosts are taken again');
  }

  return {
    async start() {
      consumer = await consume();
    },
    suspend() {
      if (consumer === null || isStopping) return;
      logger.warn('store unavailable: no hosts are taken until it answers');
      leave(consumer);
      consumer = null;
      void resume();
    },
    async stop() {
      isStopping = true;
      if (consumer !== null) leave(consumer);
      consumer = null;
      await Promise.all(leaving);
    },
  };
}

function tookTooLong(): never {
  throw new Error('no answer in time');
}
