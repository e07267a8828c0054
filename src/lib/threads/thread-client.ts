import type { Worker } from 'node:worker_threads';
import { guarded } from '../../core/errors/guarded.ts';
import {
  errorOfFailure,
  isOutOfMemory,
  type MethodCall,
  PING,
  startThread,
  type ThreadAnswer,
  type ThreadMemory,
  type ThreadMethods,
  type ThreadOptions,
} from './thread.ts';

/** Why a thread has ended, and with it the calls that it had. */
export interface ThreadEnd {
  readonly reason: 'memory' | 'failed' | 'exited' | 'late' | 'aborted' | 'closed';
  /** What was thrown in the thread; undefined for an end of another kind. */
  readonly cause?: Error;
}

export interface ThreadClientOptions<Notice> extends ThreadOptions {
  readonly memory: ThreadMemory & {
    /** Memory outside the heap, such as buffers. */
    readonly bufferBytes?: number;
  };
  /** The error with which the calls of a thread that has ended are rejected. */
  readonly errorOf: (end: ThreadEnd) => Error;
  readonly onNotice?: (notice: Notice) => void;
  /** A thread without calls for this long is ended, and the next call starts another; it is kept when there is no limit. */
  readonly idleMs?: number;
  /** Whether the thread may be ended now that it is idle. */
  readonly mayRest?: () => boolean;
  /** False for a thread whose end is final: later calls are rejected as those that it had. */
  readonly restarts?: boolean;
  /** A thread without calls keeps the process alive. */
  readonly keepsProcess?: boolean;
}

export interface CallOptions {
  /** Handed over and not copied. */
  readonly transfer?: readonly ArrayBuffer[];
  /** The thread is ended when the call has no answer by then. */
  readonly limitMs?: number;
  /** A notice of the thread begins the time of the call anew. */
  readonly isLimitOfSilence?: boolean;
  /** Aborted, it ends the thread with all calls that it has. */
  readonly signal?: AbortSignal;
  /** Makes the result from what the thread sent. */
  readonly revive?: (sent: unknown) => unknown;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly revive: ((sent: unknown) => unknown) | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  readonly isLimitOfSilence: boolean;
  readonly stopListening: (() => void) | undefined;
}

const BUFFERS_LOOK_MS = 50;

/**
 * Calls the methods of one worker thread. The first call starts the thread. A thread that ends, for whatever reason, rejects
 * the calls that it had, and the next call starts another one. A thread without calls keeps no process alive by itself.
 */
export class ThreadClient<Methods extends ThreadMethods<Methods>, Notice = never> {
  readonly #options: ThreadClientOptions<Notice>;
  readonly #calls = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #hasAnswered = false;
  #lastId = 0;
  #end: ThreadEnd | null = null;
  #idle: NodeJS.Timeout | undefined;
  #buffersWatch: NodeJS.Timeout | undefined;

  constructor(options: ThreadClientOptions<Notice>) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Calls without an answer. */
  get pending(): number {
    return this.#calls.size;
  }

  call<Name extends keyof Methods & string>(
    method: Name,
    values: Parameters<Methods[Name]>,
    options?: CallOptions,
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    const call: Omit<MethodCall, 'id'> = { method, values };
    return this.send(call, options) as Promise<Awaited<ReturnType<Methods[Name]>>>;
  }

  /** Sends a call to a thread that reads its own port, and may want more with each call than `answerCalls` does. */
  send(call: { readonly method: string }, options: CallOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (options.signal?.aborted === true) return reject(this.#options.errorOf({ reason: 'aborted' }));
      if (this.#end !== null) return reject(this.#options.errorOf(this.#end));
      clearTimeout(this.#idle);
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#lastId += 1;
      const id = this.#lastId;
      try {
        this.#worker.postMessage({ ...call, id }, options.transfer as ArrayBuffer[] | undefined);
      } catch (error) {
        if (this.#calls.size === 0) this.#rest();
        throw error;
      }
      this.#calls.set(id, { resolve, reject, ...this.#boundsOf(options) });
    });
  }

  /**
   * Starts the thread. Returns true when it has loaded and takes calls, and false when it does not by then: it is ended, and
   * may be started again. Rejects when the thread fails.
   */
  async start(limitMs: number): Promise<boolean> {
    if (this.#worker !== null && this.#hasAnswered) return true;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      this.#lose({ reason: 'late' });
    }, limitMs);
    try {
      const ping: Omit<MethodCall, 'id'> = { method: PING, values: [] };
      await this.send(ping);
      return true;
    } catch (error) {
      if (isLate) return false;
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends the thread; calls without an answer are rejected, and so are later ones. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#end ??= { reason: 'closed' };
    this.#lose(this.#end);
    await worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread(this.#options, {
      onMessage: (message) => {
        if (this.#worker === worker) this.#hear(message);
      },
      onEnd: (how) => {
        if (this.#worker === worker) this.#lose(endOf(how));
      },
    });
    this.#hasAnswered = false;
    if (this.#options.memory.bufferBytes !== undefined) this.#watchBuffers(this.#options.memory.bufferBytes);
    return worker;
  }

  #hear(message: object): void {
    if ('notice' in message) {
      for (const { isLimitOfSilence, timer } of this.#calls.values()) if (isLimitOfSilence) timer?.refresh();
      this.#options.onNotice?.(message.notice as Notice);
      return;
    }
    // Under `node --watch`, Node.js reports the files that a thread loads through the same port.
    if (!('id' in message)) return;
    const answer = message as ThreadAnswer;
    this.#hasAnswered = true;
    const call = this.#calls.get(answer.id);
    if (call === undefined) return;
    this.#calls.delete(answer.id);
    release(call);
    if (this.#calls.size === 0) this.#rest();
    if ('failure' in answer) call.reject(errorOfFailure(answer.failure));
    else call.resolve(call.revive === undefined ? answer.result : call.revive(answer.result));
  }

  #rest(): void {
    const { idleMs, mayRest, keepsProcess = false } = this.#options;
    if (!keepsProcess) this.#worker?.unref();
    if (idleMs === undefined || mayRest?.() === false) return;
    this.#idle = setTimeout(() => this.#lose({ reason: 'closed' }), idleMs).unref();
  }

  #lose(end: ThreadEnd): void {
    const lost = this.#worker;
    this.#worker = null;
    clearTimeout(this.#idle);
    clearInterval(this.#buffersWatch);
    if (this.#options.restarts === false) this.#end ??= end;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    calls.forEach(release);
    if (calls.length > 0) {
      const error = this.#options.errorOf(end);
      for (const { reject } of calls) reject(error);
    }
    void lost?.terminate();
  }

  #boundsOf({ limitMs, isLimitOfSilence = false, signal, revive }: CallOptions) {
    const timer =
      limitMs === undefined ? undefined : setTimeout(() => this.#lose({ reason: 'late' }), limitMs);
    if (signal === undefined) return { timer, isLimitOfSilence, revive, stopListening: undefined };
    const onAbort = guarded(() => this.#lose({ reason: 'aborted' }));
    signal.addEventListener('abort', onAbort, { once: true });
    const stopListening = () => signal.removeEventListener('abort', onAbort);
    return { timer, isLimitOfSilence, revive, stopListening };
  }

  /** Buffers are not among what V8 limits: they are looked at from outside. */
  #watchBuffers(mostBytes: number): void {
    this.#buffersWatch = setInterval(() => {
      const watched = this.#worker;
      watched?.getHeapStatistics().then(
        ({ external_memory: bytes }) => {
          if (bytes > mostBytes && this.#worker === watched) this.#lose({ reason: 'memory' });
        },
        () => {
          // The thread has ended meanwhile.
        },
      );
    }, BUFFERS_LOOK_MS).unref();
  }
}

function release({ timer, stopListening }: Waiting): void {
  clearTimeout(timer);
  stopListening?.();
}

function endOf(how: { readonly error: Error } | { readonly exitCode: number }): ThreadEnd {
  if (!('error' in how)) return { reason: 'exited' };
  return { reason: isOutOfMemory(how.error) ? 'memory' : 'failed', cause: how.error };
}
