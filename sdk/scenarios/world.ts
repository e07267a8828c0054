import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawnSite } from '../../test/site/remote-site.ts';
import { type AnswerListener, startFaultProxy } from './fault-proxy.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KEY = 'key-of-the-scenarios-0123456789abcdef';
const READY_LIMIT_MS = 60_000;
const LOOK_MS = 100;

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
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-clients-'));
  const site = await spawnSite({ log: 'counts' });
  const policy = join(folder, 'policy.yaml');
  await writeFile(
    policy,
    `domains:\n  "${new URL(site.url).host}":\n    rate: unlimited\n    concurrency: 8\n`,
  );
  const port = await freePort();
  const server = spawn(join(ROOT, 'scrapifie'), ['serve', '--port', String(port), '--host', '127.0.0.1'], {
    cwd: folder,
    env: {
      ...process.env,
      SCRAPIFIE_DATA_DIR: join(folder, 'data'),
      SCRAPIFIE_API_KEY: KEY,
      SCRAPIFIE_ALLOW_PRIVATE: 'true',
      SCRAPIFIE_POLICY_FILE: policy,
      SCRAPIFIE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(server, 'exit');
  const target = `http://127.0.0.1:${port}`;
  await untilReady(target);
  const inner = await between?.(target);
  const proxy = await startFaultProxy(inner?.url ?? target, onAnswer);
  return {
    serverUrl: target,
    apiKey: KEY,
    siteUrl: site.url,
    async run(command, args, environment = {}) {
      const child = spawn(command, args, {
        env: {
          ...process.env,
          ...environment,
          SCRAPIFIE_URL: proxy.url,
          SCRAPIFIE_KEY: KEY,
          SITE_URL: site.url,
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
    },
    async close() {
      await proxy.close();
      await inner?.close();
      server.kill('SIGTERM');
      await ended;
      await site.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

async function untilReady(target: string): Promise<void> {
  const endAt = performance.now() + READY_LIMIT_MS;
  while (performance.now() < endAt) {
    const isReady = await fetch(`${target}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await delay(LOOK_MS);
  }
  throw new Error('The server was not ready in time.');
}
