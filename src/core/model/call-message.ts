import { defined } from '../../lib/defined.ts';
import { ERRORS, type ErrorCode } from '../errors/registry.ts';
import { asScrapifieError, ScrapifieError } from '../errors/scrapifie-error.ts';

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
