import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino';
import type { Settings } from '../config/settings.ts';
import type { LogRing } from './log-ring.ts';
import { REDACTED, redactText } from './redact.ts';
import { redactError, redactFields, redactValue } from './redact-fields.ts';

export type Logger = PinoLogger;

/** The ids that tie the lines of one request, job or task together. */
export interface LogIds {
  readonly requestId?: string;
  readonly jobId?: string;
  readonly taskId?: number;
}

export interface LoggerOptions {
  readonly level: Settings['logLevel'];
  /** Values that must never be written, wherever they turn up: the API key of the settings, for example. */
  readonly secrets?: readonly (string | undefined)[];
  /** Where lines go; standard error when left out, because standard output belongs to the commands. */
  readonly destination?: DestinationStream;
  /** Keeps the last lines as they are written. */
  readonly ring?: LogRing;
}

const STDERR = 2;
/** Lines are buffered, and written after this time at the latest. */
const FLUSH_BYTES = 4_096;
const FLUSH_MS = 200;
/** When standard error is not read, lines beyond this are dropped rather than kept in memory. */
const MAX_WAITING_BYTES = 8_388_608;

const serializers = {
  msg: (message: unknown) => (typeof message === 'string' ? redactText(message) : redactValue(message)),
  err: (error: unknown) => (error instanceof Error ? redactError(error) : redactValue(error)),
  req: describeRequest,
  res: describeResponse,
};
const SERIALIZED: ReadonlySet<string> = new Set(Object.keys(serializers));

/**
 * One JSON object per line: `level`, `time` (ISO 8601), `msg`, the ids of its child loggers and the fields of the
 * call. Secrets are taken out of everything that is written, errors and child bindings included. Lines wait in
 * memory for a moment to be written together; a process that exits, or dies of an exception, writes them first.
 */
export function createLogger(options: LoggerOptions): Logger {
  const hideSecrets = secretHider(options.secrets ?? []);
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redactFields(fields, SERIALIZED),
      },
      serializers,
      hooks: hooksOf(hideSecrets, options.ring),
    },
    options.destination ??
      pino.destination({
        dest: STDERR,
        sync: false,
        minLength: FLUSH_BYTES,
        periodicFlush: FLUSH_MS,
        maxLength: MAX_WAITING_BYTES,
      }),
  );

  // pino does not pass bindings of children through its formatters. Children inherit this method.
  const { child } = logger;
  logger.child = function redactedChild(this: Logger, bindings, ...rest) {
    return child.call(this, redactFields(bindings, SERIALIZED), ...rest);
  } as typeof child;
  return logger;
}

/** A logger whose lines all carry these ids. */
export function withIds(logger: Logger, ids: LogIds): Logger {
  return logger.child(ids);
}

/** Writes what still waits; for the end of a command, before the process is left to end by itself. */
export function flushLogger(logger: Logger): Promise<void> {
  return new Promise((resolve, reject) => logger.flush((error) => (error ? reject(error) : resolve())));
}

function hooksOf(hideSecrets: ((line: string) => string) | null, ring: LogRing | undefined) {
  if (ring === undefined) return hideSecrets === null ? {} : { streamWrite: hideSecrets };
  return {
    streamWrite(line: string): string {
      const shown = hideSecrets === null ? line : hideSecrets(line);
      ring.add(shown);
      return shown;
    },
  };
}

function secretHider(values: readonly (string | undefined)[]): ((line: string) => string) | null {
  const secrets = values
    .filter((value) => value !== undefined && value !== '')
    // As they look inside a line of JSON.
    .map((value) => JSON.stringify(value).slice(1, -1));
  if (secrets.length === 0) return null;
  return (line) => secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), line);
}

/** Of a request only what was asked: addresses and headers are about a person. */
function describeRequest(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return redactValue(request);
  const { method, url } = request as { method?: unknown; url?: unknown };
  return { method, url: typeof url === 'string' ? redactText(url) : undefined };
}

function describeResponse(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return redactValue(response);
  return { statusCode: (response as { statusCode?: unknown }).statusCode };
}
