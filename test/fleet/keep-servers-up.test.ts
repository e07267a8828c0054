import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { keepServersUp } from '../../fleet/keep-servers-up.ts';
import { startRedis } from '../../fleet/servers/redis.ts';

const LIMIT_MS = 60_000;

it(
  'a server of the fleet that dies is started again on the same port',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'scrapifie-keep-'));
    const redis = await startRedis({ dir });
    const stopping = new AbortController();
    const lines: string[] = [];
    const keeping = keepServersUp({ Redis: redis }, stopping.signal, (line) => lines.push(line));
    onTestFinished(async () => {
      stopping.abort();
      await keeping;
      await redis.stop();
      await rm(dir, { recursive: true, force: true });
    });
    const first = redis.pid;
    process.kill(first, 'SIGKILL');
    await expect
      .poll(() => lines, { timeout: LIMIT_MS / 2 })
      .toEqual(['Redis had ended and was started again.']);
    expect(redis.pid).not.toBe(first);
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    expect(await client.ping()).toBe('PONG');
  },
  LIMIT_MS,
);
