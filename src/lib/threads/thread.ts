import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { listen, listenOnce } from '../../core/errors/guarded.ts';

export interface ThreadMemory {
  /** The nursery; without a limit it grows to 50 MB, though nearly everything dies with its call. */
  readonly youngMb: number;
  readonly oldMb: number;
  readonly stackMb?: number;
}

export interface ThreadOptions {
  /** What the system and the heap snapshots call the thread. */
  readonly name: string;
  /** The module that the thread begins with; see `siblingModule`. */
  readonly entry: URL;
  readonly memory: ThreadMemory;
  /** What the thread reads as `workerData`. */
  readonly data?: unknown;
  /** Where its standard output goes; `share` is that of the process. Dropped output takes the standard error with it. */
  readonly output?: 'share' | 'stderr' | 'drop';
  /** Starts the worker in another way, for example with other flags of V8. */
  readonly start?: (open: () => Worker) => Worker;
}

export interface ThreadListeners {
  onMessage(message: object): void;
  /** Called once, with the error that was not caught in the thread, or with the exit code when there was none. */
  onEnd(end: { readonly error: Error } | { readonly exitCode: number }): void;
}

/**
 * Starts a worker thread with limits of its own. Its listeners are guarded: an error in one ends the thread and not the
 * process. A thread that was terminated on purpose calls `onEnd` as well.
 */
export function startThread(options: ThreadOptions, { onMessage, onEnd }: ThreadListeners): Worker {
  const { name, entry, memory, data, output = 'share', start = (open) => open() } = options;
  const worker = start(
    () =>
      new Worker(entry, {
        name,
        workerData: data,
        stdout: output !== 'share',
        stderr: output === 'drop',
        resourceLimits: {
          maxYoungGenerationSizeMb: memory.youngMb,
          maxOldGenerationSizeMb: memory.oldMb,
          ...(memory.stackMb === undefined ? {} : { stackSizeMb: memory.stackMb }),
        },
      }),
  );
  if (output === 'stderr') {
    listen(worker.stdout, 'data', (logged: Buffer) => void process.stderr.write(logged));
  }
  if (output === 'drop') for (const stream of [worker.stdout, worker.stderr] as Readable[]) stream.resume();
  let hasEnded = false;
  const end = (how: Parameters<ThreadListeners['onEnd']>[0]) => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd(how);
  };
  listen(worker, 'message', (message: unknown) => {
    if (typeof message === 'object' && message !== null) onMessage(message);
  });
  listenOnce(worker, 'error', (error: Error) => end({ error }));
  listenOnce(worker, 'exit', (exitCode: number) => end({ exitCode }));
  return worker;
}

/** Whether the thread ended because it took more memory than it may have. */
export const isOutOfMemory = (error: Error & { readonly code?: string }): boolean =>
  error.code === 'ERR_WORKER_OUT_OF_MEMORY' || error instanceof RangeError;
