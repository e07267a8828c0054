import { expect, onTestFinished, test } from 'vitest';
import { parseProxyFile } from '../crawl/plan/proxies/proxy-file.ts';
import { ProxyPool } from '../crawl/plan/proxies/proxy-pool.ts';
import { createBusLocal } from '../drivers/bus-local/bus-local.ts';
import { shareProcesses, shareProxyFigures } from './other-processes.ts';

const FILE = `providers:
  - { kind: list, name: mine, tier: datacenter, proxies: ["http://p.example:8080"] }
`;

function worker(served: number): ProxyPool {
  const pool = new ProxyPool(parseProxyFile(FILE), () => 0);
  for (let index = 0; index < served; index += 1) {
    const query = { host: `h${index}.example`, tier: null, country: null, session: null };
    const decision = pool.choose(query, 0);
    if (decision.kind !== 'use') throw new Error(decision.reason);
    pool.ended(decision.use, { outcome: 'served', ms: 100 * served, bytes: 10 }, 1);
  }
  return pool;
}

test('a process without proxies answers for those of the others, until they are silent for long', async () => {
  const bus = createBusLocal({
    onListenerError: (error) => {
      throw error;
    },
  });
  let now = 1_000;
  const open = (process: string, pool: ProxyPool | null) => {
    const shared = shareProxyFigures({
      bus,
      process,
      own: () => pool?.figures(now) ?? null,
      now: () => now,
    });
    onTestFinished(() => shared.close());
    return shared;
  };
  const api = open('api', null);
  const workers = [open('a', worker(1)), open('b', worker(3))];
  expect(api.figures()).toBeNull();
  for (const each of workers) each.tell();
  await Promise.resolve();
  const told = api.figures();
  expect(told?.proxies).toMatchObject([
    { id: 'mine/1', isHealthy: true, requests: 4, bytes: 40, p50Ms: 250 },
  ]);
  expect(told?.providers).toMatchObject([
    { name: 'mine', breaker: 'closed', proxies: 1, healthy: 1, requests: 4 },
  ]);
  expect(told?.tiers).toMatchObject([{ tier: 'datacenter', successes: 4 }]);
  expect(workers[0]?.figures()?.tiers).toMatchObject([{ successes: 4 }]);
  now += 90_000;
  expect(api.figures()).toBeNull();
  expect(workers[0]?.figures()?.tiers).toMatchObject([{ successes: 1 }]);
  for (const each of workers) each.tell();
  await Promise.resolve();
  expect(api.figures()?.tiers).toMatchObject([{ successes: 4 }]);
});

test('a process knows the processes that were heard of lately, itself first', async () => {
  const bus = createBusLocal({ onListenerError: (error) => expect.unreachable(String(error)) });
  let time = 1_000;
  const sharing = shareProcesses({ bus, process: 'a:1', role: 'api', now: () => time });
  bus.publish('process.alive', { process: 'b:2', role: 'http-worker', version: '1.0.0', startedAt: 0 });
  await expect.poll(() => sharing.processes().map((each) => each.process)).toEqual(['a:1', 'b:2']);
  time += 40_000;
  expect(sharing.processes().map((each) => each.process)).toEqual(['a:1']);
  sharing.close();
  await bus.close();
});
