import { buildConnector } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PoolCache } from './http-engine.ts';

function cache(maxPools: number, idleMs: number): PoolCache {
  const pools = new PoolCache({
    maxPools,
    idleMs,
    connectionsPerHost: 4,
    headersTimeoutMs: 1_000,
    bodyTimeoutMs: 1_000,
    maxHeaderBytes: 16_384,
    allowH2: false,
    connectorFor: () => buildConnector({}),
  });
  onTestFinished(() => pools.close());
  return pools;
}
const origin = (index: number) => `http://h${index}.example`;

test('an origin has one pool while it is known', () => {
  const pools = cache(10, 60_000);
  expect(pools.acquire(origin(1))).toBe(pools.acquire(origin(1)));
  expect(pools.size).toBe(1);
});

test('there are never more than allowed, and the one unused longest goes first', () => {
  const pools = cache(3, 60_000);
  for (const index of [1, 2, 3, 1, 4]) pools.release(pools.acquire(origin(index)));
  expect(pools.size).toBe(3);
  const first = pools.acquire(origin(1));
  expect(first.pool.destroyed).toBe(false);
  for (let index = 5; index < 50; index += 1) pools.release(pools.acquire(origin(index)));
  expect(pools.size).toBe(3);
  expect(first.pool.destroyed).toBe(false);
});

test('all in use, more are opened, and room is made when they are free', () => {
  const pools = cache(2, 60_000);
  const held = [1, 2, 3, 4].map((index) => pools.acquire(origin(index)));
  expect(pools.size).toBe(4);
  for (const entry of held) pools.release(entry);
  pools.acquire(origin(5));
  expect(pools.size).toBe(2);
});

test('a pool that is not used goes after a while, one in use stays', async () => {
  const pools = cache(10, 100);
  const held = pools.acquire(origin(1));
  pools.release(pools.acquire(origin(2)));
  await vi.waitFor(() => expect(pools.size).toBe(1), { timeout: 20_000 });
  expect(pools.acquire(origin(1))).toBe(held);
});
