import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { guardGroup } from './guard.ts';

export interface ProcessSpec {
  /** What messages call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Both outputs are appended here. */
  readonly logFile: string;
  readonly cwd?: string;
  /** Beside what it inherits. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Variables that it does not inherit begin with this. */
  readonly withheldPrefix?: string;
  /** User to run as; only root can choose. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Asks it to end. */
  readonly stopSignal: 'SIGINT' | 'SIGTERM';
  /** Ends it when this process was killed. */
  readonly orphanSignal?: 'KILL' | 'QUIT' | 'TERM';
  readonly stopMs?: number;
  readonly readyMs: number;
  /** Throws, or answers false, for as long as the server does not answer. Called again and again. */
  readonly isReady: () => Promise<boolean>;
  /** Called whenever it has ended, with the exit code or the signal; both are null when it could not be started. */
  readonly onExit?: (code: number | null, signal: NodeJS.Signals | null) => void;
}

/** One operating-system process of a server. It is started again as often as one likes. */
export interface ServerProcess {
  /** 0 while it is not running. */
  readonly pid: number;
  readonly isRunning: boolean;
  /** Resolves when the server answers. */
  start(): Promise<void>;
  /** Asks it to end, and kills it when it has not in time. Nothing when it is not running. */
  stop(): Promise<void>;
  /** kill -9. Resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
}

const STOP_MS = 20_000;
const POLL_MS = 25;
const TAIL_LINES = 15;

export function createServerProcess(spec: ProcessSpec): ServerProcess {
  const { name, stopMs = STOP_MS } = spec;
  let child: ChildProcess | null = null;

  const signal = (which: NodeJS.Signals) => void child?.kill(which);

  async function end(which: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (ending === null) return;
    const gone = exited(ending);
    // A paused process takes no signal but KILL.
    ending.kill('SIGCONT');
    ending.kill(which);
    const isGone = await Promise.race([gone.then(() => true), delay(stopMs, false, { ref: false })]);
    if (!isGone) {
      ending.kill('SIGKILL');
      await gone;
    }
  }

  return {
    get pid() {
      return child?.pid ?? 0;
    },
    get isRunning() {
      return child !== null;
    },
    async start() {
      if (child !== null) throw new Error(`${name} is running already.`);
      const started = launch(spec);
      child = started;
      const forget = (code: number | null, signal: NodeJS.Signals | null) => {
        if (child === started) child = null;
        spec.onExit?.(code, signal);
      };
      started.once('exit', forget);
      // What could not be started does not exit.
      started.once('error', () => {
        if (started.pid === undefined) forget(null, null);
      });
      try {
        await untilReady(spec, started);
      } catch (error) {
        await end('SIGKILL');
        throw error;
      }
    },
    stop: () => end(spec.stopSignal),
    kill: () => end('SIGKILL'),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  };
}

function launch(spec: ProcessSpec): ChildProcess {
  const log = openSync(spec.logFile, 'a');
  try {
    const child = spawn(spec.command, spec.args, {
      // The server has a group of its own: Ctrl-C is for the program that started us, which then stops servers in
      // order.
      detached: true,
      stdio: ['ignore', log, log],
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
      ...(spec.user ?? {}),
      env: { ...inherited(spec.withheldPrefix), ...spec.environment },
    });
    guardGroup(child, spec.orphanSignal ?? 'KILL');
    return child;
  } finally {
    closeSync(log);
  }
}

function inherited(withheldPrefix: string | undefined): NodeJS.ProcessEnv {
  if (withheldPrefix === undefined) return process.env;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith(withheldPrefix)));
}

async function untilReady(spec: ProcessSpec, child: ChildProcess): Promise<void> {
  const { name, readyMs, isReady } = spec;
  let last: unknown;
  let ending: string | null = null;
  child.once('error', (error) => {
    ending = `cannot be started: ${error.message}`;
  });
  child.once('exit', (code, signal) => {
    ending ??= `ended with ${signal ?? `exit code ${code}`} before it answered`;
  });
  const deadline = performance.now() + readyMs;
  while (performance.now() < deadline) {
    if (ending !== null) throw new Error(`${name} ${ending}.${logTail(spec.logFile)}`);
    try {
      if (await isReady()) return;
    } catch (error) {
      last = error;
    }
    await delay(POLL_MS);
  }
  throw new Error(`${name} did not answer within ${readyMs} ms.${logTail(spec.logFile)}`, { cause: last });
}

async function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  await once(child, 'exit');
}

/** The last lines of a server's own log, ready to be appended to a message. */
export function logTail(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return ' It wrote no log.';
  }
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-TAIL_LINES);
  if (lines.length === 0) return ' Its log is empty.';
  return ` The end of its log:\n${lines.map((line) => `  | ${line}`).join('\n')}`;
}
