import { describe, expect, test, vi } from 'vitest';
import { createQueueLocal } from './queue-local.ts';

const QUEUE = 'scrape-http';

async function drained(queue: ReturnType<typeof createQueueLocal>): Promise<string[]> {
  const seen: string[] = [];
  const consumer = await queue.consume(QUEUE, 1, async ({ id }) => void seen.push(id));
  await vi.waitFor(async () => expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 }), {
    timeout: 20_000,
  });
  await consumer.stop();
  return seen;
}

describe('the queue within a process', () => {
  test('forgets the less urgent entry when it is full', async () => {
    const queue = createQueueLocal({ onHandlerError: () => {}, maxWaiting: 2 });
    for (const [id, rank] of [
      ['a', 5],
      ['b', 6],
      ['late', 7],
      ['urgent', 0],
    ] as const) {
      await queue.offer(QUEUE, [{ id, rank }]);
    }
    expect(await drained(queue)).toEqual(['urgent', 'a']);
    // What was forgotten may be offered again.
    await queue.offer(QUEUE, [{ id: 'b', rank: 6 }]);
    expect(await drained(queue)).toEqual(['b']);
  });

  test('tells of a handler that rejects, with its entry', async () => {
    const onHandlerError = vi.fn();
    const queue = createQueueLocal({ onHandlerError });
    const error = new Error('The handler failed.');
    await queue.consume(QUEUE, 1, () => Promise.reject(error));
    await queue.offer(QUEUE, [{ id: 'a', rank: 3 }]);
    await vi.waitFor(
      () => expect(onHandlerError.mock.calls).toEqual([[error, QUEUE, { id: 'a', rank: 3 }]]),
      { timeout: 20_000 },
    );
  });

  test('forgets what is offered after close, also to itself', async () => {
    const queue = createQueueLocal({ onHandlerError: () => {} });
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    await queue.consume(QUEUE, 1, async () => {
      runs += 1;
      await gate.promise;
    });
    await queue.offer(QUEUE, [{ id: 'a', rank: 0 }]);
    await queue.offer(QUEUE, [{ id: 'b', rank: 0 }]);
    await vi.waitFor(() => expect(runs).toBe(1), { timeout: 20_000 });
    await queue.offer(QUEUE, [{ id: 'a', rank: 0 }]);
    const closed = queue.close();
    await queue.offer(QUEUE, [{ id: 'c', rank: 0 }]);
    gate.resolve();
    await closed;
    expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 });
    expect(runs).toBe(1);
  });
});
