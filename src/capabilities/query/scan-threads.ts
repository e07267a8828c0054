import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { siblingModule } from '../../lib/threads/thread.ts';
import { ThreadClient, type ThreadEnd } from '../../lib/threads/thread-client.ts';
import type { ScanAnswer, ScanBatch, ScanMethods } from './scan-thread.ts';

/** A thread that one query has for itself. */
export interface ScanThread {
  /** Throws QUERY_TIMEOUT when there is no answer by then, and QUERY_TOO_LARGE when its memory does not suffice. */
  ask(batch: ScanBatch, endsAt: number): Promise<ScanAnswer>;
  /** Gives the thread back; one that is at work, or failed, is ended. */
  release(): void;
}

export interface ScanThreads {
  take(): ScanThread;
}

/** One thread waits this long for the next query. */
const IDLE_MS = 30_000;

export const tooLong = () =>
  new ScrapifieError('QUERY_TIMEOUT', 'The query took too long. Narrow it, by `jobId` for example.');

/** Starts threads when they are needed; their number is that of the queries that run at once. */
export function createScanThreads(): ScanThreads {
  let idle: { readonly thread: ThreadClient<ScanMethods>; readonly timer: NodeJS.Timeout } | null = null;

  function threadFor(): ThreadClient<ScanMethods> {
    const waiting = idle;
    idle = null;
    clearTimeout(waiting?.timer);
    return waiting?.thread ?? openThread();
  }

  function keep(thread: ThreadClient<ScanMethods>): void {
    if (idle !== null) {
      void thread.close();
      return;
    }
    const timer = setTimeout(() => {
      idle = null;
      void thread.close();
    }, IDLE_MS).unref();
    idle = { thread, timer };
  }

  return {
    take() {
      const thread = threadFor();
      let isSound = true;
      return {
        async ask(batch, endsAt) {
          isSound = false;
          const answer = await thread.call('add', [batch], {
            limitMs: Math.max(1, endsAt - performance.now()),
            transfer: batch.pages.flatMap(({ record }) =>
              record === null ? [] : [record.buffer as ArrayBuffer],
            ),
          });
          isSound = true;
          return answer;
        },
        release() {
          if (isSound) keep(thread);
          else void thread.close();
        },
      };
    },
  };
}

const openThread = () =>
  new ThreadClient<ScanMethods>({
    name: 'query scan',
    entry: siblingModule('./scan-thread.ts', import.meta.url),
    memory: { youngMb: 32, oldMb: 384 },
    errorOf,
  });

const errorOf = ({ reason }: ThreadEnd) =>
  reason === 'late'
    ? tooLong()
    : new ScrapifieError('QUERY_TOO_LARGE', 'The query needs more memory than it may have. Narrow it.');
