import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { vi } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { createShell } from '../../src/wiring/shell.ts';
import { PROGRAM } from '../program.ts';

export interface Ended {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command in a process of its own, as a person would start it. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has written to standard output so far. */
  stdout(): string;
  stderr(): string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The limit of open files that it is started with. */
  readonly openFiles?: number;
  /** What is piped into it; left out: nothing, and no pipe. */
  readonly input?: string;
}

const running = new Set<ChildProcess>();

/** Ends what a test that failed has left running; for `afterAll`. */
export async function endCommands(): Promise<void> {
  const ends = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}

/** What the user of a command has trusted: nothing, in whatever home the tests run. */
const NO_TRUST = { XDG_CONFIG_HOME: join(tmpdir(), `scrapifie-no-settings-${process.pid}`) };

/** Nothing of this process's own settings reaches the command. */
export function startCommand(
  args: readonly string[],
  { cwd, env = {}, input, openFiles }: CommandOptions = {},
): RunningCommand {
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM, ...args];
  const limited = ['sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, ...program];
  const [file = '', ...rest] = openFiles === undefined ? program : limited;
  const child = spawn(file, rest, {
    cwd: cwd ?? tmpdir(),
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...NO_TRUST,
      ...env,
    },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    running.add(child);
    child.once('close', (exitCode) => {
      running.delete(child);
      resolve({ exitCode, stdout, stderr });
    });
  });
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** The origin that a server prints when it is ready. Throws with its errors when it ends before. */
export function originOf({ child, stdout, ended }: RunningCommand): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      const [, origin] = /^ +API +(http:\S+)$/m.exec(stdout()) ?? [];
      if (origin !== undefined) resolve(origin);
    });
    void ended.then(({ stderr }) => reject(new Error(`The server ended before it was ready: ${stderr}`)));
  });
}

/**
 * A command until it has ended, in this process: that spares the start of another one. `startCommand` is for what only a
 * process shows: signals, kills, pipes that break and exit codes of the system.
 */
export async function runCommand(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, input = '' }: CommandOptions = {},
): Promise<Ended> {
  const [stdout, stderr] = [collected(), collected()];
  const shell = createShell({
    environment: { PATH: process.env.PATH ?? '', ...NO_TRUST, ...env },
    cwd,
    // Without a terminal nothing else of these types is used.
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]) as NodeJS.ReadStream,
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  const exitCode = await run(args, shell);
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

/** A stream that keeps what is written to it, as a pipe that is read at once. */
function collected(): { readonly stream: NodeJS.WriteStream; text(): string } {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk);
      done();
    },
  });
  return { stream: stream as NodeJS.WriteStream, text: () => Buffer.concat(pieces).toString('utf8') };
}

/** A folder that is gone after the tests of a file. */
export function temporaryFolder(): { path: (name: string) => string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-cli-test-'));
  return {
    path: (name) => join(dir, name),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export interface PageLine {
  readonly url: string;
  readonly statusCode: number | null;
  readonly contentHash: string | null;
  readonly title: string | null;
  readonly metadata: { readonly title: string | null } | null;
  readonly links: readonly { readonly url: string }[];
  readonly error?: { readonly code: string; readonly message: string };
  readonly rawHtml?: string | null;
  readonly text?: string | null;
}

export function readPages(out: string): PageLine[] {
  const text = readFileSync(join(out, 'pages.ndjson'), 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error('pages.ndjson ends in half a line.');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as PageLine);
}

export function readReport(out: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Record<string, unknown>;
}

/** Until the report of a crawl that is running says so many pages. */
export async function untilPages(out: string, least: number): Promise<void> {
  await vi.waitFor(
    () => {
      if (Number(readReport(out).pages) < least) throw new Error('not yet');
    },
    { timeout: 20_000, interval: 25 },
  );
}
