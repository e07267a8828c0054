import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { searchEnvironment } from '../../src/config/search-environment.ts';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A server that a person has started by `make run`. */
export interface RunningServer {
  readonly origin: string;
  /** The address that the start printed; it signs in by itself, once. */
  readonly link: string;
  /** Ends it at once, as a power cut does, or in good order. */
  stop(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/** Runs the command of the README, with arguments for the server, and waits until it has printed the link to the dashboard. */
export async function makeRun(args: readonly string[]): Promise<RunningServer> {
  const child = spawn('make', ['run', `ARGS=${args.join(' ')}`], {
    cwd: ROOT,
    // A group of its own: make waits for a shell, which waits for the server, and a signal must reach all of them.
    detached: true,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let printed = '';
  const link = await new Promise<string>((resolve, reject) => {
    const onText = (text: string) => {
      printed += text;
      const [, found] = /^ *Dashboard +(http:\S+)/m.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText);
    void ended.then(() => reject(new Error(`The server ended before it was ready: ${printed}`)));
  });
  return {
    origin: new URL(link).origin,
    link,
    async stop(signal = 'SIGTERM') {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
      await ended;
    },
  };
}

/** A real Chromium. The dashboard is built first where it is missing, as `make test` does. */
export async function openBrowser(): Promise<Browser> {
  const found = await findBrowser({ executable: null, env: searchEnvironment() });
  if (found === null) throw new Error('These tests need a browser: run `make browser`.');
  await promisify(execFile)('sh', [`${ROOT}scripts/dashboard.sh`]);
  return chromium.launch({ executablePath: found.path, chromiumSandbox: process.getuid?.() !== 0 });
}
