import { setTimeout as delay } from 'node:timers/promises';
import type { EventTail } from './event-tail.ts';
import { endFrame, gapFrame, type StreamPosition } from './stream-frames.ts';
import type { StreamSlice } from './stream-slice.ts';

/** Where the bytes of a stream go: a connection, or the output of a command. */
export interface EventSink {
  /** Tells the client that the stream begins. */
  open(): void;
  /** False when the client has not taken yet what was written. */
  write(bytes: Buffer | string): boolean;
  /** Resolves when the client has taken everything, or has gone. */
  drained(): Promise<void>;
  /** Ends the stream; what was written still reaches the client. */
  end(): void;
  /** Cuts the stream off. */
  destroy(): void;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

/** Why a listener was cut off. */
export type DropReason = 'slow' | 'failed';

export interface ListenerOptions {
  readonly tail: EventTail;
  readonly after: StreamPosition | null;
  readonly sink: EventSink;
  /** A client that has not taken what was sent after this time is cut off. */
  readonly drainMs: number;
  readonly onDropped: (why: DropReason) => void;
}

/** Looks without news after which the stream of an ended job ends although its last event was not one of its end. */
const QUIET_LOOKS = 3;
/**
 * The end of a job that ended longer ago can be read, or was removed. Until then its events may be committed and wait for
 * other transactions of the database.
 */
const READABLE_MS = 60_000;
const RETRY_READ_MS = 1_000;

/** One client of a stream. What it has not taken is one slice at most; the crawl never waits for it. */
export class EventListener {
  readonly #options: ListenerOptions;
  #position: StreamPosition | null;
  #progressSeen = 0;
  #logSeen = 0;
  #quietLooks = 0;
  #hasSeenEnd = false;
  #hasToldGap = false;
  #isOver = false;
  #wroteAt = 0;
  #isBlocked = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  get isOver(): boolean {
    return this.#isOver || this.#options.sink.gone.aborted;
  }

  /** Sends what comes until the stream ends, the client goes or `end` is called. */
  async run(): Promise<void> {
    const { tail, sink } = this.#options;
    sink.open();
    // Before the first look it is not known whether the job has ended.
    if (tail.job === undefined && tail.scope.jobId !== null) await tail.changed(tail.version);
    while (!this.isOver) {
      const { version } = tail;
      const slice = await this.#read();
      if (slice === null) continue;
      if (slice.hasGap && !this.#hasToldGap) await this.#send(gapFrame());
      this.#hasToldGap ||= slice.hasGap;
      this.#position = slice.next;
      // Together: the connection gets one write for both.
      const tidings = slice.isFull ? null : this.#newTidings();
      if (slice.bytes.length > 0 || tidings !== null) {
        await this.#send(tidings === null ? slice.bytes : tail.joined(slice.bytes, tidings));
      }
      if (slice.isFull) continue;
      if (this.#hasEnded(slice)) {
        await this.#send(endFrame(tail.scope.jobId ?? '', tail.job ?? null));
        break;
      }
      await tail.changed(version);
    }
    this.end();
  }

  /** A sign of life for a client that has got nothing for so long. */
  beat(now: number, quietMs: number): void {
    if (this.isOver || this.#isBlocked || now - this.#wroteAt < quietMs) return;
    void this.#send(':\n\n');
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.sink.end();
  }

  #drop(why: DropReason): void {
    if (this.isOver) return;
    this.#isOver = true;
    this.#options.onDropped(why);
    this.#options.sink.destroy();
  }

  async #read(): Promise<StreamSlice | null> {
    try {
      return await this.#options.tail.slice(this.#position);
    } catch {
      // The store is away for the moment.
      await delay(RETRY_READ_MS, undefined, { ref: false });
      return null;
    }
  }

  /** The latest state that was not sent yet; null when there is none. */
  #newTidings(): Buffer | null {
    const { progress, log } = this.#options.tail.tidings;
    const isProgressNew = progress.version > this.#progressSeen && progress.bytes.length > 0;
    const isLogNew = log.version > this.#logSeen && log.bytes.length > 0;
    this.#progressSeen = progress.version;
    this.#logSeen = log.version;
    if (isProgressNew && isLogNew) return this.#options.tail.joined(progress.bytes, log.bytes);
    return isProgressNew ? progress.bytes : isLogNew ? log.bytes : null;
  }

  async #send(bytes: Buffer | string): Promise<void> {
    const { sink, drainMs } = this.#options;
    if (this.isOver) return;
    this.#wroteAt = performance.now();
    if (sink.write(bytes)) return;
    this.#isBlocked = true;
    const limit = new AbortController();
    const isSlow = await Promise.race([
      sink.drained().then(() => false),
      delay(drainMs, true, { ref: false, signal: limit.signal }).catch(() => false),
    ]);
    limit.abort();
    this.#isBlocked = false;
    if (isSlow) this.#drop('slow');
  }

  #hasEnded({ lastType, lastEndAt, bytes }: StreamSlice): boolean {
    const { scope, job, now } = this.#options.tail;
    if (scope.jobId === null || job === undefined) return false;
    if (job === null) return true;
    if (job.finishedAt === null) return false;
    this.#hasSeenEnd ||= lastEndAt !== null && lastEndAt >= job.finishedAt;
    if (this.#hasSeenEnd && lastType === `job.${job.status}`) return true;
    this.#quietLooks = bytes.length > 0 ? 0 : this.#quietLooks + 1;
    const isReadable = this.#hasSeenEnd || now() - job.finishedAt >= READABLE_MS;
    return isReadable && this.#quietLooks >= QUIET_LOOKS;
  }
}
