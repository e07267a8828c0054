import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** The methods that a thread answers, by name. */
export type ThreadMethods<Methods> = { readonly [Name in keyof Methods]: (...values: never[]) => unknown };

/** The call that every thread answers when it has loaded. */
export const PING = 'ping';

export interface ThreadCall {
  readonly id: number;
  readonly method: string;
}

/** A call by name and values; a thread that reads its own port may take more with each call. */
export interface MethodCall extends ThreadCall {
  readonly values: readonly unknown[];
}

export type ThreadAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: ThreadFailure };

/** A message that answers no call. */
export interface ThreadNotice<Notice> {
  readonly notice: Notice;
}

/** Errors lose their class on the way between threads. */
export interface ThreadFailure {
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly stack: string | undefined;
  readonly details: unknown;
}

export function failureOf(error: unknown): ThreadFailure {
  if (isScrapifieError(error)) {
    return { code: error.code, message: error.message, stack: error.stack, details: error.details };
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { code: null, message, stack, details: undefined };
}

/** Returns a `ScrapifieError` again where the thread threw one; its cause has the stack of the thread. */
export function errorOfFailure(failure: ThreadFailure): Error {
  const cause = Object.assign(new Error(failure.message), { stack: failure.stack });
  if (failure.code === null) return cause;
  const options = failure.details === undefined ? { cause } : { cause, details: failure.details };
  return new ScrapifieError(failure.code, failure.message, options);
}

/**
 * Returns the URL of a module beside the one that asks, named as in the sources (`./thread.ts`): the built package has
 * `.js` in its place. Threads and child processes begin with a file, which no import statement names.
 */
export const siblingModule = (name: `./${string}.ts`, importer: string): URL =>
  new URL(importer.endsWith('.ts') ? name : name.replace(/\.ts$/, '.js'), importer);

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
