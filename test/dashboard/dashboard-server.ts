import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { searchEnvironment } from '../../src/config/search-environment.ts';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import { originOf, startCommand, type temporaryFolder } from '../integration/cli-command.ts';
import { QUICK_POLICY } from '../integration/world.ts';

/** The key of the owner, which `serve` knows. */
export const API_KEY = 'a-key-of-the-tests-of-the-dashboard';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A server that a person has started by `make run`. */
export interface RunningServer {
  readonly origin: string;
  /** The address that the start printed; it signs in by itself, once. */
  readonly link: string;
  /** Ends it at once, as a power cut does, or in good order. */
  stop(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/** A server for tests that look at a part of the dashboard. */
export interface ServedDashboard {
  readonly origin: string;
  /** A request of the API; returns `data` of the answer. */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** A page of a browser that has the cookie of a sign-in with the key; left out: with that of the owner. */
  signIn(context: BrowserContext, key?: string): Promise<Page>;
  kill(): Promise<void>;
}

type TemporaryFolder = ReturnType<typeof temporaryFolder>;

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

/** A server with the sample shop, which may be crawled at full speed, in a process that can be killed and started again. */
export async function serve(folder: TemporaryFolder, port = 0): Promise<ServedDashboard> {
  writeFileSync(folder.path('policy.yaml'), QUICK_POLICY);
  const places = ['--data-dir', folder.path('data'), '--policy-file', folder.path('policy.yaml')];
  const command = startCommand(['serve', '--port', String(port), ...places], {
    env: { SCRAPIFIE_API_KEY: API_KEY },
  });
  const origin = await originOf(command);
  return {
    origin,
    async kill() {
      command.child.kill('SIGKILL');
      await command.ended;
    },
    async call(method, path, body) {
      const answer = await fetch(`${origin}${path}`, {
        method,
        headers: { 'x-api-key': API_KEY, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer.status === 204 ? {} : ((await answer.json()) as { data: Record<string, unknown> }).data;
    },
    async signIn(context, key = API_KEY) {
      const data = { key };
      const answer = await context.request.post(`${origin}/dashboard/session`, { data });
      if (!answer.ok()) throw new Error(`The sign-in was answered with ${answer.status()}.`);
      return context.newPage();
    },
  };
}
