import { Worker } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { LaneAnswer, LaneCall, LaneReady, LaneTasks } from './lane-messages.ts';

/** One thread that compares, one call after the other. */
export interface ThreadLane<Tasks extends LaneTasks<Tasks>> {
  /**
   * Throws EXTRACTION_FAILED for a call that takes too long or too much memory, QUEUE_FULL when too many wait, and OVERLOADED
   * when no thread starts.
   */
  run<Name extends keyof Tasks & string>(
    task: Name,
    given: Tasks[Name]['given'],
  ): Promise<Tasks[Name]['found']>;
  close(): Promise<void>;
}

export interface ThreadLaneOptions {
  /** Longest time that one call may take, from when its thread takes calls. */
  readonly limitMs?: number;
  /** A thread that does not take calls by then is replaced. */
  readonly startMs?: number;
  readonly mostWaiting?: number;
  /** Heap of the thread; buffers, and so pictures, come on top. */
  readonly heapMb?: number;
}

const LIMIT_MS = 30_000;
/** Loading takes half a second; on a machine with fifteen times as much to do as it can, 24 seconds were seen. */
const START_MS = 30_000;
/** Threads that are started for one call. */
const MOST_STARTS = 2;
const MOST_WAITING = 64;
const HEAP_MB = 512;
/** A thread that has had nothing to do for so long is ended. */
const IDLE_MS = 10_000;

interface Waiting {
  readonly call: LaneCall;
  readonly resolve: (found: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The thread starts with the first call and keeps no process alive by itself. */
export function createThreadLane<Tasks extends LaneTasks<Tasks>>(
  name: string,
  file: URL,
  {
    limitMs = LIMIT_MS,
    startMs = START_MS,
    mostWaiting = MOST_WAITING,
    heapMb = HEAP_MB,
  }: ThreadLaneOptions = {},
): ThreadLane<Tasks> {
  const waiting: Waiting[] = [];
  let worker: Worker | null = null;
  let isReady = false;
  let starts = 0;
  let current: Waiting | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastId = 0;

  function startThread(): Worker {
    isReady = false;
    starts += 1;
    const started = new Worker(file, {
      name,
      resourceLimits: { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: heapMb },
    });
    listen(started, 'message', (answer: LaneAnswer | LaneReady | object) => {
      if (worker !== started) return;
      if ('isReady' in answer) takeCalls();
      // Under `node --watch`, Node.js reports the files that a thread loads through the same port.
      if ('id' in answer && answer.id === current?.call.id) settle(answer as LaneAnswer);
    });
    listen(started, 'error', (error: Error & { readonly code?: string }) => {
      if (worker !== started) return;
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY' || error instanceof RangeError;
      lose(isMemory ? 'Comparing takes more memory than allowed.' : `Comparing failed: ${error.message}`);
    });
    listen(started, 'exit', () => {
      if (worker === started) lose('The thread that compares has ended.');
    });
    return started;
  }

  function takeCalls(): void {
    isReady = true;
    if (current !== null) limitCall();
  }

  /** The time of a call begins when its thread takes calls: a machine that is slow to start one is not to blame on a page. */
  function limitCall(): void {
    clearTimeout(timer);
    timer = isReady
      ? setTimeout(lose, limitMs, `Comparing takes longer than ${limitMs / 1_000} seconds.`)
      : setTimeout(startAnother, startMs);
  }

  function startAnother(): void {
    if (starts >= MOST_STARTS) {
      lose('The thread that compares does not start. Try again later.', 'OVERLOADED');
      return;
    }
    const lost = worker;
    worker = null;
    void lost?.terminate();
    send();
  }

  function settle(answer: LaneAnswer): void {
    const ended = current;
    clearTimeout(timer);
    current = null;
    if ('found' in answer) ended?.resolve(answer.found);
    else ended?.reject(new ScrapifieError(answer.code ?? 'INTERNAL', answer.message));
    next();
  }

  /** The call under way is to blame; those that wait get another thread. */
  function lose(message: string, code: ErrorCode = 'EXTRACTION_FAILED'): void {
    const ended = current;
    clearTimeout(timer);
    current = null;
    const lost = worker;
    worker = null;
    void lost?.terminate();
    ended?.reject(new ScrapifieError(code, message));
    next();
  }

  function next(): void {
    current = waiting.shift() ?? null;
    if (current === null) {
      timer = setTimeout(endThread, IDLE_MS);
      timer.unref();
      worker?.unref();
      return;
    }
    starts = 0;
    send();
  }

  function send(): void {
    worker ??= startThread();
    worker.ref();
    limitCall();
    worker.postMessage(current?.call);
  }

  function endThread(): void {
    const idle = worker;
    worker = null;
    void idle?.terminate();
  }

  return {
    run(task, given) {
      return new Promise((resolve, reject) => {
        if (isClosed) return reject(new ScrapifieError('SHUTTING_DOWN', 'No more pages are compared.'));
        if (waiting.length >= mostWaiting)
          return reject(new ScrapifieError('QUEUE_FULL', 'Too many pages wait to be compared.'));
        lastId += 1;
        waiting.push({ call: { id: lastId, task, given }, resolve: resolve as Waiting['resolve'], reject });
        if (current === null) {
          clearTimeout(timer);
          next();
        }
      });
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const closing = new ScrapifieError('SHUTTING_DOWN', 'No more pages are compared.');
      for (const { reject } of waiting.splice(0)) reject(closing);
      current?.reject(closing);
      current = null;
      const ended = worker;
      worker = null;
      await ended?.terminate();
    },
  };
}
