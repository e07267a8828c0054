import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { LinkMode } from '../fault-proxy.ts';
import type { Stage } from '../stage.ts';
import type { Fault } from './fault.ts';

const LOCK = { target: 'redis', locks: ['redis'], isPossible: () => true } as const;
const QUEUE = 'scrapifie:scrape-http';
const LISTS = ['prioritized', 'wait', 'active', 'delayed'];
const ANSWER_MS = 10_000;
/** Nothing listens there; a replica of it never gets anything and keeps what it has. */
const NO_PORT = '1';

/** Everything that may happen to Redis and to the lines to it. */
export function redisFaults(stage: Stage): Fault[] {
  const { redis } = stage.servers;
  const ask = async (...commands: string[][]) => {
    const client = new Redis(redis.url, {
      ...{ lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, commandTimeout: ANSWER_MS },
    });
    client.on('error', () => {});
    try {
      await client.connect();
      for (const [name = '', ...args] of commands) await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  };
  const setMode = (mode: LinkMode) => {
    for (const { name } of stage.processes) stage.linksOf(name).redis.set(mode);
  };
  const during = (kind: string, mode: LinkMode, leastMs: number, mostMs: number): Fault => ({
    ...{ ...LOCK, kind, leastMs, mostMs },
    async run(durationMs) {
      setMode(mode);
      await delay(durationMs).finally(() => setMode('pass'));
    },
  });
  /** Commands that change the server, and those that change it back. */
  const between = (kind: string, first: string[][], last: string[][], mostMs: number): Fault => ({
    ...{ ...LOCK, kind, leastMs: 2_000, mostMs },
    async run(durationMs) {
      await ask(...first);
      await delay(durationMs).finally(() => ask(...last));
    },
  });
  const keys = LISTS.map((list) => `${QUEUE}:${list}`);

  return [
    { ...{ ...LOCK, kind: 'flush', leastMs: 0, mostMs: 0 }, run: () => redis.flushAll() },
    {
      ...{ ...LOCK, kind: 'restart', leastMs: 0, mostMs: 10_000 },
      async run(durationMs) {
        await redis.stop();
        await delay(durationMs);
        await redis.restart();
      },
    },
    {
      ...{ ...LOCK, kind: 'pause', leastMs: 2_000, mostMs: 15_000 },
      async run(durationMs) {
        redis.pause();
        await delay(durationMs).finally(redis.resume);
      },
    },
    during('half-open', 'swallow', 3_000, 15_000),
    during('lost replies', 'cut-replies', 500, 3_000),
    during('slow', 'delay', 4_000, 12_000),
    between(
      'wrong types',
      keys.flatMap((key) => [
        ['DEL', key],
        ['SET', key, 'text'],
      ]),
      [['DEL', ...keys]],
      8_000,
    ),
    between(
      'out of memory',
      [['CONFIG', 'SET', 'maxmemory', '1']],
      [['CONFIG', 'SET', 'maxmemory', '0']],
      8_000,
    ),
    between('read-only', [['REPLICAOF', '127.0.0.1', NO_PORT]], [['REPLICAOF', 'NO', 'ONE']], 8_000),
  ];
}
