import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ChildRun {
  /** The last line of standard output, parsed: what every program here answers with. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** From the start of the process to its end. */
  readonly wallSeconds: number;
  /** User and system time of all its threads. */
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
}

interface Usage {
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
}

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly limitMs?: number;
  /** Told as soon as the program runs. */
  readonly onStart?: (pid: number) => void;
}

const PROBE = new URL('./usage-probe.ts', import.meta.url);
const DEFAULT_LIMIT_MS = 900_000;
const SHOWN_ERROR_CHARS = 2_000;

/** The environment of a program whose use of the machine is to be written to `file` when it ends. */
export function measuredEnvironment(file: string): NodeJS.ProcessEnv {
  // Settings of the person who measures would be measured, too.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SCRAPIFIE_'));
  return {
    ...Object.fromEntries(own),
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${PROBE.href}`,
    BENCH_USAGE_FILE: file,
  };
}

/** Runs a program to its end and says what it cost. Throws when it fails, takes too long or answers nothing. */
export async function runChild(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<ChildRun> {
  const folder = mkdtempSync(join(tmpdir(), 'scrapifie-bench-'));
  const usageFile = join(folder, 'usage.json');
  try {
    const startedAt = performance.now();
    const output = await outputOf(command, args, {
      limitMs: options.limitMs ?? DEFAULT_LIMIT_MS,
      cwd: options.cwd,
      onStart: options.onStart,
      env: { ...measuredEnvironment(usageFile), ...options.env },
    });
    const wallSeconds = (performance.now() - startedAt) / 1_000;
    const lastLine = output.trimEnd().split('\n').at(-1) ?? '';
    const usage = JSON.parse(readFileSync(usageFile, 'utf8')) as Usage;
    return { answer: JSON.parse(lastLine), wallSeconds, ...usage };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(
  command: string,
  args: readonly string[],
  options: {
    readonly env: NodeJS.ProcessEnv;
    readonly limitMs: number;
    readonly cwd: string | undefined;
    readonly onStart: ChildOptions['onStart'] | undefined;
  },
): Promise<string> {
  const child = spawn(command, args, {
    env: options.env,
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.limitMs,
  });
  if (child.pid !== undefined) options.onStart?.(child.pid);
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-SHOWN_ERROR_CHARS);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}:\n${errors}`));
    });
  });
}

/** A number of a program's answer; throws when it is none, so that a missing figure is not taken for zero. */
export function numberOf(answer: ChildRun['answer'], name: string): number {
  const value = answer[name];
  if (typeof value !== 'number')
    throw new Error(`The answer has no number ${name}: ${JSON.stringify(answer)}`);
  return value;
}
