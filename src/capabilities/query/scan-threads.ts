import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { listenOnce } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ScanAnswer, ScanBatch } from './scan-thread.ts';

/** A thread that one query has for itself. */
export interface ScanThread {
  /** Throws QUERY_TIMEOUT when there is no answer by then, and QUERY_TOO_LARGE when its memory does not suffice. */
  ask(batch: ScanBatch, endsAt: number): Promise<Exclude<ScanAnswer, { readonly kind: 'failed' }>>;
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
  let idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | null = null;

  function workerFor(): Worker {
    const waiting = idle;
    idle = null;
    if (waiting === null) return startWorker();
    clearTimeout(waiting.timer);
    waiting.worker.removeAllListeners('exit');
    waiting.worker.ref();
    return waiting.worker;
  }

  function keep(worker: Worker): void {
    if (idle !== null) {
      void worker.terminate();
      return;
    }
    worker.unref();
    const timer = setTimeout(() => {
      idle = null;
      void worker.terminate();
    }, IDLE_MS).unref();
    listenOnce(worker, 'exit', () => {
      clearTimeout(timer);
      idle = null;
    });
    idle = { worker, timer };
  }

  return {
    take() {
      const worker = workerFor();
      let isSound = true;
      return {
        async ask(batch, endsAt) {
          isSound = false;
          const answer = await answerOf(worker, batch, endsAt);
          isSound = answer.kind !== 'failed';
          if (answer.kind !== 'failed') return answer;
          if (answer.code === null) throw new Error(answer.message);
          throw new ScrapifieError(answer.code, answer.message);
        },
        release() {
          if (isSound) keep(worker);
          else void worker.terminate();
        },
      };
    },
  };
}

function startWorker(): Worker {
  const file = import.meta.url.endsWith('.ts') ? './scan-thread.ts' : './scan-thread.js';
  const worker = new Worker(new URL(file, import.meta.url), {
    name: 'query scan',
    resourceLimits: { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 384 },
  });
  // What a thread that runs out of memory says is told by its end.
  worker.on('error', () => undefined);
  return worker;
}

async function answerOf(worker: Worker, batch: ScanBatch, endsAt: number): Promise<ScanAnswer> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), Math.max(1, endsAt - performance.now()));
  const buffers = batch.pages.flatMap(({ record }) =>
    record === null ? [] : [record.buffer as ArrayBuffer],
  );
  worker.postMessage(batch, buffers);
  const answered = once(worker, 'message', { signal: over.signal }) as Promise<[ScanAnswer]>;
  const ended = once(worker, 'exit', { signal: over.signal }).then(() => null);
  try {
    const found = await Promise.race([answered, ended]);
    if (found !== null) return found[0];
    throw new ScrapifieError('QUERY_TOO_LARGE', 'The query needs more memory than it may have. Narrow it.');
  } catch (error) {
    throw over.signal.aborted ? tooLong() : error;
  } finally {
    clearTimeout(timer);
    over.abort();
    await Promise.allSettled([answered, ended]);
  }
}
