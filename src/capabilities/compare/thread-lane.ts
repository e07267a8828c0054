import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ThreadMethods } from '../../lib/threads/thread.ts';
import { ThreadClient, type ThreadEnd } from '../../lib/threads/thread-client.ts';

/** One thread that compares, one call after the other. */
export interface ThreadLane<Tasks extends ThreadMethods<Tasks>> {
  /**
   * Throws EXTRACTION_FAILED for a call that takes too long or too much memory, QUEUE_FULL when too many wait, and OVERLOADED
   * when no thread starts.
   */
  run<Name extends keyof Tasks & string>(
    task: Name,
    ...values: Parameters<Tasks[Name]>
  ): Promise<Awaited<ReturnType<Tasks[Name]>>>;
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

/** The thread starts with the first call and keeps no process alive by itself. */
export function createThreadLane<Tasks extends ThreadMethods<Tasks>>(
  name: string,
  entry: URL,
  {
    limitMs = LIMIT_MS,
    startMs = START_MS,
    mostWaiting = MOST_WAITING,
    heapMb = HEAP_MB,
  }: ThreadLaneOptions = {},
): ThreadLane<Tasks> {
  const thread = new ThreadClient<Tasks>({
    name,
    entry,
    memory: { youngMb: 32, oldMb: heapMb },
    idleMs: IDLE_MS,
    errorOf: (end) => errorOf(end, limitMs),
  });
  /** Calls that wait, and the one under way. */
  let open = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** The time of a call begins when its thread takes calls: a machine that is slow to start one is not to blame on a page. */
  async function start(): Promise<void> {
    for (let starts = 0; starts < MOST_STARTS; starts++) if (await thread.start(startMs)) return;
    throw new ScrapifieError('OVERLOADED', 'The thread that compares does not start. Try again later.');
  }

  return {
    run(task, ...values) {
      if (open > mostWaiting) {
        return Promise.reject(new ScrapifieError('QUEUE_FULL', 'Too many pages wait to be compared.'));
      }
      open += 1;
      const found = last
        .then(start)
        .then(() => thread.call(task, values, { limitMs }))
        .finally(() => {
          open -= 1;
        });
      // A call that fails takes no other down: the next one gets another thread.
      last = found.catch(() => undefined);
      return found;
    },
    close: () => thread.close(),
  };
}

function errorOf({ reason, cause }: ThreadEnd, limitMs: number): ScrapifieError {
  switch (reason) {
    case 'closed':
    case 'aborted':
      return new ScrapifieError('SHUTTING_DOWN', 'No more pages are compared.');
    case 'memory':
      return new ScrapifieError('EXTRACTION_FAILED', 'Comparing takes more memory than allowed.');
    case 'late':
      return new ScrapifieError(
        'EXTRACTION_FAILED',
        `Comparing takes longer than ${limitMs / 1_000} seconds.`,
      );
    case 'failed':
      return new ScrapifieError('EXTRACTION_FAILED', `Comparing failed: ${cause?.message}`);
    case 'exited':
      return new ScrapifieError('EXTRACTION_FAILED', 'The thread that compares has ended.');
  }
}
