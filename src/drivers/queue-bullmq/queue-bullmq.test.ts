import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { createQueueBullmq, type QueueBullmq } from './queue-bullmq.ts';

const QUEUE = 'scrape-http';
const RENDER = 'scrape-browser';
const HOW = { rank: 0, timeoutMs: 20_000 };
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 5 });

const redis = new Redis(inject('redisUrl'));
const opened: QueueBullmq[] = [];
let prefix = '';

async function open(onHandlerError = vi.fn()): Promise<QueueBullmq> {
  if (opened.length === 0) prefix = `test-${randomUUID()}`;
  const queue = await createQueueBullmq({ url: inject('redisUrl'), prefix, beatMs: 200, onHandlerError });
  opened.push(queue);
  return queue;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((queue) => queue.close()));
});

describe('a queue between processes', () => {
  test('carries entries, calls and the number of those who answer from one to the other', async () => {
    const here = await open();
    const there = await open();
    const seen: string[] = [];
    await there.consume(QUEUE, 1, async ({ id }) => void seen.push(id));
    await here.offer(QUEUE, [{ id: 'a', rank: 1 }]);
    await until(() => expect(seen).toEqual(['a']));
    await here.answer(RENDER, 1, async () => 'here');
    const away = await there.answer(RENDER, 1, async () => 'there');
    await there.answer(RENDER, 1, async () => 'there');
    expect(await here.countAnswerers(RENDER)).toBe(2);
    const answers = await Promise.all(Array.from({ length: 20 }, () => here.call(RENDER, {}, HOW)));
    expect(answers).toHaveLength(20);
    await away.stop();
    expect(await here.countAnswerers(RENDER)).toBe(2);
    await there.close();
    expect(await here.countAnswerers(RENDER)).toBe(1);
  });

  test('runs a timer in one of the processes at a time', async () => {
    const queues = [await open(), await open(), await open()];
    let running = 0;
    let most = 0;
    let runs = 0;
    for (const queue of queues) {
      await queue.every('cleanup-jobs', 50, async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 80));
        running -= 1;
        runs += 1;
      });
    }
    await until(() => expect(runs).toBeGreaterThan(5));
    expect(most).toBe(1);
    await queues[0]?.close();
    const before = runs;
    await until(() => expect(runs).toBeGreaterThan(before + 2));
  });

  test('takes calls of a better rank first', async () => {
    const queue = await open();
    const gate = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    await queue.answer(RENDER, 1, async (request) => {
      seen.push(request);
      await gate.promise;
    });
    const calls = [queue.call(RENDER, 'first', HOW)];
    await until(() => expect(seen).toEqual(['first']));
    for (const rank of [9, 1, 5]) calls.push(queue.call(RENDER, rank, { ...HOW, rank }));
    await until(async () => expect(await redis.zcard(`${prefix}:${RENDER}:prioritized`)).toBe(3));
    gate.resolve();
    await Promise.all(calls);
    expect(seen).toEqual(['first', 1, 5, 9]);
  });

  test('tells of a handler that rejects, with its entry', async () => {
    const onHandlerError = vi.fn();
    const queue = await open(onHandlerError);
    const error = new Error('The handler failed.');
    await queue.consume(QUEUE, 1, () => Promise.reject(error));
    await queue.offer(QUEUE, [{ id: 'a', rank: 3 }]);
    await until(() => expect(onHandlerError.mock.calls).toEqual([[error, QUEUE, { id: 'a', rank: 3 }]]));
  });

  test('leaves nothing behind in Redis but what each queue has once', async () => {
    const queue = await open();
    const other = await open();
    let runs = 0;
    await queue.consume(QUEUE, 8, async () => {
      runs += 1;
    });
    await other.answer(RENDER, 4, async (request) => request);
    const rounds = 3;
    const keysAfter: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const entries = Array.from({ length: 200 }, (_, index) => ({
        id: `host-${round}-${index}`,
        rank: index,
      }));
      await queue.offer(QUEUE, entries);
      await Promise.all(entries.slice(0, 50).map(({ id }) => queue.call(RENDER, id, HOW)));
      await until(() => expect(runs).toBe(200 * round));
      await until(async () => expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 }));
      await until(async () => expect(await redis.llen(`${prefix}:${RENDER}:active`)).toBe(0));
      const keys = await redis.keys(`${prefix}:*`);
      // The last word on a call goes by itself; it must have a time limit.
      const spoken = keys.filter((key) => key.startsWith(`${prefix}:call:`));
      for (const key of spoken) expect(await redis.pttl(key)).toBeGreaterThan(0);
      keysAfter.push(keys.length - spoken.length);
    }
    expect(new Set(keysAfter).size).toBe(1);
  });

  test('takes no notice of jobs that are not its own', async () => {
    const onHandlerError = vi.fn();
    const queue = await open(onHandlerError);
    const { Queue } = await import('bullmq');
    const stranger = new Queue(QUEUE, { connection: redis, prefix });
    await stranger.add('x', { id: 5 });
    await stranger.add('x', null);
    const seen: string[] = [];
    await queue.consume(QUEUE, 1, async ({ id }) => void seen.push(id));
    await queue.offer(QUEUE, [{ id: 'a', rank: 1 }]);
    await until(() => expect(seen).toEqual(['a']));
    expect(onHandlerError).not.toHaveBeenCalled();
    await stranger.close();
  });

  test('counts what it asks of Redis', async () => {
    const queue = await open();
    const before = queue.operations();
    await queue.offer(
      QUEUE,
      Array.from({ length: 10 }, (_, index) => ({ id: `h${index}`, rank: 0 })),
    );
    expect(queue.operations() - before).toBeGreaterThanOrEqual(10);
    expect(queue.operations() - before).toBeLessThan(30);
  });
});
