import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A Scrapifie server as a person would start it, whose policy lifts the rate of one host. */
export interface MeasuredServer {
  readonly origin: string;
  readonly apiKey: string;
  /** The text of /metrics; throws when it is not there. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

const LAUNCHER = fileURLToPath(new URL('../../scrapifie', import.meta.url));
const API_KEY = 'measured-with-this-key-0123456789';
const START_LIMIT_MS = 30_000;
const ASK_AGAIN_MS = 50;

export async function startServer(
  folder: string,
  liftedHost: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<MeasuredServer> {
  mkdirSync(folder, { recursive: true });
  const policyFile = join(folder, 'policy.yaml');
  writeFileSync(policyFile, `domains:\n  "${liftedHost}":\n    rate: unlimited\n    concurrency: 64\n`);
  const port = await freePort();
  const log = createWriteStream(join(folder, 'server.log'));
  await once(log, 'open');
  const own = Object.entries(process.env).filter(([name]) => !/^(?:SCRAPIFIE|OTEL)_/.test(name));
  const child = spawn(LAUNCHER, ['serve', '--port', String(port), '--host', '127.0.0.1'], {
    cwd: folder,
    env: {
      ...Object.fromEntries(own),
      SCRAPIFIE_DATA_DIR: join(folder, 'data'),
      SCRAPIFIE_API_KEY: API_KEY,
      SCRAPIFIE_ALLOW_PRIVATE: 'true',
      SCRAPIFIE_POLICY_FILE: policyFile,
      SCRAPIFIE_LOG_LEVEL: 'info',
      SCRAPIFIE_METRICS_FROM: '127.0.0.1',
      ...settings,
    },
    stdio: ['ignore', log, log],
  });
  const origin = `http://127.0.0.1:${port}`;
  const ended = once(child, 'exit');
  await untilReady(origin, child);
  return {
    origin,
    apiKey: API_KEY,
    async metrics() {
      const response = await fetch(`${origin}/metrics`);
      if (!response.ok) throw new Error(`/metrics answers ${response.status}.`);
      return response.text();
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
      log.end();
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

async function untilReady(origin: string, child: ChildProcess): Promise<void> {
  const endAt = performance.now() + START_LIMIT_MS;
  while (performance.now() < endAt) {
    if (child.exitCode !== null) throw new Error(`The server ended with code ${child.exitCode}.`);
    const isReady = await fetch(`${origin}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
  child.kill('SIGTERM');
  throw new Error('The server was not ready in time.');
}
