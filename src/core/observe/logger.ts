import { hostname } from 'node:os';
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino';
import type { Settings } from '../config/settings.ts';
import { isScrapifieError } from '../errors/scrapifie-error.ts';
import { createLogFlood, type LogFlood } from './log-flood.ts';
import { createLogSink, type LogRing, type LogSink } from './log-sink.ts';
import { escapeControl, prettyLine } from './pretty-line.ts';
import { REDACTED, redactError, redactFields, redactText, redactValue } from './redact.ts';

export type Logger = PinoLogger;

/** The ids that tie the lines of one request, job or task together. */
interface LogIds {
  readonly requestId?: string;
  readonly jobId?: string;
  readonly taskId?: number;
}

/** The ids of the trace that is under way where a line is logged. */
interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

export interface LoggerOptions {
  readonly level: Settings['logLevel'];
  /** The role of the process; `all` when left out. */
  readonly role?: Settings['role'];
  /** `json` when left out. */
  readonly format?: 'json' | 'pretty';
  /** Whether pretty lines have colours; no when left out. */
  readonly isColoured?: boolean;
  /** Values that must never be written, wherever they turn up: the API key of the settings, for example. */
  readonly secrets?: readonly (string | undefined)[];
  /** Where lines go; standard error when left out, because standard output belongs to the commands. */
  readonly destination?: DestinationStream;
  /** Keeps the last lines as they are written, in JSON. */
  readonly ring?: LogRing;
  /** Asked for every line where traces are on; null outside of a trace. */
  readonly traceIds?: () => TraceIds | null;
}

const STDERR = 2;
const WARN = pino.levels.values.warn ?? 40;

const serializers = {
  msg: (message: unknown) => (typeof message === 'string' ? redactText(message) : redactValue(message)),
  err: (error: unknown) => (error instanceof Error ? redactError(error) : redactValue(error)),
  req: describeRequest,
  res: describeResponse,
};
const SERIALIZED: ReadonlySet<string> = new Set(Object.keys(serializers));

/** The process has one sink: lines of several loggers are written in order, and its end waits for this sink alone. */
let standardError: LogSink | null = null;

const always = (name: string, meaning: string): LogField => ({
  ...{ name, type: 'string', isAlways: true, meaning },
});
const sometimes = (name: string, meaning: string, type: LogField['type'] = 'string'): LogField => ({
  ...{ name, type, isAlways: false, meaning },
});

/** The schema of the log; docs/logs.md has it as a table. Other fields belong to single lines. */
export const LOG_FIELDS: readonly LogField[] = [
  always('level', '`trace`, `debug`, `info`, `warn`, `error` or `fatal`.'),
  always('time', 'When, in UTC: ISO 8601 with milliseconds.'),
  always('service', 'Always `scrapifie`.'),
  always('role', 'Role of the process: `all`, `api`, `http-worker` and so on; see `SCRAPIFIE_ROLE`.'),
  always('instance', 'Host name and process id, `name:4711`.'),
  always('msg', 'What happened. The same event has the same text.'),
  sometimes('requestId', 'The request to the API; its response has it as `X-Request-ID`.'),
  sometimes('jobId', 'The job.'),
  sometimes('taskId', 'The URL within the job.', 'number'),
  sometimes('traceId', 'The trace, where traces are on.'),
  sometimes('spanId', 'The span within the trace.'),
  sometimes('accountId', 'The account.'),
  sometimes('webhookId', 'The webhook.'),
  sometimes('scheduleId', 'The schedule.'),
  sometimes('exportId', 'The export.'),
  sometimes('host', 'The site: its name, and its port where that is not the usual one.'),
  sometimes('err', 'An error: `type`, `message`, `stack`, and its `code`, `details` and `cause`.', 'object'),
];

/** Names that the logger itself fills in: a field of a line that has one of them gets an underscore behind it. */
const OWN_FIELDS: readonly string[] = ['level', 'time', 'service', 'role', 'instance'];

let onRecovered: (lost: number) => void = () => undefined;
function sinkToStandardError(): LogSink {
  // Node.js makes a pipe non-blocking when this stream is made: a reader that does not read must not stop a thread.
  void process.stderr;
  standardError ??= createLogSink({ fd: STDERR, onRecovered: (lost) => onRecovered(lost) });
  return standardError;
}

/**
 * One JSON object per line, with the fields of `LOG_FIELDS`, the ids of its child loggers and the fields of the call; or
 * the same as text for people. Secrets are taken out of everything that is written, errors and child bindings included,
 * and control characters are escaped. Of lines that warn, too many of the same kind are counted instead of written. Lines
 * wait in memory for a moment to be written together; a process that exits, or dies of an exception, writes them first.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { role = 'all', destination, traceIds } = options;
  const flood = createLogFlood({
    now: () => performance.now(),
    onHeldBack(heldBack) {
      for (const [message, count] of heldBack) {
        logger.warn({ message, count }, 'log lines were held back: too many of the same message');
      }
    },
  });
  const logger: Logger = pino(
    {
      level: options.level,
      base: { service: 'scrapifie', role, instance: `${hostname()}:${process.pid}` },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => withoutOwn(redactFields(fields, SERIALIZED)),
      },
      serializers,
      hooks: { streamWrite: lineWriter(options), logMethod: floodGuard(flood) },
      ...(traceIds === undefined ? {} : { mixin: () => idsOf(traceIds()) }),
    },
    destination ?? sinkToStandardError(),
  );
  if (destination === undefined) {
    onRecovered = (lost) => logger.warn({ lost }, 'log lines were lost: they could not be written');
  }

  // pino does not pass bindings of children through its formatters. Children inherit this method.
  const { child } = logger;
  logger.child = function redactedChild(this: Logger, bindings, ...rest) {
    return child.call(this, withoutOwn(redactFields(bindings, SERIALIZED)), ...rest);
  } as typeof child;
  return logger;
}

/** What else is known of a span does not belong into lines. */
const idsOf = (ids: TraceIds | null) => (ids === null ? {} : { traceId: ids.traceId, spanId: ids.spanId });

/** A logger whose lines all carry these ids. */
export function withIds(logger: Logger, ids: LogIds): Logger {
  return logger.child(ids);
}

/** `warn` for what passes by itself and is tried again, such as a server that is away; `error` for everything else. */
export function levelOfError(error: unknown): 'warn' | 'error' {
  return isScrapifieError(error) && error.spec.retry === 'later' ? 'warn' : 'error';
}

/** Writes what still waits; for the end of a command, before the process is left to end by itself. */
export function flushLogger(logger: Logger): Promise<void> {
  return new Promise((resolve, reject) => logger.flush((error) => (error ? reject(error) : resolve())));
}

/** Counts lines by the text of their call: fields differ from one line to the next. */
function floodGuard(flood: LogFlood) {
  return function guard(
    this: Logger,
    args: unknown[],
    method: (...args: unknown[]) => void,
    level: number,
  ): void {
    if (level >= WARN) {
      const text = args.find((each) => typeof each === 'string');
      const [first] = args;
      if (!flood.admits(text ?? (first instanceof Error ? first.message : ''))) return;
    }
    method.apply(this, args);
  };
}

function lineWriter({ ring, format, isColoured = false, secrets = [] }: LoggerOptions) {
  const hideSecrets = secretHider(secrets);
  return (line: string): string => {
    const end = line.endsWith('\n') ? -1 : line.length;
    const shown = `${escapeControl(hideSecrets(line.slice(0, end)))}\n`;
    ring?.add(shown);
    return format === 'pretty' ? prettyLine(shown, isColoured) : shown;
  };
}

/** A second field of the same name would hide the first one from most readers of JSON. */
function withoutOwn(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null;
  for (const name of OWN_FIELDS) {
    if (!(name in fields)) continue;
    copy ??= { ...fields };
    copy[`${name}_`] = copy[name];
    delete copy[name];
  }
  return copy ?? fields;
}

function secretHider(values: readonly (string | undefined)[]): (line: string) => string {
  const secrets = new Set(
    values
      .filter((value) => value !== undefined && value !== '')
      // As they look inside a line of JSON, and in a URL there.
      .flatMap((value) => [
        JSON.stringify(value).slice(1, -1),
        encodeURIComponent(String(value).toWellFormed()),
      ]),
  );
  if (secrets.size === 0) return (line) => line;
  return (line) => [...secrets].reduce((text, secret) => text.replaceAll(secret, REDACTED), line);
}

/** Returns the method and the URL of a request and nothing else: addresses and headers are about a person. */
function describeRequest(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return redactValue(request);
  const { method, url } = request as { method?: unknown; url?: unknown };
  return { method, url: typeof url === 'string' ? redactText(url) : undefined };
}

function describeResponse(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return redactValue(response);
  return { statusCode: (response as { statusCode?: unknown }).statusCode };
}

/** What a line of the log may have under a name that means the same in every line. */
interface LogField {
  readonly name: string;
  readonly type: 'string' | 'number' | 'object';
  /** Whether every line has it. */
  readonly isAlways: boolean;
  readonly meaning: string;
}
