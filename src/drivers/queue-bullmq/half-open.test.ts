import { randomUUID } from 'node:crypto';
import { describe, expect, inject, type TestContext, test, vi } from 'vitest';
import { openTcpProxy, type TcpProxy } from '../../../test/fault/tcp-proxy.ts';
import { createQueueBullmq, type QueueBullmq } from './queue-bullmq.ts';

const QUEUE = 'scrape-http';
const RENDER = 'scrape-browser';
const HOW = { rank: 0, timeoutMs: 90_000 };
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 60_000, interval: 50 });

/** Redis behind a proxy that can be deaf, and queues of one prefix. Closed with the test. */
async function openPlace(onTestFinished: TestContext['onTestFinished']) {
  const prefix = `test-${randomUUID()}`;
  const { hostname, port } = new URL(inject('redisUrl'));
  const proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  const opened: QueueBullmq[] = [];
  onTestFinished(async () => {
    proxy.set('pass');
    await Promise.all(opened.map((queue) => queue.close()));
    await proxy.close();
  });
  const open = async (url: string): Promise<QueueBullmq> => {
    const queue = await createQueueBullmq({
      url,
      prefix,
      stall: { lockMs: 1_000, checkMs: 500 },
      beatMs: 300,
      onHandlerError: () => {},
    });
    opened.push(queue);
    return queue;
  };
  return {
    proxy,
    openDeaf: () => open(proxy.urlOf(inject('redisUrl'))),
    /** Past the proxy: goes on to work. */
    openDirect: () => open(inject('redisUrl')),
  };
}

/** The deafness: of the connections that are open, or of every connection until the server is reached again. */
const DEAFNESS: [string, (proxy: TcpProxy) => Promise<void>][] = [
  [
    'of the old connections alone',
    async (proxy) => {
      proxy.set('swallow', 'open');
    },
  ],
  [
    'of replies on the old connections alone',
    async (proxy) => {
      proxy.set('swallow-replies', 'open');
    },
  ],
  [
    'of every connection, until later ones work',
    async (proxy) => {
      proxy.set('swallow');
      const { made } = proxy.counts();
      // The client has given up on what was open and has tried anew in vain.
      await until(() => expect(proxy.counts().made).toBeGreaterThan(made + 3));
      proxy.set('pass', 'new');
    },
  ],
];

// At the same time, because nearly all of it is waiting.
describe.concurrent.each(DEAFNESS)(
  'half-open connections: deafness %s',
  { timeout: 180_000 },
  (_, goDeaf) => {
    test('a consumer works again', async ({ expect, onTestFinished }) => {
      const { proxy, openDeaf, openDirect } = await openPlace(onTestFinished);
      const [deaf, direct] = [await openDeaf(), await openDirect()];
      const seen: string[] = [];
      await deaf.consume(QUEUE, 2, async ({ id }) => void seen.push(id));
      await direct.offer(QUEUE, [{ id: 'before', rank: 1 }]);
      await until(() => expect(seen).toContain('before'));
      await goDeaf(proxy);
      await until(async () => {
        await direct.offer(QUEUE, [{ id: 'after', rank: 1 }]);
        expect(seen).toContain('after');
      });
      await until(() => deaf.offer(QUEUE, [{ id: 'own', rank: 1 }]));
      await until(() => expect(seen).toContain('own'));
    });

    test('calls are asked and answered again, and timers run', async ({ expect, onTestFinished }) => {
      const { proxy, openDeaf, openDirect } = await openPlace(onTestFinished);
      const [deaf, direct] = [await openDeaf(), await openDirect()];
      let ticks = 0;
      await deaf.every('cleanup-jobs', 200, async () => {
        ticks += 1;
      });
      await deaf.answer(RENDER, 1, async (request) => request);
      expect(await direct.call(RENDER, 'before', HOW)).toBe('before');
      expect(await deaf.call(RENDER, 'before', HOW)).toBe('before');
      await goDeaf(proxy);
      await until(async () => expect(await direct.call(RENDER, 'there', HOW)).toBe('there'));
      await until(async () => expect(await deaf.call(RENDER, 'here', HOW)).toBe('here'));
      const before = ticks;
      await until(() => expect(ticks).toBeGreaterThan(before + 2));
    });
  },
);

describe('a quiet connection', { timeout: 60_000 }, () => {
  test('is kept as long as it answers', async ({ onTestFinished }) => {
    const { proxy, openDeaf } = await openPlace(onTestFinished);
    const queue = await openDeaf();
    await queue.consume(QUEUE, 1, async () => {});
    const { made } = proxy.counts();
    const before = queue.operations();
    // Several pings on every connection, and several blocking reads.
    await until(() => expect(queue.operations()).toBeGreaterThan(before + 12));
    expect(proxy.counts().made).toBe(made);
  });
});
