import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawnSite } from '../../test/site/remote-site.ts';
import { type AnswerListener, startFaultProxy } from './fault-proxy.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KEY = 'key-of-the-scenarios-0123456789abcdef';

export interface Verdict {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string | null;
}

/** A server with the test site, behind the proxy that makes faults. */
export interface World {
  /** Of the server itself, without the proxy. */
  readonly serverUrl: string;
  readonly apiKey: string;
  readonly siteUrl: string;
  /** Runs the program of a language and resolves with what it says of each scenario. */
  run(
    command: string,
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): Promise<readonly Verdict[]>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Starts another proxy between the one that makes faults and the server. */
  readonly between?: (server: string) => Promise<{ readonly url: string; close(): Promise<void> }>;
  readonly onAnswer?: AnswerListener;
}

export async function openWorld({ between, onAnswer }: WorldOptions = {}): Promise<World> {
  /** What is running, the latest first. */
  const open: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of open.splice(0)) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'scrapifie-clients-'));
    open.unshift(() => rm(folder, { recursive: true, force: true }));
    const site = await spawnSite({ log: 'counts' });
    open.unshift(() => site.close());
    const server = await startServer(folder, new URL(site.url).host);
    open.unshift(() => server.close());
    const inner = await between?.(server.url);
    open.unshift(async () => inner?.close());
    const proxy = await startFaultProxy(inner?.url ?? server.url, onAnswer);
    open.unshift(() => proxy.close());
    return {
      serverUrl: server.url,
      apiKey: KEY,
      siteUrl: site.url,
      run: (command, args, environment = {}) =>
        runProgram(command, args, { ...environment, SCRAPIFIE_URL: proxy.url, SITE_URL: site.url }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The server in a process of its own, when it says on which port it listens. */
async function startServer(
  folder: string,
  siteHost: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const policy = join(folder, 'policy.yaml');
  await writeFile(policy, `domains:\n  "${siteHost}":\n    rate: unlimited\n    concurrency: 8\n`);
  const server = spawn(join(ROOT, 'scrapifie'), ['serve', '--port', '0', '--host', '127.0.0.1'], {
    cwd: folder,
    env: {
      ...process.env,
      SCRAPIFIE_DATA_DIR: join(folder, 'data'),
      SCRAPIFIE_API_KEY: KEY,
      SCRAPIFIE_ALLOW_PRIVATE: 'true',
      SCRAPIFIE_POLICY_FILE: policy,
      SCRAPIFIE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    // All lines are read, also after the one that is waited for, so that the pipe does not fill.
    createInterface(server.stdout).on('line', (line) => {
      const [, origin] = /API +(http:\S+)/.exec(line) ?? [];
      if (origin !== undefined) resolve(origin);
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`The server ended with ${code} before it was ready.`)));
  });
  return {
    url,
    async close() {
      server.kill('SIGTERM');
      await ended;
    },
  };
}

async function runProgram(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly Verdict[]> {
  const child = spawn(command, args, {
    env: {
      ...process.env,
      ...environment,
      SCRAPIFIE_KEY: KEY,
      SCENARIOS: fileURLToPath(new URL('scenarios.json', import.meta.url)),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const verdicts: Verdict[] = [];
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const read = (async () => {
    for await (const line of createInterface(child.stdout)) verdicts.push(JSON.parse(line) as Verdict);
  })();
  await Promise.race([read, failed]);
  return verdicts;
}
