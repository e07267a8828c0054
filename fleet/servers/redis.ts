import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { createServerProcess } from './server-process.ts';

export interface RedisOptions {
  /** Made when it is not there; what is in it is kept. */
  readonly dir: string;
  readonly maxMemoryPolicy?: string;
  readonly password?: string;
  /** Whether data outlives stop() and kill(): written to a log with every change. Otherwise a restart begins empty. */
  readonly isAppendOnly?: boolean;
  /** Further settings of the server, such as `{ 'cluster-enabled': 'yes' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface RedisServer {
  readonly url: string;
  /** 0 while it is down. */
  readonly pid: number;
  stop(): Promise<void>;
  /** Stops it when it is up, and starts it on the same port and data. */
  restart(): Promise<void>;
  /** Ends the server with `kill -9`. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  flushAll(): Promise<void>;
}

const READY_MS = 15_000;

export async function startRedis(options: RedisOptions): Promise<RedisServer> {
  const { dir, maxMemoryPolicy = 'noeviction', password, isAppendOnly = false, settings = {} } = options;
  const command = await findProgram('redis-server', { says: /Redis|Valkey/i });
  await mkdir(dir, { recursive: true });
  const port = await freePort();
  const url = `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}/0`;

  async function ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(url, {
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      connectTimeout: 5_000,
      commandTimeout: 10_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await question(client);
    } finally {
      client.disconnect();
    }
  }

  const server = createServerProcess({
    name: 'Redis',
    command,
    args: [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', dir],
      ...['--save', '', '--appendonly', isAppendOnly ? 'yes' : 'no'],
      ...['--maxmemory-policy', maxMemoryPolicy],
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')]),
    ],
    cwd: dir,
    logFile: join(dir, 'redis.log'),
    stopSignal: 'SIGTERM',
    readyMs: READY_MS,
    isReady: async () => (await ask((client) => client.ping())) === 'PONG',
  });
  await server.start();

  return {
    url,
    get pid() {
      return server.pid;
    },
    stop: server.stop,
    async restart() {
      await server.stop();
      await server.start();
    },
    kill: server.kill,
    pause: server.pause,
    resume: server.resume,
    async flushAll() {
      await ask((client) => client.flushall());
    },
  };
}
