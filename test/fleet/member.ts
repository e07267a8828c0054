import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { guardGroup } from '../../fleet/servers/guard.ts';
import { environmentName, type Role, type Settings } from '../../src/core/config/settings.ts';
import { PROGRAM } from '../program.ts';

/** One process of a fleet under test, whose end and whose every word can be looked at. */
export interface Member {
  readonly name: string;
  readonly pid: number;
  readonly origin: string;
  /** Everything it has written so far, to both streams. */
  output(): string;
  /** Lines of its log that say this. */
  lines(message: string): Record<string, unknown>[];
  signal(signal: NodeJS.Signals): void;
  /** Sets its wall clock to this much ahead of the machine's, while it runs. Only where `canStep` was given. */
  stepClock(aheadMs: number): void;
  /** Null while it runs; what a shell would show when a signal ended it. */
  readonly exitCode: number | null;
  /** Resolves with its exit code. */
  readonly ended: Promise<number>;
}

export type MemberSettings = Readonly<Partial<Settings>>;

export interface Launched {
  readonly child: ChildProcess;
  readonly ended: Promise<number>;
  output(): string;
}

const SKEWED_CLOCK = fileURLToPath(new URL('skewed-clock.ts', import.meta.url));
const POISON = fileURLToPath(new URL('../fault/poison.ts', import.meta.url));
const STEP_FILE = 'clock-step-ms';
const READY_MS = 60_000;
const POLL_MS = 20;
const SIGNALLED = 128;

const running = new Set<ChildProcess>();

/** Ends what a test that failed has left running. */
export async function endMembers(): Promise<void> {
  const ends = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}

export function variablesOf(settings: MemberSettings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [environmentName(name), String(value)]),
  );
}

/** How a process differs from others of its kind. */
export interface Oddities {
  /** What its clock is ahead by. */
  readonly skewMs?: number;
  /** Its wall clock can be set while it runs. */
  readonly canStep?: boolean;
  /** File with a certificate that it trusts besides those that everybody does. */
  readonly trusts?: string;
  /** The process dies in this way when the response of the URL arrives: see `test/fault/poison.ts`. */
  readonly poison?: { readonly url: string; readonly way: string };
}

/** The program in a process group of its own, with these settings and none of ours. */
export function launch(
  cwd: string,
  args: readonly string[],
  settings: MemberSettings,
  { skewMs = 0, canStep = false, trusts, poison }: Oddities = {},
): Launched {
  mkdirSync(cwd, { recursive: true });
  const clock = skewMs === 0 && !canStep ? [] : ['--import', SKEWED_CLOCK];
  const deadly = poison === undefined ? [] : ['--import', POISON];
  const flags = ['--disable-warning=ExperimentalWarning', ...clock, ...deadly];
  const child = spawn(process.execPath, [...flags, PROGRAM, ...args], {
    cwd,
    detached: true,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      // Tests read the metrics of their processes without a key.
      SCRAPIFIE_METRICS_FROM: '127.0.0.1',
      SCRAPIFIE_DATA_DIR: join(cwd, 'data'),
      TEST_CLOCK_SKEW_MS: String(skewMs),
      TEST_CLOCK_STEP_FILE: join(cwd, STEP_FILE),
      ...(poison === undefined ? {} : { TEST_POISON_URL: poison.url, TEST_POISON_WAY: poison.way }),
      ...(trusts === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusts }),
      // No balancer has to notice that it stops.
      SCRAPIFIE_DRAIN_NOTICE_MS: '0',
      ...variablesOf(settings),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  guardGroup(child, 'KILL');
  let output = '';
  const take = (text: string) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  running.add(child);
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve(code ?? SIGNALLED);
    });
  });
  return { child, ended, output: () => output };
}

/** Starts a role and resolves when it says that it is ready. Throws with all it said when it ends before. */
export async function startMember(
  cwd: string,
  role: Role,
  settings: MemberSettings,
  oddities?: Oddities,
): Promise<Member> {
  const started = launch(cwd, ['serve', '--role', role, '--port', '0'], settings, oddities);
  const { child, ended, output } = started;
  const lines = (message: string) =>
    output()
      .split('\n')
      .flatMap((line) => parsed(line))
      .filter(({ msg }) => msg === message);
  let exitCode: number | null = null;
  void ended.then((code) => {
    exitCode = code;
  });
  const deadline = performance.now() + READY_MS;
  while (lines('ready').length === 0) {
    if (exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${role} did not get ready (exit code ${exitCode}):\n${output()}`);
    }
    await delay(POLL_MS);
  }
  return {
    name: cwd,
    pid: child.pid ?? 0,
    origin: String(lines('ready')[0]?.origin),
    output,
    lines,
    signal: (signal) => void child.kill(signal),
    stepClock(aheadMs) {
      if (oddities?.canStep !== true) throw new Error(`The clock of ${cwd} cannot be set.`);
      writeFileSync(join(cwd, STEP_FILE), `${aheadMs}\n`);
    },
    get exitCode() {
      return exitCode;
    },
    ended,
  };
}

function parsed(line: string): Record<string, unknown>[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    // Half of a line; the other half comes.
    return [];
  }
}
