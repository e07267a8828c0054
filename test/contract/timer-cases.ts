import { expect, vi } from 'vitest';
import type { Queue } from '../../src/core/ports/queue.ts';
import type { Claim } from './contract.ts';

const TIMER = 'cleanup-jobs';
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 20_000, interval: 5 });

/** The cases of `every`. */
export function timerCases(holds: Claim<Queue>): void {
  holds('runs a timer again and again', async (queue) => {
    let runs = 0;
    const timer = await queue.every(TIMER, 50, async () => {
      runs += 1;
    });
    await until(() => expect(runs).toBeGreaterThanOrEqual(3));
    await timer.stop();
  });

  holds('runs a timer never in two places at once, however long it takes', async (queue) => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const action = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 120));
      running -= 1;
      runs += 1;
    };
    const timers = [await queue.every(TIMER, 50, action), await queue.every(TIMER, 50, action)];
    await until(() => expect(runs).toBeGreaterThanOrEqual(4));
    expect(most).toBe(1);
    await Promise.all(timers.map((timer) => timer.stop()));
  });

  holds('a timer survives an action that rejects or throws', async (queue) => {
    let runs = 0;
    const timer = await queue.every(TIMER, 50, () => {
      runs += 1;
      if (runs === 1) throw new Error('Thrown before the first await.');
      return Promise.reject(new Error('The action failed.'));
    });
    await until(() => expect(runs).toBeGreaterThanOrEqual(3));
    await timer.stop();
  });

  holds('a timer stops with its handle, after the running action', async (queue) => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const first = await queue.every(TIMER, 50, async () => {
      runs += 1;
      await gate.promise;
    });
    await until(() => expect(runs).toBe(1));
    let isStopped = false;
    const stopped = first.stop().then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    gate.resolve();
    await stopped;
    let others = 0;
    const second = await queue.every(TIMER, 50, async () => {
      others += 1;
    });
    await until(() => expect(others).toBeGreaterThanOrEqual(2));
    expect(runs).toBe(1);
    await second.stop();
  });
}
