import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis } from '../../../fleet/servers/redis.ts';
import { type BusRedis, createBusRedis } from './bus-redis.ts';

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 10 });

let dir: string;
let redis: RedisServer;
const opened: BusRedis[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-bus-'));
  redis = await startRedis({ dir });
});
afterAll(async () => {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
});

async function open(prefix = 'test'): Promise<BusRedis> {
  const bus = await createBusRedis({ url: redis.url, prefix, onListenerError: () => {} });
  opened.push(bus);
  return bus;
}

/** Everything a bus hears of hosts, in order. */
function hostsHeard(bus: BusRedis): string[] {
  const heard: string[] = [];
  bus.subscribe('host.ready', ({ hosts }) => void heard.push(...hosts));
  return heard;
}

describe('a bus between processes', () => {
  test('brings messages to the others, and to itself once', async () => {
    const [here, there, stranger] = [await open(), await open(), await open('other')];
    const heard = [hostsHeard(here), hostsHeard(there), hostsHeard(stranger)];
    const jobs = vi.fn();
    const policy = vi.fn();
    there.subscribe('job.changed', jobs);
    there.subscribe('policy.changed', policy);
    here.publish('host.ready', { hosts: ['a'] });
    here.publish('job.changed', { jobs: ['j', 'k'], finished: ['k'] });
    here.publish('job.changed', { jobs: ['l'], finished: [], cancelled: ['l'] });
    here.publish('policy.changed', {});
    await until(() => expect(policy.mock.calls).toEqual([[{}]]));
    there.publish('host.ready', { hosts: ['b'] });
    await until(() => expect(heard).toEqual([['a', 'b'], ['a', 'b'], []]));
    expect(jobs.mock.calls).toEqual([[{ jobs: ['j', 'k', 'l'], finished: ['k'], cancelled: ['l'] }]]);
  });

  test('sends what is published in one turn as one publication, each name once', async () => {
    const [here, there] = [await open(), await open()];
    const messages: unknown[] = [];
    there.subscribe('host.ready', (message) => void messages.push(message));
    const before = here.operations();
    for (let index = 0; index < 1_000; index += 1) here.publish('host.ready', { hosts: [`h${index % 50}`] });
    here.publish('job.changed', { jobs: [], finished: [] });
    await until(() => expect(messages).toHaveLength(1));
    expect(messages).toEqual([{ hosts: Array.from({ length: 50 }, (_, index) => `h${index}`) }]);
    expect(here.operations() - before).toBe(1);
  });

  test('sends very many names in several parts', async () => {
    const [here, there] = [await open(), await open()];
    const heard = hostsHeard(there);
    const hosts = Array.from({ length: 12_000 }, (_, index) => `host-${index}.test`);
    here.publish('host.ready', { hosts });
    await until(() => expect(heard).toEqual(hosts));
  });

  test('takes no notice of garbage', async () => {
    const bus = await open();
    const heard = hostsHeard(bus);
    const policy = vi.fn();
    bus.subscribe('policy.changed', policy);
    const stranger = new Redis(redis.url);
    for (const text of [
      'not JSON',
      'null',
      '[]',
      '{"from":"x","host.ready":{"hosts":"a"}}',
      '{"from":"x","host.ready":{"hosts":[5]},"policy.changed":{}}',
      '{"host.ready":{"hosts":["no sender"]}}',
      '{"from":"x","__proto__":{"policy.changed":{}},"unknown.topic":{}}',
      '{"from":"x","host.ready":{"hosts":["good"]}}',
    ]) {
      await stranger.publish('test:bus', text);
    }
    await until(() => expect(heard).toEqual(['good']));
    expect(policy).not.toHaveBeenCalled();
    stranger.disconnect();
  });

  test('goes on alone while Redis is away, and with the others when it is back', async () => {
    const [here, there] = [await open(), await open()];
    const [own, others] = [hostsHeard(here), hostsHeard(there)];
    await redis.kill();
    await until(() => expect(here.check()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' }));
    here.publish('host.ready', { hosts: ['alone'] });
    await until(() => expect(own).toEqual(['alone']));
    await until(() => expect(here.dropped()).toBe(1));
    await redis.restart();
    await until(() => here.check());
    await until(() => there.check());
    await until(() => {
      here.publish('host.ready', { hosts: ['together'] });
      expect(others).toContain('together');
    });
    expect(others).not.toContain('alone');
  });

  test('closes while Redis is away', async () => {
    const bus = await open();
    await redis.kill();
    await bus.close();
    await redis.restart();
  });
});
