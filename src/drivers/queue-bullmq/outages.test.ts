import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis } from '../../../fleet/servers/redis.ts';
import { monitorRedis } from '../../../test/fleet/redis-monitor.ts';
import { createQueueBullmq, type QueueBullmq } from './queue-bullmq.ts';

const QUEUE = 'scrape-http';
const RENDER = 'scrape-browser';
const HOW = { rank: 0, timeoutMs: 60_000 };
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 45_000, interval: 20 });

let dir: string;
let redis: RedisServer;
let prefix: string;
const opened: QueueBullmq[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-outages-'));
  redis = await startRedis({ dir });
});
afterAll(async () => {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
});
afterEach(async () => {
  redis.resume();
  if (redis.pid === 0) await redis.restart();
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(opened.splice(0).map((queue) => queue.close()));
});

async function open(more: { onChange?: (isUp: boolean, why: string) => void } = {}): Promise<QueueBullmq> {
  if (opened.length === 0) prefix = `test-${randomUUID()}`;
  const queue = await createQueueBullmq({
    url: redis.url,
    prefix,
    stall: { lockMs: 1_000, checkMs: 500 },
    beatMs: 300,
    onHandlerError: () => {},
    ...more,
  });
  opened.push(queue);
  return queue;
}

const offer = (queue: QueueBullmq, ...ids: string[]) =>
  queue.offer(
    QUEUE,
    ids.map((id) => ({ id, rank: 1 })),
  );

/** Offers until it is taken, as the sweep of the store does. */
const offerUntilSeen = (queue: QueueBullmq, id: string, seen: readonly string[]) =>
  until(async () => {
    await offer(queue, id);
    expect(seen).toContain(id);
  });

const CONSUMER = new URL('./consumer.fixture.ts', import.meta.url);
const CALLER = new URL('./caller.fixture.ts', import.meta.url);

/** Another process: one that takes an entry and a call and keeps them, unless another file is named. */
async function startChild(
  file = CONSUMER,
  ...more: string[]
): Promise<{ child: ChildProcess; lines: string[] }> {
  const child = spawn(process.execPath, [fileURLToPath(file), redis.url, prefix, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: string[] = [];
  if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => lines.push(line));
  await until(() => expect(lines).toContain('ready'));
  return { child, lines };
}

async function ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(redis.url, { retryStrategy: () => null });
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}

describe('a queue on a Redis that fails', { timeout: 120_000 }, () => {
  test('consumers go on after a flush, also those that were working', async () => {
    const queue = await open();
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    await queue.consume(QUEUE, 2, async ({ id }) => {
      seen.push(id);
      if (id === 'long') await gate.promise;
    });
    await offer(queue, 'long');
    await until(() => expect(seen).toEqual(['long']));
    await redis.flushAll();
    await offerUntilSeen(queue, 'b', seen);
    gate.resolve();
    await offerUntilSeen(queue, 'c', seen);
    await until(async () => expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 }));
  });

  test('timers come back after a flush', async () => {
    const queue = await open();
    let runs = 0;
    await queue.every('cleanup-jobs', 100, async () => {
      runs += 1;
    });
    await until(() => expect(runs).toBeGreaterThan(1));
    await redis.flushAll();
    const before = runs;
    await until(() => expect(runs).toBeGreaterThan(before + 3));
  });

  test('a timer that a fast clock has put far off comes back', async () => {
    const ahead = await open();
    await ahead.every('cleanup-jobs', 100, async () => {});
    await ahead.close();
    await ask((client) => client.zadd(`${prefix}:cleanup-jobs:repeat`, Date.now() + 300_000, 'cleanup-jobs'));
    await ask((client) => client.del(`${prefix}:cleanup-jobs:delayed`));
    const queue = await open();
    let runs = 0;
    await queue.every('cleanup-jobs', 100, async () => {
      runs += 1;
    });
    await until(() => expect(runs).toBeGreaterThan(3));
  });

  test('a call outlives a flush, whether it waits or is being worked on', async () => {
    const queue = await open();
    const gate = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    await queue.answer(RENDER, 1, async (request) => {
      seen.push(request);
      await gate.promise;
      return request;
    });
    const first = queue.call(RENDER, 'first', HOW);
    await until(() => expect(seen).toEqual(['first']));
    const second = queue.call(RENDER, 'second', HOW);
    await until(() =>
      ask(async (client) => expect(await client.zcard(`${prefix}:${RENDER}:prioritized`)).toBe(1)),
    );
    await redis.flushAll();
    gate.resolve();
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });

  test('a call that a flush lost is begun again as a repeated one, and ended when the other is answered', async () => {
    const asking = await open();
    const first = await open();
    const gate = Promise.withResolvers<void>();
    const starts: boolean[] = [];
    await first.answer(RENDER, 1, async (_request, _signal, _ask, { isRepeated }) => {
      starts.push(isRepeated);
      await gate.promise;
      return 'by the first';
    });
    const call = asking.call(RENDER, 'r', { ...HOW, onQuestion: () => new Promise(() => undefined) });
    await until(() => expect(starts).toEqual([false]));
    const second = await open();
    const ends: unknown[] = [];
    await second.answer(RENDER, 1, async (_request, _signal, ask, { isRepeated }) => {
      starts.push(isRepeated);
      await ask?.('may it be begun again?').catch((error: unknown) => ends.push(error));
    });
    await redis.flushAll();
    await until(() => expect(starts).toEqual([false, true]));
    gate.resolve();
    expect(await call).toBe('by the first');
    await until(() => expect(ends).toMatchObject([{ code: 'CANCELLED' }]));
  });

  test('a worker waits for a reply without asking Redis for it again and again', async () => {
    const asking = await open();
    const answering = await open();
    await answering.answer(RENDER, 1, async (_request, _signal, ask) => ask?.('may it be begun?'));
    let lookups = 0;
    let beats = 0;
    const monitor = await monitorRedis(redis.url, (command) => {
      if (/^getdel .*:reply:/i.test(command)) lookups += 1;
      if (/^set .*:caller:/i.test(command)) beats += 1;
    });
    try {
      const reply = Promise.withResolvers<string>();
      const call = asking.call(RENDER, 'r', { ...HOW, onQuestion: () => reply.promise });
      // The caller beats once a second: the question is open for three seconds.
      await until(() => expect(beats).toBeGreaterThan(3));
      reply.resolve('yes');
      expect(await call).toBe('yes');
      expect(lookups).toBeGreaterThan(0);
      expect(lookups).toBeLessThan(10);
    } finally {
      monitor.close();
    }
  });

  test('a reply is read at once when it is announced, and found although its announcement is lost', async () => {
    const asking = await open();
    const answering = await open();
    await answering.answer(RENDER, 1, async (_request, _signal, ask) => ask?.('may it be begun?'));
    const published: string[] = [];
    const monitor = await monitorRedis(redis.url, (command) => {
      if (/^publish .*:replies:/i.test(command)) published.push(command);
    });
    try {
      const how = { ...HOW, onQuestion: async () => 'yes' };
      expect(await asking.call(RENDER, 'announced', how)).toBe('yes');
      await until(() => expect(published).toHaveLength(1));
      await ask((client) => client.call('ACL', 'SETUSER', 'default', '-publish'));
      expect(await asking.call(RENDER, 'unannounced', how)).toBe('yes');
      expect(published).toHaveLength(1);
    } finally {
      monitor.close();
      await ask((client) => client.call('ACL', 'SETUSER', 'default', '+publish'));
    }
  });

  test('everything goes on when Redis is killed and comes back empty', async () => {
    const changes: boolean[] = [];
    const queue = await open({ onChange: (isUp) => changes.push(isUp) });
    const seen: string[] = [];
    let ticks = 0;
    await queue.consume(QUEUE, 2, async ({ id }) => void seen.push(id));
    await queue.every('cleanup-jobs', 100, async () => {
      ticks += 1;
    });
    const gate = Promise.withResolvers<void>();
    let isAsked = false;
    await queue.answer(RENDER, 1, async (request) => {
      isAsked = true;
      await gate.promise;
      return request;
    });
    const call = queue.call(RENDER, 'a render', HOW);
    await until(() => expect(isAsked).toBe(true));
    await redis.kill();
    await until(() => expect(changes).toEqual([false]));
    await expect(offer(queue, 'a')).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    await expect(queue.check()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    await expect(queue.depth(QUEUE)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    await expect(queue.call('scrape-stealth', {}, HOW)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    gate.resolve();
    await redis.restart();
    await until(() => queue.check());
    const before = ticks;
    await offerUntilSeen(queue, 'b', seen);
    expect(await call).toBe('a render');
    expect(await until(() => queue.call(RENDER, 'another', HOW).then(() => undefined))).toBeUndefined();
    await until(() => expect(ticks).toBeGreaterThan(before + 2));
    await until(() => expect(changes).toEqual([false, true]));
  });

  test('connections that are cut come back by themselves', async () => {
    const queue = await open();
    const seen: string[] = [];
    await queue.consume(QUEUE, 2, async ({ id }) => void seen.push(id));
    await queue.answer(RENDER, 1, async (request) => request);
    for (let round = 0; round < 5; round += 1) {
      await ask((client) => client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
      await offer(queue, `entry-${round}`).catch(() => undefined);
      await offerUntilSeen(queue, `entry-${round}`, seen);
      await until(async () => expect(await queue.call(RENDER, round, HOW)).toBe(round));
    }
  });

  test('a Redis that hangs fails operations in bounded time, and all goes on when it is awake again', async () => {
    const queue = await open();
    const seen: string[] = [];
    await queue.consume(QUEUE, 1, async ({ id }) => void seen.push(id));
    redis.pause();
    await expect(offer(queue, 'a')).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    await expect(queue.check()).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    redis.resume();
    await until(() => queue.check());
    await offerUntilSeen(queue, 'b', seen);
  });

  test('stops and closes while Redis is away, after the running handlers', async () => {
    const queue = await open();
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const consumer = await queue.consume(QUEUE, 1, async ({ id }) => {
      seen.push(id);
      await gate.promise;
    });
    await queue.answer(RENDER, 1, async () => 1);
    await queue.every('cleanup-jobs', 1_000, async () => {});
    await offer(queue, 'a');
    await until(() => expect(seen).toEqual(['a']));
    await redis.kill();
    let isStopped = false;
    const stopped = consumer.stop().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    gate.resolve();
    await stopped;
    await queue.close();
    await expect(offer(queue, 'b')).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
  });

  test('closes while Redis hangs', async () => {
    const queue = await open();
    await queue.consume(QUEUE, 1, async () => {});
    await queue.answer(RENDER, 1, async () => 1);
    redis.pause();
    await queue.close();
  });
});

describe('a consumer that dies or hangs', { timeout: 120_000 }, () => {
  test('its entry and its call go to another, and nothing happens when it wakes up', async () => {
    const queue = await open();
    const { child, lines } = await startChild();
    await offer(queue, 'a');
    const call = queue.call(RENDER, 'r', HOW);
    await until(() => expect([...lines].sort()).toEqual(['call r', 'entry a', 'ready']));
    await offer(queue, 'a');
    child.kill('SIGSTOP');
    const seen: string[] = [];
    await queue.consume(QUEUE, 1, async ({ id }) => void seen.push(id));
    const starts: boolean[] = [];
    await queue.answer(RENDER, 1, async (request, _signal, _ask, { isRepeated }) => {
      starts.push(isRepeated);
      return `${String(request)} by another`;
    });
    // Once for the run that was broken off, once for the offer that came during it.
    await until(() => expect(seen).toEqual(['a', 'a']));
    expect(await call).toBe('r by another');
    expect(starts).toEqual([true]);
    child.kill('SIGCONT');
    await offerUntilSeen(queue, 'b', seen);
    expect(seen.filter((id) => id === 'a')).toEqual(['a', 'a']);
  });

  test('one that is killed is replaced, and forgotten as one that answers', async () => {
    const queue = await open();
    const { child, lines } = await startChild();
    const call = queue.call(RENDER, 'r', HOW);
    await offer(queue, 'a');
    await until(() => expect([...lines].sort()).toEqual(['call r', 'entry a', 'ready']));
    expect(await queue.countAnswerers(RENDER)).toBe(1);
    child.kill('SIGKILL');
    const seen: string[] = [];
    await queue.consume(QUEUE, 1, async ({ id }) => void seen.push(id));
    await queue.answer(RENDER, 1, async () => 'by another');
    expect(await call).toBe('by another');
    await until(() => expect(seen).toEqual(['a']));
    await until(async () => expect(await queue.countAnswerers(RENDER)).toBe(1));
  });

  test('a call whose only worker is gone ends with NO_WORKER', async () => {
    const queue = await open();
    const { child, lines } = await startChild();
    const call = queue.call(RENDER, 'r', HOW).catch((error: unknown) => error);
    await until(() => expect(lines).toContain('call r'));
    child.kill('SIGKILL');
    expect(await call).toMatchObject({ code: 'NO_WORKER' });
  });
});

describe('a caller that dies', { timeout: 120_000 }, () => {
  test('what it asked for is ended, and what waits is never begun, long before its time is over', async () => {
    const queue = await open();
    const seen: unknown[] = [];
    const ended: unknown[] = [];
    await queue.answer(RENDER, 1, async (request, signal) => {
      seen.push(request);
      if (request === 'mine') return 'answered';
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      ended.push(request);
      return null;
    });
    const { child } = await startChild(CALLER, 'first', 'second');
    await until(() => expect(seen).toEqual(['first']));
    await until(() =>
      ask(async (client) => expect(await client.zcard(`${prefix}:${RENDER}:prioritized`)).toBe(1)),
    );
    child.kill('SIGKILL');
    await until(() => expect(ended).toEqual(['first']));
    expect(await queue.call(RENDER, 'mine', HOW)).toBe('answered');
    expect(seen).toEqual(['first', 'mine']);
  });
});
