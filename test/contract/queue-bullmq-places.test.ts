import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../fleet/servers/free-port.ts';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import { type RedisCluster, startRedisCluster } from '../../fleet/servers/redis-cluster.ts';
import { startSentinel } from '../../fleet/servers/redis-sentinel.ts';
import { createBusRedis } from '../../src/drivers/bus-redis/bus-redis.ts';
import { createLimitsLocal } from '../../src/drivers/limits-local/limits-local.ts';
import { createLimitsRedis } from '../../src/drivers/limits-redis/limits-redis.ts';
import { createQueueBullmq } from '../../src/drivers/queue-bullmq/queue-bullmq.ts';
import { busContract } from './bus-contract.ts';
import { limitsContract } from './limits-contract.ts';
import { queueContract } from './queue-contract.ts';

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 30_000, interval: 20 });

let dir: string;
let cluster: RedisCluster;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-cluster-'));
  cluster = await startRedisCluster({ dir });
});
afterAll(async () => {
  await cluster?.stop();
  await rm(dir, { recursive: true, force: true });
});

const openQueue = (url: string, prefix: string) =>
  createQueueBullmq({ url, prefix, beatMs: 200, onHandlerError: () => undefined });
const openBus = (url: string, prefix: string) =>
  createBusRedis({ url, prefix, onListenerError: () => undefined });
const openLimits = (url: string, prefix: string) =>
  createLimitsRedis({ url, prefix, fallback: createLimitsLocal(), patienceMs: 5_000 });
const opened = <D extends { close(): Promise<void> }>(driver: D) => ({
  driver,
  close: () => driver.close(),
});
const anyPrefix = () => `test-${randomUUID()}`;

queueContract('BullMQ on a cluster', async () => opened(await openQueue(cluster.url, anyPrefix())));
busContract('Redis Cluster', async () => opened(await openBus(cluster.url, anyPrefix())));
limitsContract('Redis Cluster', async () => opened(await openLimits(cluster.url, anyPrefix())), [
  { case: 'begins anew when the window is over', reason: 'Redis goes by its own clock' },
]);

/** Everything that goes through Redis, on both sides of a change of the primary. */
async function showSurvival(url: string, prefix: string, change: () => Promise<void>): Promise<void> {
  const [queue, bus, other] = await Promise.all([
    openQueue(url, prefix),
    openBus(url, prefix),
    openBus(url, prefix),
  ]);
  const limits = await openLimits(url, prefix);
  const taken: string[] = [];
  const heard: string[] = [];
  other.subscribe('host.ready', ({ hosts }) => void heard.push(...hosts));
  await queue.consume('scrape-http', 2, async ({ id }) => void taken.push(id));
  /** Offered and told again until it arrives, as sweeps do: a change of the primary may lose what is on the way. */
  const goesThrough = (name: string) =>
    until(async () => {
      await queue.offer('scrape-http', [{ id: name, rank: 0 }]);
      bus.publish('host.ready', { hosts: [name] });
      await Promise.all([queue.check(), bus.check(), limits.check()]);
      expect(taken).toContain(name);
      expect(heard).toContain(name);
    });
  try {
    await goesThrough('before');
    await change();
    await goesThrough('after');
    await expect(limits.take('key', 100, Date.now())).resolves.toMatchObject({ isAllowed: true });
  } finally {
    await Promise.all([queue.close(), bus.close(), other.close(), limits.close()]);
  }
}

describe('Redis with several servers', () => {
  test('a plain URL of a node of a cluster is refused with the URL that is wanted', async () => {
    const url = cluster.nodes[1]?.url ?? '';
    await expect(openQueue(url, 'test')).rejects.toMatchObject({
      code: 'QUEUE_REFUSED',
      message: expect.stringContaining('redis+cluster://'),
    });
  });

  test('a cluster URL of a server without cluster is refused', async () => {
    const alone = await startRedis({ dir: join(dir, 'alone') });
    try {
      const url = alone.url.replace('redis:', 'redis+cluster:').replace('/0', '');
      await expect(openQueue(url, 'test')).rejects.toMatchObject({
        code: 'QUEUE_REFUSED',
        message: expect.stringContaining('redis://'),
      });
    } finally {
      await alone.stop();
    }
  });

  test('a cluster may hand our keys to a replica, and may lose a primary', async () => {
    let prefix = anyPrefix();
    while (!(await cluster.isOnFirst(prefix))) prefix = anyPrefix();
    await showSurvival(cluster.url, prefix, () => cluster.failOver());
    // The former replica has them now.
    await showSurvival(cluster.url, prefix, async () => cluster.nodes.at(-1)?.kill());
  });

  test('sentinels name the primary, also after a fail-over', async () => {
    const password = 'p:/?#';
    const auth = { password, settings: { masterauth: password, 'repl-diskless-sync-delay': '0' } };
    const primary = await startRedis({ dir: join(dir, 'primary'), ...auth });
    const { port } = new URL(primary.url);
    const replica = await startRedis({
      dir: join(dir, 'replica'),
      ...auth,
      settings: { ...auth.settings, replicaof: `127.0.0.1 ${port}` },
    });
    const sentinel = await startSentinel({ dir: join(dir, 'sentinel'), primary: primary.url, name: 'main' });
    const servers: readonly Pick<RedisServer, 'stop'>[] = [sentinel, replica, primary];
    try {
      const hosts = `127.0.0.1:${await freePort()},127.0.0.1:${sentinel.port}`;
      const url = `redis+sentinel://:${encodeURIComponent(password)}@${hosts}/main/0`;
      await showSurvival(url, 'test', () => sentinel.failOver());
      await expect(openQueue(url.replace('/main/', '/other/'), 'test')).rejects.toMatchObject({
        code: 'QUEUE_REFUSED',
        message: expect.stringContaining('know no primary'),
      });
    } finally {
      for (const server of servers) await server.stop();
    }
  });
});
