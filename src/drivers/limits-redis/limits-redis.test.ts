import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis } from '../../../fleet/servers/redis.ts';
import { createLimitsLocal } from '../limits-local/limits-local.ts';
import { createLimitsRedis } from './limits-redis.ts';

let dir: string;
let redis: RedisServer;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-limits-'));
  redis = await startRedis({ dir });
});
afterAll(async () => {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
});

const open = (prefix: string, onChange = vi.fn()) =>
  createLimitsRedis({ url: redis.url, prefix, fallback: createLimitsLocal(), onChange, patienceMs: 500 });

describe('limits that processes share', () => {
  test('count together, in one operation per request, and forget by themselves', async () => {
    const [here, there] = [await open('one'), await open('one')];
    await here.take('other', 4, Date.now());
    const before = here.operations();
    const taken = [];
    for (const limits of [here, there, here, there, here]) taken.push(await limits.take('k', 4, Date.now()));
    expect(taken.map(({ isAllowed }) => isAllowed)).toEqual([true, true, true, true, false]);
    expect(here.operations() - before).toBe(3);
    const client = new Redis(redis.url);
    const [leftMs] = await Promise.all([client.pttl('one:limit:k')]);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(60_000);
    client.disconnect();
    await Promise.all([here.close(), there.close()]);
  });

  test.each([
    ['is away', () => redis.kill(), () => redis.restart()],
    ['hangs', async () => redis.pause(), async () => redis.resume()],
  ])(
    'fail open while Redis %s: each process counts for itself, and says so once',
    async (_what, fail, mend) => {
      const onChange = vi.fn();
      const limits = await open(`fail-${_what}`, onChange);
      await limits.take('k', 2, Date.now());
      await fail();
      const taken = [];
      for (let request = 0; request < 3; request += 1) taken.push(await limits.take('k', 2, Date.now()));
      expect(taken.map(({ isAllowed }) => isAllowed)).toEqual([true, true, false]);
      expect(onChange.mock.calls).toEqual([[false, expect.any(String)]]);
      await mend();
      await vi.waitFor(
        async () => {
          await limits.take('another', 100, Date.now());
          expect(onChange.mock.calls).toEqual([
            [false, expect.any(String)],
            [true, expect.any(String)],
          ]);
        },
        { timeout: 20_000, interval: 50 },
      );
      await limits.close();
    },
  );
});
