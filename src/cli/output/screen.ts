import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { Settings } from '../../core/config/settings.ts';
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Shell } from '../shell/shell.ts';

type Style = Parameters<typeof styleText>[0];

/** What is known of the terminal that a command writes its results to. */
export interface Screen {
  /** Width of the terminal; null when results go to a file or a pipe, which get every line whole. */
  readonly columns: number | null;
  /** The text in a style, or as it is where colours are not wanted. */
  paint(style: Style, text: string): string;
}

/** Where nothing is known: whole lines without colours. */
export const PLAIN_SCREEN: Screen = { columns: null, paint: (_style, text) => text };

const USUAL_COLUMNS = 80;

/** The screen behind one of the two streams of a command. */
export function screenOf(
  { environment, ...streams }: Pick<Shell, 'environment' | 'stdout' | 'stderr'>,
  name: 'stdout' | 'stderr' = 'stdout',
): Screen {
  const stream = streams[name];
  const isColoured = hasColours(stream, environment);
  return {
    columns: stream.isTTY === true ? widthOf(stream, environment) : null,
    paint: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
  };
}

/**
 * FORCE_COLOR decides first, as in Node.js itself: 0 and false switch colours off, everything else on, also in a pipe.
 * Then NO_COLOR with any text in it switches them off (https://no-color.org). Without both, terminals have colours.
 */
export function hasColours(
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>,
  environment: NodeJS.ProcessEnv,
): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused = '', TERM: terminal } = environment;
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  if (refused !== '') return false;
  return isTTY === true && terminal !== 'dumb';
}

/** The form of log lines on standard error. */
export function logFormatOf(
  { environment, stderr }: Pick<Shell, 'environment' | 'stderr'>,
  { logFormat }: Pick<Settings, 'logFormat'>,
): { readonly format: 'json' | 'pretty'; readonly isColoured: boolean } {
  const format = logFormat ?? (stderr.isTTY === true ? 'pretty' : 'json');
  return { format, isColoured: hasColours(stderr, environment) };
}

/** A terminal that does not know its width, as some of programs have it, may be told by COLUMNS. */
function widthOf({ columns }: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): number {
  if (Number.isInteger(columns) && columns > 0) return columns;
  const told = Number(environment.COLUMNS);
  return Number.isInteger(told) && told > 0 ? told : USUAL_COLUMNS;
}

/** The first error of each stream: Node.js itself forgets those of standard output. */
const failures = new WeakMap<Writable, Error>();

/**
 * Makes the errors of standard output known to `outputWritten`, and makes it write all of a chunk where it is a file:
 * Node.js writes a chunk with one call, and a disk that is nearly full takes the beginning of it without an error.
 */
export function prepareOutput(stdout: Writable & { readonly fd: number }): void {
  listen(stdout, 'error', (error: Error) => {
    if (!failures.has(stdout)) failures.set(stdout, error);
  });
  if (stdout instanceof Socket) return;
  stdout._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stdout.fd, chunk, at);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

/**
 * Resolves when everything that was written to standard output has left this process. Throws DISK_FULL, or
 * DATA_DIR_UNUSABLE, when some of it could not be written: a stream tells that later than the call that wrote.
 */
export async function outputWritten(stdout: NodeJS.WriteStream): Promise<void> {
  const last = await new Promise<Error | null>((resolve) => {
    stdout.write('', (error) => resolve(error ?? null));
  });
  // The first error is the cause; a later one may only say that the stream is closed.
  const failure = failures.get(stdout) ?? last;
  // A reader that has seen enough ends the program elsewhere and is no failure.
  if (failure !== null && (failure as NodeJS.ErrnoException).code !== 'EPIPE') {
    throw cannotWrite('standard output', failure);
  }
}

/** Characters that a terminal may obey, or that turn the direction of text around: all control characters but line breaks and tabs. */
const OBEYED = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Writes what a page has written. On a terminal its control characters are shown as `\u001b`, which JSON reads as the same
 * character: a page must not be able to fill the clipboard, to change what was printed before, or to hide text. A file or another
 * program gets the page as it is.
 */
export function writePageText(stream: NodeJS.WriteStream, text: string): void {
  stream.write(
    stream.isTTY === true
      ? text.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : text,
  );
}

const told = new WeakMap<NodeJS.WriteStream, Set<string>>();

/** Writes a note beside the results of a command, once however often the command comes to it. */
export function tellOnce({ stderr }: Pick<Shell, 'stderr'>, note: string): void {
  const before = told.get(stderr) ?? new Set();
  told.set(stderr, before);
  if (before.has(note)) return;
  before.add(note);
  stderr.write(`${note}\n`);
}

/** The error for a file that cannot be written, in words for the user who named it or its folder. */
export function cannotWrite(path: string, error: unknown): ScrapifieError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ScrapifieError('DISK_FULL', `No space left to write ${path}.`, { cause: error });
  }
  return new ScrapifieError('DATA_DIR_UNUSABLE', `${path} cannot be written: ${message}`, { cause: error });
}
