import { defined } from '../../lib/defined.ts';
import { ERRORS, type ErrorCode } from '../errors/registry.ts';
import { asScrapifieError, ScrapifieError } from '../errors/scrapifie-error.ts';

/**
 * Offers work to free consumers, at least once. It never holds the truth: entries that it loses, a sweep of the store
 * offers again, and what it delivers twice, leases and epochs in the store make harmless.
 *
 * Every method may throw QUEUE_UNAVAILABLE.
 */
export interface Queue {
  /**
   * Offers entries. While an entry with the same id waits, or is being worked on, a further offer of it is
   * folded into that one; one folded into an entry being worked on makes it be offered once more afterwards.
   * Lower rank goes first; equal ranks in order of arrival.
   */
  offer(name: QueueName, entries: readonly Entry[]): Promise<void>;
  /**
   * Works on entries of one queue, at most `concurrency` at once. A handler that rejects is logged and its entry
   * dropped (the sweep will bring it back). Resolves to the consumer's handle.
   */
  consume(name: QueueName, concurrency: number, handler: (entry: Entry) => Promise<void>): Promise<Consumer>;
  /** Entries or calls that wait and that are being worked on, of all processes that share the queue. */
  depth(name: QueueName | CallName): Promise<{ waiting: number; active: number }>;
  /**
   * How long the oldest of the next thousand calls of this name has waited for a handler, by the clocks of the two
   * processes; 0 when none waits.
   */
  oldestCallMs(name: CallName): Promise<number>;
  /**
   * Sends a request to a process that answers calls of this name and resolves to the answer; both are JSON and small, large things
   * travel as blobs. Rejects with what the handler rejected with when that is a ScrapifieError, with NO_WORKER when
   * no process answers calls of this name (`details.isBegun` is true when the last one had begun the call), with TASK_TIMEOUT after `timeoutMs`, with CANCELLED when the signal says so,
   * and with BROWSERS_BUSY when no handler has begun the call within `startWithinMs`; it is never begun then.
   * A call whose worker dies goes to another one, and the call is asked again when the queue has lost it: the handler
   * is told that the call may have been begun before. One whose caller dies is not begun, and soon ended where it was.
   * A handler that runs although another one has answered the call gets the end of its signal.
   */
  call(name: CallName, request: unknown, how: CallOptions): Promise<unknown>;
  /** Answers calls, at most `concurrency` at once. The signal aborts when the caller no longer waits for the answer. */
  answer(name: CallName, concurrency: number, handler: CallHandler): Promise<Consumer>;
  /** How many processes answer calls of this name. */
  countAnswerers(name: CallName): Promise<number>;
  /**
   * Runs the action about every `everyMs`, in one of the processes that asked for the timer of this name, never in
   * two at once. A rejection is logged; a tick that is lost is made up for by the next.
   */
  every(name: TimerName, everyMs: number, action: () => Promise<void>): Promise<Consumer>;
  /** Offers an entry of its own as `offer` does, and throws when that, or what consuming needs, does not work. */
  check(): Promise<void>;
  /** Why some entries cannot be offered although others can, with the names of the keys at fault; null: all can. */
  degradation(): string | null;
  close(): Promise<void>;
}

export interface Entry {
  readonly id: string;
  readonly rank: number;
}

export interface CallOptions {
  readonly rank: number;
  /** Time limit of the call, without the time that `onQuestion` takes. */
  readonly timeoutMs: number;
  /** How long the call may wait for a handler; missing: as long as `timeoutMs` allows. */
  readonly startWithinMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Answers what the handler asks back meanwhile, in JSON like the rest. What it throws is thrown where it was asked.
   * When the call goes to another worker, that one may ask the same again.
   */
  readonly onQuestion?: ((question: unknown) => Promise<unknown>) | undefined;
}

export type CallHandler = (
  request: unknown,
  signal: AbortSignal,
  /** Null when the caller takes no questions. */
  ask: Ask | null,
  start: CallStart,
) => Promise<unknown>;

/** What the queue knows about the beginning of a call. */
export interface CallStart {
  /**
   * Another handler may have begun the call before, and may still be at work: the worker died or stalled, or the queue
   * lost the call and the caller asked again. Never false when a handler has begun the call before; true as well when
   * the call was lost while it waited.
   */
  readonly isRepeated: boolean;
  /** How long the call waited for this handler; not told exactly of a call that is repeated. */
  readonly waitedMs: number;
}

/** Sends a question to the caller. Rejects with CANCELLED when the caller no longer waits for the answer to the call. */
export type Ask = (question: unknown) => Promise<unknown>;

export interface Consumer {
  /** Takes no more entries; resolves when the running handlers are done. */
  stop(): Promise<void>;
}

/** `scrape-http` carries host slices. */
export type QueueName = 'scrape-http';
/** Single renders, from the owner of a host to a worker with a browser. */
export const CALL_NAMES = ['scrape-browser', 'scrape-stealth'] as const;
export type CallName = (typeof CALL_NAMES)[number];
/**
 * `cleanup-jobs`: jobs whose time is over, and hosts with work that were not offered. `cleanup-blobs`: blobs that nothing
 * refers to. `run-schedules`: schedules that are due. `backups`: whether a backup is due. `lake`: compaction
 * and manifests of the lake.
 */
export type TimerName = 'cleanup-jobs' | 'cleanup-blobs' | 'run-schedules' | 'backups' | 'lake';

/** The most a request or an answer of a call may take as JSON; larger things travel as blobs. */
export const MAX_CALL_BYTES = 262_144;

/** Serializes a request or an answer. One that is too large is a fault of the program, not of its user. */
export function writeCallMessage(value: unknown): string {
  const text = JSON.stringify(value ?? null) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CALL_BYTES) {
    throw new ScrapifieError(
      'INTERNAL',
      `A call through the queue carries at most ${MAX_CALL_BYTES} bytes each way, not ${bytes}; send a blob.`,
    );
  }
  return text;
}

export function writeCallAnswer(value: unknown): string {
  return `{"answer":${writeCallMessage(value)}}`;
}

/** Serializes the public part of an error; the rest of a fault stays in the log of the process where it occurred. */
export function writeCallFailure(error: unknown): string {
  const { code, message, details, retryAfterMs } = asScrapifieError(error);
  const text = JSON.stringify({ error: { code, message, details, retryAfterMs } });
  return Buffer.byteLength(text) <= MAX_CALL_BYTES ? text : JSON.stringify({ error: { code, message } });
}

/** Serializes the reply to a serialized question. */
export async function writeCallReply(
  onQuestion: (question: unknown) => Promise<unknown>,
  question: string,
): Promise<string> {
  try {
    return writeCallAnswer(await onQuestion(JSON.parse(question)));
  } catch (error) {
    return writeCallFailure(error);
  }
}

/** Returns the answer, or throws the error that was sent instead. */
export function readCallAnswer(text: string): unknown {
  const { answer, error } = JSON.parse(text) as {
    answer?: unknown;
    error?: { code: string; message: string; details?: unknown; retryAfterMs?: number };
  };
  if (error === undefined) return answer;
  // A worker of a newer version may know codes that this one does not.
  const code: ErrorCode = Object.hasOwn(ERRORS, error.code) ? (error.code as ErrorCode) : 'INTERNAL';
  const { details, retryAfterMs } = error;
  throw new ScrapifieError(code, error.message, {
    ...defined({ details, retryAfterMs }),
  });
}

/** The error of a call that no worker has begun in time. */
export function noFreeWorker(startWithinMs = 0): ScrapifieError {
  return new ScrapifieError('BROWSERS_BUSY', `No browser was free within ${startWithinMs} ms.`, {
    retryAfterMs: startWithinMs,
  });
}

/** The remaining time of a call. It stands still while a question to the caller is open. */
export class CallClock {
  readonly #onLate: () => void;
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #holds = 0;
  #isOver = false;

  constructor(timeoutMs: number, onLate: () => void) {
    this.#onLate = onLate;
    this.#leftMs = timeoutMs;
    this.#start();
  }

  get remainingMs(): number {
    return Math.max(0, this.#timer === null ? this.#leftMs : this.#leftMs - this.#passedMs);
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    this.#holds += 1;
    if (this.#holds === 1) this.#pause();
    try {
      return await work();
    } finally {
      this.#holds -= 1;
      if (this.#holds === 0) this.#start();
    }
  }

  end(): void {
    this.#pause();
    this.#isOver = true;
  }

  get #passedMs(): number {
    return performance.now() - this.#startedAt;
  }

  #start(): void {
    if (this.#isOver) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onLate, this.#leftMs);
  }

  #pause(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#leftMs = Math.max(0, this.#leftMs - this.#passedMs);
  }
}
