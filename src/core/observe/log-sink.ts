import { write, writeSync } from 'node:fs';
import { listenOnce } from '../errors/guarded.ts';

/** Where log lines go. Writing never waits and never throws: a log that cannot be written costs its lines alone. */
export interface LogSink {
  write(line: string): void;
  /** Calls back when everything that waits has been written, or was given up. */
  flush(done?: () => void): void;
}

interface LogSinkOptions {
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

/** The last log lines of this process, for `GET /v1/system/log`. Bounded by number and by bytes. */
export interface LogRing {
  /** Adds a line as it is written, without secrets. */
  add(line: string): void;
  /** The newest lines that fit, newest first. */
  lines(query: LogQuery): readonly LogLine[];
}

interface LogQuery {
  /** Lines of this level and above; left out: all. */
  readonly level?: LogLevel | undefined;
  /** In the line, whichever case its letters have. */
  readonly text?: string | undefined;
  /** Only lines before this number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

interface LogLine {
  /** Grows with each line of the process. */
  readonly number: number;
  readonly at: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MOST_LINES = 2_000;
/** The most characters of one line; the rest of a longer line is not kept. */
const MOST_LINE_CHARS = 8_192;
const MOST_KEPT_CHARS = 4_194_304;

export function createLogRing(): LogRing {
  const kept: { readonly number: number; readonly text: string }[] = [];
  let chars = 0;
  let last = 0;

  return {
    add(line) {
      last += 1;
      const text = line.length > MOST_LINE_CHARS ? line.slice(0, MOST_LINE_CHARS) : line;
      kept.push({ number: last, text });
      chars += text.length;
      while (kept.length > MOST_LINES || chars > MOST_KEPT_CHARS) chars -= kept.shift()?.text.length ?? 0;
    },
    lines({ level = 'trace', text, before = Number.POSITIVE_INFINITY, limit }) {
      const least = LOG_LEVELS.indexOf(level);
      const part = text?.toLowerCase();
      const found: LogLine[] = [];
      for (const each of kept.toReversed()) {
        if (each.number >= before || (part !== undefined && !each.text.toLowerCase().includes(part)))
          continue;
        const line = parsed(each.number, each.text);
        if (LOG_LEVELS.indexOf(line.level) < least) continue;
        found.push(line);
        if (found.length === limit) break;
      }
      return found;
    },
  };
}

/** A line that was cut is no JSON any more: it is shown as text. */
function parsed(number: number, text: string): LogLine {
  try {
    // Fields that all lines of this process share are left out.
    const { level, time, msg, service, role, instance, ...fields } = JSON.parse(text) as Record<
      string,
      unknown
    >;
    const known = LOG_LEVELS.find((each) => each === level) ?? 'info';
    return { number, at: String(time), level: known, message: String(msg ?? ''), fields };
  } catch {
    const [, level] = /"level":"(\w+)"/.exec(text) ?? [];
    const [, at = ''] = /"time":"([^"]+)"/.exec(text) ?? [];
    const known = LOG_LEVELS.find((each) => each === level) ?? 'info';
    return { number, at, level: known, message: `${text}…`, fields: {} };
  }
}
