import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { vi } from 'vitest';
import { searchEnvironment } from '../../src/core/config/search-environment.ts';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import { originOf, startCommand, type temporaryFolder } from '../integration/cli-command.ts';
import { QUICK_POLICY } from '../integration/world.ts';

/** The key of the owner, which `serve` knows. */
export const API_KEY = 'a-key-of-the-tests-of-the-dashboard';
const WAIT = { timeout: 60_000, interval: 100 };
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A server that a person has started by `make run`. */
export interface RunningServer {
  readonly origin: string;
  /** The address that the start printed; it signs in by itself, once. */
  readonly link: string;
  /** Ends it at once, as a power cut does, or in good order. */
  stop(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;
/** A request of the API; returns `data` of the answer. A body makes it a POST. */
export type Call = (path: string, body?: Json, method?: string) => Promise<Json>;

/** A server with the sample shop, which may be crawled at full speed. */
export interface ServedDashboard {
  readonly origin: string;
  readonly call: Call;
  /** A page of a browser that has the cookie of a sign-in with the key; left out: with that of the owner. */
  signIn(context: BrowserContext, key?: string): Promise<Page>;
  kill(): Promise<void>;
}

type TemporaryFolder = ReturnType<typeof temporaryFolder>;

/** Runs the command of the README, with arguments for the server, and waits until it has named the file with the link to the dashboard. */
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
      // Without a terminal the link is not printed: it would stay in a log.
      const [, file] = /^ *Dashboard +http:\S+ +\(the link in (.+) signs in once/m.exec(printed) ?? [];
      if (file !== undefined) resolve(readFileSync(file, 'utf8').trim());
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

/** Starts a server in a process that can be killed and started again, at its port and on its folder. */
export async function serve(
  folder: TemporaryFolder,
  { port = 0, args = [], env = {} }: ServeOptions = {},
): Promise<ServedDashboard> {
  writeFileSync(folder.path('policy.yaml'), QUICK_POLICY);
  const places = ['--data-dir', folder.path('data'), '--policy-file', folder.path('policy.yaml')];
  const command = startCommand(['serve', '--port', String(port), ...places, ...args], {
    env: { SCRAPIFIE_API_KEY: API_KEY, ...env },
  });
  const origin = await originOf(command);
  return {
    origin,
    call: callOf(origin),
    async kill() {
      command.child.kill('SIGKILL');
      await command.ended;
    },
    async signIn(context, key = API_KEY) {
      const data = { key };
      const answer = await context.request.post(`${origin}/dashboard/session`, { data });
      if (!answer.ok()) throw new Error(`The sign-in was answered with ${answer.status()}.`);
      return context.newPage();
    },
  };
}

interface ServeOptions {
  readonly port?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const callOf =
  (origin: string): Call =>
  async (path, body, method = body === undefined ? 'GET' : 'POST') => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { 'x-api-key': API_KEY, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return text === '' ? {} : (JSON.parse(text) as { data: Json }).data;
  };

/** Repeats a request until its answer passes: readers of events write many of the shown values a moment later. */
export async function until(
  call: Call,
  path: string,
  isThere: (data: Json) => boolean,
  body?: Json,
): Promise<Json> {
  return vi.waitFor(async () => {
    const data = await call(path, body);
    if (!isThere(data)) throw new Error(`${path} is not there yet: ${JSON.stringify(data).slice(0, 300)}`);
    return data;
  }, WAIT);
}
