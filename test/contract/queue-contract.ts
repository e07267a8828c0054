import { expect, vi } from 'vitest';
import type { Entry, Queue } from '../../src/core/ports/queue.ts';
import { callCases } from './call-cases.ts';
import { contract, type Open, type Skip } from './contract.ts';
import { timerCases } from './timer-cases.ts';

const QUEUE = 'scrape-http';

/** A handler whose runs the test ends one by one. */
function gatedHandler() {
  const started: Entry[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  return {
    started,
    handle: (entry: Entry): Promise<void> => {
      const gate = Promise.withResolvers<void>();
      started.push(entry);
      gates.push(gate);
      return gate.promise;
    },
    /** Ends the run that started as number `index`. */
    end: (index: number): void => gates[index]?.resolve(),
    fail: (index: number): void => gates[index]?.reject(new Error('The handler failed.')),
    ids: (): string[] => started.map((entry) => entry.id),
  };
}

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 5 });

/**
 * That something does not happen is shown by letting a later entry through: whatever should not have run would
 * have run before it.
 */
export function queueContract(name: string, open: Open<Queue>, skips: readonly Skip[] = []) {
  contract<Queue>(`queue: ${name}`, open, skips, (holds) => {
    const offer = (queue: Queue, id: string, rank = 0) => queue.offer(QUEUE, [{ id, rank }]);

    holds('gives every entry to a consumer that comes later', async (queue) => {
      for (const id of ['a', 'b', 'c']) await offer(queue, id);
      const seen: string[] = [];
      const consumer = await queue.consume(QUEUE, 1, async (entry) => void seen.push(entry.id));
      await until(() => expect(seen).toEqual(['a', 'b', 'c']));
      await consumer.stop();
    });

    holds('gives every entry to a consumer that is there already', async (queue) => {
      const seen: string[] = [];
      const consumer = await queue.consume(QUEUE, 2, async (entry) => void seen.push(entry.id));
      const ids = Array.from({ length: 100 }, (_, index) => `entry-${index}`);
      await Promise.all(ids.map((id) => offer(queue, id)));
      await until(() => expect([...seen].sort()).toEqual([...ids].sort()));
      await consumer.stop();
    });

    holds('passes the id and the rank', async (queue) => {
      const { started, handle, end } = gatedHandler();
      await offer(queue, 'example.com:8080', 7);
      const consumer = await queue.consume(QUEUE, 1, handle);
      await until(() => expect(started).toEqual([{ id: 'example.com:8080', rank: 7 }]));
      end(0);
      await consumer.stop();
    });

    holds('takes lower ranks first and equal ranks in order of arrival', async (queue) => {
      const ranks = [5, 1, 3, 1, 5, 0, 3, 2, 1, 0];
      for (const [index, rank] of ranks.entries()) await offer(queue, `e${index}`, rank);
      const seen: string[] = [];
      const consumer = await queue.consume(QUEUE, 1, async (entry) => void seen.push(entry.id));
      const expected = [...ranks.entries()].sort((a, b) => a[1] - b[1] || a[0] - b[0]).map(([i]) => `e${i}`);
      await until(() => expect(seen).toEqual(expected));
      await consumer.stop();
    });

    holds('keeps the ranks and the order of entries offered in one call', async (queue) => {
      const ranks = Array.from({ length: 600 }, (_, index) => 1_700_000_000_000 + ((index * 7) % 13));
      const entries = ranks.map((rank, index) => ({ id: `host-${index}.test:${8_000 + index}`, rank }));
      await queue.offer(QUEUE, entries);
      await queue.offer(QUEUE, []);
      expect(await queue.depth(QUEUE)).toEqual({ waiting: 600, active: 0 });
      const seen: Entry[] = [];
      const consumer = await queue.consume(QUEUE, 1, async (entry) => void seen.push(entry));
      await until(() => expect(seen).toHaveLength(600));
      expect(seen).toEqual([...entries].sort((a, b) => a.rank - b.rank));
      await consumer.stop();
    });

    holds('moves a waiting entry forward when it is offered at a better rank', async (queue) => {
      for (const [id, rank] of [
        ['a', 5],
        ['b', 5],
        ['c', 9],
        ['c', 1],
        ['a', 8],
      ] as const) {
        await offer(queue, id, rank);
      }
      const seen: Entry[] = [];
      const consumer = await queue.consume(QUEUE, 1, async (entry) => void seen.push(entry));
      await until(() =>
        expect(seen).toEqual([
          { id: 'c', rank: 1 },
          { id: 'a', rank: 5 },
          { id: 'b', rank: 5 },
        ]),
      );
      await consumer.stop();
    });

    holds('runs no more handlers at once than the consumer asked for', async (queue) => {
      let running = 0;
      let most = 0;
      let ended = 0;
      const consumer = await queue.consume(QUEUE, 3, async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        ended += 1;
      });
      await Promise.all(Array.from({ length: 60 }, (_, index) => offer(queue, `e${index}`)));
      await until(() => expect(ended).toBe(60));
      expect(most).toBe(3);
      await consumer.stop();
    });

    holds('shares entries among consumers, each entry with one of them', async (queue) => {
      const seen: string[] = [];
      const gate = Promise.withResolvers<void>();
      const handle = async (entry: Entry) => {
        seen.push(entry.id);
        await gate.promise;
      };
      const consumers = [await queue.consume(QUEUE, 2, handle), await queue.consume(QUEUE, 2, handle)];
      for (const id of ['a', 'b', 'c', 'd', 'e']) await offer(queue, id);
      await until(() => expect([...seen].sort()).toEqual(['a', 'b', 'c', 'd']));
      gate.resolve();
      await until(() => expect([...seen].sort()).toEqual(['a', 'b', 'c', 'd', 'e']));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    });

    holds('folds offers of an entry that waits', async (queue) => {
      for (const id of ['a', 'b', 'a', 'a', 'b']) await offer(queue, id);
      expect(await queue.depth(QUEUE)).toEqual({ waiting: 2, active: 0 });
      await offer(queue, 'last', 9);
      const seen: string[] = [];
      const consumer = await queue.consume(QUEUE, 1, async (entry) => void seen.push(entry.id));
      await until(() => expect(seen).toEqual(['a', 'b', 'last']));
      await consumer.stop();
    });

    holds('offers an entry once more after its run when it was offered during it', async (queue) => {
      const { ids, handle, end } = gatedHandler();
      const consumer = await queue.consume(QUEUE, 4, handle);
      await offer(queue, 'a');
      await until(() => expect(ids()).toEqual(['a']));
      await offer(queue, 'a');
      await offer(queue, 'a');
      await offer(queue, 'other');
      // Room for four, yet `a` is not run beside itself.
      await until(() => expect(ids()).toEqual(['a', 'other']));
      end(0);
      await until(() => expect(ids()).toEqual(['a', 'other', 'a']));
      end(1);
      end(2);
      await offer(queue, 'last');
      await until(() => expect(ids()).toEqual(['a', 'other', 'a', 'last']));
      end(3);
      await consumer.stop();
    });

    holds('takes an entry anew that is offered after its run', async (queue) => {
      let runs = 0;
      const consumer = await queue.consume(QUEUE, 1, async () => {
        runs += 1;
      });
      for (let run = 1; run <= 3; run += 1) {
        await until(async () => expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 }));
        await offer(queue, 'a');
        await until(() => expect(runs).toBe(run));
      }
      await consumer.stop();
    });

    holds('drops the entry of a handler that rejects and goes on', async (queue) => {
      const { ids, handle, end, fail } = gatedHandler();
      const consumer = await queue.consume(QUEUE, 1, handle);
      await offer(queue, 'bad');
      await offer(queue, 'good');
      await until(() => expect(ids()).toEqual(['bad']));
      fail(0);
      await until(() => expect(ids()).toEqual(['bad', 'good']));
      end(1);
      await until(async () => expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 }));
      await offer(queue, 'bad');
      await until(() => expect(ids()).toEqual(['bad', 'good', 'bad']));
      end(2);
      await consumer.stop();
    });

    holds('survives a handler that throws at once', async (queue) => {
      const seen: string[] = [];
      const consumer = await queue.consume(QUEUE, 1, (entry) => {
        seen.push(entry.id);
        if (entry.id === 'bad') throw new Error('Thrown before the first await.');
        return Promise.resolve();
      });
      await offer(queue, 'bad');
      await offer(queue, 'good');
      await until(() => expect(seen).toEqual(['bad', 'good']));
      await consumer.stop();
    });

    holds('offers once more also after a run that failed', async (queue) => {
      const { ids, handle, end, fail } = gatedHandler();
      const consumer = await queue.consume(QUEUE, 1, handle);
      await offer(queue, 'a');
      await until(() => expect(ids()).toEqual(['a']));
      await offer(queue, 'a');
      fail(0);
      await until(() => expect(ids()).toEqual(['a', 'a']));
      end(1);
      await consumer.stop();
    });

    holds('counts what waits and what is worked on', async (queue) => {
      expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 });
      const { ids, handle, end } = gatedHandler();
      for (const id of ['a', 'b', 'c']) await offer(queue, id);
      expect(await queue.depth(QUEUE)).toEqual({ waiting: 3, active: 0 });
      const consumer = await queue.consume(QUEUE, 2, handle);
      await until(() => expect(ids()).toEqual(['a', 'b']));
      expect(await queue.depth(QUEUE)).toEqual({ waiting: 1, active: 2 });
      end(0);
      await until(() => expect(ids()).toEqual(['a', 'b', 'c']));
      end(1);
      end(2);
      await until(async () => expect(await queue.depth(QUEUE)).toEqual({ waiting: 0, active: 0 }));
      await consumer.stop();
    });

    holds('stop waits for the running handlers and takes nothing more', async (queue) => {
      const { ids, handle, end } = gatedHandler();
      const consumer = await queue.consume(QUEUE, 1, handle);
      await offer(queue, 'a');
      await offer(queue, 'b');
      await until(() => expect(ids()).toEqual(['a']));
      let isStopped = false;
      const stopped = consumer.stop().then(() => {
        isStopped = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isStopped).toBe(false);
      end(0);
      await stopped;
      expect(ids()).toEqual(['a']);
      expect(await queue.depth(QUEUE)).toEqual({ waiting: 1, active: 0 });
    });

    holds('leaves what a stopped consumer did not take to the others', async (queue) => {
      const first = await queue.consume(QUEUE, 1, async () => {});
      await first.stop();
      await offer(queue, 'a');
      const seen: string[] = [];
      const second = await queue.consume(QUEUE, 1, async (entry) => void seen.push(entry.id));
      await until(() => expect(seen).toEqual(['a']));
      await second.stop();
    });

    callCases(holds);
    timerCases(holds);

    holds('check works', async (queue) => {
      await queue.check();
    });

    holds('close waits for the running handlers', async (queue) => {
      const { ids, handle, end } = gatedHandler();
      await queue.consume(QUEUE, 1, handle);
      await offer(queue, 'a');
      await until(() => expect(ids()).toEqual(['a']));
      let isClosed = false;
      const closed = queue.close().then(() => {
        isClosed = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isClosed).toBe(false);
      end(0);
      await closed;
    });
  });
}
