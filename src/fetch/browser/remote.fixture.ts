import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type BrowserType, chromium } from 'patchright-core';
import { onTestFinished } from 'vitest';
import { EXECUTABLE } from './browser.fixture.ts';
import { killTree } from './pool/process-tree.ts';

export interface RemoteFixture {
  readonly url: string;
  readonly pid: number;
  /** Ends the browser without warning. */
  kill(): Promise<void>;
}

const FLAGS = ['--no-sandbox', '--disable-quic'];

/** A real Playwright server with a Chromium. Ends with the test. */
export async function playwrightServer(port = 0, library: BrowserType = chromium): Promise<RemoteFixture> {
  const server = await library.launchServer({
    ...(EXECUTABLE === null ? {} : { executablePath: EXECUTABLE }),
    host: '127.0.0.1',
    port,
    args: FLAGS,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    ...(port === 0 ? {} : { wsPath: '/secret-path' }),
  });
  const pid = server.process().pid ?? 0;
  const kill = async () => {
    await server.kill().catch(() => {});
    await killTree(pid);
  };
  onTestFinished(kill);
  return { url: server.wsEndpoint(), pid, kill };
}

/** A Chromium with an open debugging port, started apart from the pool. Ends with the test. */
export async function cdpPort(port = 0): Promise<RemoteFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'remote-browser-'));
  const child: ChildProcess = spawn(
    EXECUTABLE ?? '',
    ['--headless', ...FLAGS, `--remote-debugging-port=${port}`, `--user-data-dir=${folder}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const kill = async () => {
    if (child.pid !== undefined) await killTree(child.pid);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  onTestFinished(kill);
  const { stderr } = child;
  if (stderr === null) throw new Error('no output');
  for await (const line of createInterface(stderr)) {
    const url = /DevTools listening on (ws:\/\/\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    stderr.resume();
    return { url: `http://${new URL(url).host}`, pid: child.pid ?? 0, kill };
  }
  const [code] = await once(child, 'exit');
  throw new Error(`the browser ended with ${code}`);
}
