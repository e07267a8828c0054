/** The last log lines of this process, for `GET /v1/system/log`. Bounded by number and by bytes. */
export interface LogRing {
  /** Adds a line as it is written, without secrets. */
  add(line: string): void;
  /** The newest lines that fit, newest first. */
  lines(query: LogQuery): readonly LogLine[];
}

export interface LogQuery {
  /** Lines of this level and above; left out: all. */
  readonly level?: LogLevel | undefined;
  /** In the line, whichever case its letters have. */
  readonly text?: string | undefined;
  /** Only lines before this number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface LogLine {
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
const MOST_CHARS = 4_194_304;

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
      while (kept.length > MOST_LINES || chars > MOST_CHARS) chars -= kept.shift()?.text.length ?? 0;
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
    // The same for all lines of this process.
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
