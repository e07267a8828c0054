import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { createServerProcess } from './server-process.ts';

export interface Sentinel {
  readonly port: number;
  /** Another server becomes the primary; resolves when the sentinel names it. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 30_000;
const LOOK_MS = 50;

/** One sentinel, which decides alone. Resolves when it knows the primary and a replica of it. */
export async function startSentinel(options: {
  readonly dir: string;
  /** The URL of the primary, with its password. */
  readonly primary: string;
  readonly name: string;
}): Promise<Sentinel> {
  const { dir, name } = options;
  const { hostname, port: primaryPort, password } = new URL(options.primary);
  const command = await findProgram('redis-server', { says: /Redis|Valkey/i });
  const port = await freePort();
  await mkdir(dir, { recursive: true });
  const file = join(dir, 'sentinel.conf');
  const login = password === '' ? '' : `sentinel auth-pass ${name} "${decodeURIComponent(password)}"\n`;
  await writeFile(
    file,
    `bind 127.0.0.1
port ${port}
dir ${dir}
sentinel monitor ${name} ${hostname} ${primaryPort} 1
sentinel down-after-milliseconds ${name} 2000
sentinel failover-timeout ${name} 10000
${login}`,
  );
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, enableReadyCheck: false });
  client.on('error', () => undefined);
  const ask = (...words: string[]) => client.call('SENTINEL', ...words);
  const server = createServerProcess({
    name: 'Redis Sentinel',
    command,
    args: [file, '--sentinel'],
    cwd: dir,
    logFile: join(dir, 'sentinel.log'),
    stopSignal: 'SIGTERM',
    readyMs: READY_MS,
    isReady: async () => {
      const replicas = (await ask('REPLICAS', name)) as string[][];
      return replicas.length > 0 && replicas.every((fields) => fields.includes('slave'));
    },
  });
  await server.start();
  const address = async () => String(await ask('GET-MASTER-ADDR-BY-NAME', name));
  return {
    port,
    async failOver() {
      const before = await address();
      await ask('FAILOVER', name);
      for (
        const deadline = performance.now() + READY_MS;
        performance.now() < deadline;
        await pause(LOOK_MS)
      ) {
        if ((await address()) !== before) return;
      }
      throw new Error(`The sentinel named no other primary within ${READY_MS} ms.`);
    },
    async stop() {
      client.disconnect();
      await server.stop();
    },
  };
}
