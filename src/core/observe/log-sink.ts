import { write, writeSync } from 'node:fs';
import { listenOnce } from '../errors/guarded.ts';

/** Where log lines go. Writing never waits and never throws: a log that cannot be written costs its lines alone. */
export interface LogSink {
  write(line: string): void;
  /** Calls back when everything that waits has been written, or was given up. */
  flush(done?: () => void): void;
}

export interface LogSinkOptions {
  readonly fd: number;
  /** Told how many lines were lost, once lines can be written again. */
  readonly onRecovered?: (lost: number) => void;
}

/** Lines are collected, and written after this time at the latest. */
const FLUSH_CHARS = 4_096;
const FLUSH_MS = 200;
/** Lines beyond this are lost, rather than kept in memory, while the reader of the log does not read. */
const MOST_WAITING_CHARS = 8_388_608;
/** Until the next try, after a reader that was not ready and after an error such as a full disk. */
const BUSY_MS = 100;
const BROKEN_MS = 1_000;
/** What the end of the process may wait for a reader that does not read. */
const EXIT_WAIT_MS = 500;
const EXIT_LOOK_MS = 10;

const isBusy = (error: NodeJS.ErrnoException): boolean => error.code === 'EAGAIN' || error.code === 'EBUSY';

/** Lines are written in order, in the background, and those that still wait when the process exits, at its end. */
export function createLogSink({ fd, onRecovered = () => undefined }: LogSinkOptions): LogSink {
  let waiting: string[] = [];
  let waitingChars = 0;
  let lost = 0;
  /** What a write has left over. */
  let rest: Buffer | null = null;
  let isWriting = false;
  let timer: NodeJS.Timeout | null = null;
  const flushed: (() => void)[] = [];

  function beginIn(ms: number): void {
    timer ??= setTimeout(begin, ms).unref();
  }

  /** What is to be written next; null when there is nothing. */
  function next(): Buffer | null {
    if (rest !== null) return rest;
    if (waiting.length === 0) return null;
    const bytes = Buffer.from(waiting.join(''));
    waiting = [];
    waitingChars = 0;
    return bytes;
  }

  function begin(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (isWriting) return;
    rest = next();
    if (rest === null) return;
    isWriting = true;
    const bytes = rest;
    write(fd, bytes, 0, bytes.length, null, (error, count) => {
      isWriting = false;
      if (error !== null) return failed(error);
      rest = count < bytes.length ? bytes.subarray(count) : null;
      if (lost > 0) {
        const told = lost;
        lost = 0;
        onRecovered(told);
      }
      if (rest !== null || (flushed.length > 0 && waiting.length > 0)) begin();
      else if (waiting.length > 0) beginIn(FLUSH_MS);
      else endFlush();
    });
  }

  function failed(error: NodeJS.ErrnoException): void {
    if (!isBusy(error)) endFlush();
    beginIn(isBusy(error) ? BUSY_MS : BROKEN_MS);
  }

  function endFlush(): void {
    for (const done of flushed.splice(0)) done();
  }

  listenOnce(process, 'exit', () => {
    if (isWriting) rest = null;
    let waitedMs = 0;
    for (let bytes = next(); bytes !== null; bytes = next()) {
      try {
        const count = writeSync(fd, bytes);
        rest = count < bytes.length ? bytes.subarray(count) : null;
      } catch (error) {
        if (!isBusy(error as NodeJS.ErrnoException) || waitedMs >= EXIT_WAIT_MS) return;
        rest = bytes;
        waitedMs += EXIT_LOOK_MS;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EXIT_LOOK_MS);
      }
    }
  });

  return {
    write(line) {
      if (waitingChars + line.length > MOST_WAITING_CHARS) {
        lost += 1;
        return;
      }
      waiting.push(line);
      waitingChars += line.length;
      // While a write is under way, or has failed and is to be tried again, lines wait for its end.
      if (isWriting || rest !== null) return;
      if (waitingChars >= FLUSH_CHARS) begin();
      else beginIn(FLUSH_MS);
    },
    flush(done = () => undefined) {
      flushed.push(done);
      if (!isWriting && rest === null && waiting.length === 0) endFlush();
      else begin();
    },
  };
}
