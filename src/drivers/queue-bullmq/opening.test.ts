import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../fleet/servers/free-port.ts';
import { type RedisServer, startRedis } from '../../../fleet/servers/redis.ts';
import { createQueueBullmq } from './queue-bullmq.ts';

const PASSWORD = 'canary-7f3a';
let dir: string;
let redis: RedisServer;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-opening-'));
  redis = await startRedis({ dir, password: PASSWORD, maxMemoryPolicy: 'allkeys-lru' });
});
afterAll(async () => {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
});

const failure = (url: string) =>
  createQueueBullmq({ url, onHandlerError: () => {} }).then(
    (queue) => queue.close(),
    (error: unknown) => error,
  );

describe('a queue that cannot be opened', () => {
  test('says so of a Redis that nobody runs', async () => {
    const port = await freePort();
    expect(await failure(`redis://:${PASSWORD}@127.0.0.1:${port}`)).toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });

  test.each([
    ['a wrong password', { password: 'wrong-canary-9c1b' }],
    ['no password', { password: '' }],
    ['an unknown user', { username: 'nobody' }],
    ['a database that is not there', { pathname: '/999' }],
  ])('is refused with %s, and nothing secret is said', async (_what, change) => {
    const url = Object.assign(new URL(redis.url), change);
    const error = await failure(url.href);
    expect(error).toMatchObject({
      code: 'QUEUE_REFUSED',
      message: expect.stringContaining(new URL(redis.url).host),
    });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary');
  });

  test('is refused when Redis would throw work away, and only then', async () => {
    const client = new Redis(redis.url);
    expect(await failure(redis.url)).toBeUndefined();
    await client.config('SET', 'maxmemory', '100mb');
    expect(await failure(redis.url)).toMatchObject({ code: 'QUEUE_UNSAFE' });
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await failure(redis.url)).toBeUndefined();
    client.disconnect();
  });
});
