import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { listeningLogger } from '../hosts/claimed-task.fixture.ts';
import { openStoreClock } from './store-clock.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const FIVE_MINUTES_MS = 300_000;

it.each([-FIVE_MINUTES_MS, FIVE_MINUTES_MS])(
  'goes by the store when the machine is off by %i ms, and says so once',
  async (skewMs) => {
    const { logger, lines } = listeningLogger();
    const machineNow = () => Date.now() + skewMs;
    const clock = await openStoreClock({ clock: async () => Date.now() }, logger, {
      machineNow,
      everyMs: 1_000,
    });
    expect(clock.now()).toBe(1_000_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(clock.now()).toBe(1_010_000);
    expect(lines.filter((line) => line.includes("differs from the store's"))).toHaveLength(1);
    clock.close();
  },
);

it('goes on with what it knows while the store is away', async () => {
  const { logger } = listeningLogger();
  let isAway = false;
  const clock = await openStoreClock(
    { clock: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(Date.now() + 5_000)) },
    logger,
    { everyMs: 1_000 },
  );
  isAway = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(clock.now()).toBe(Date.now() + 5_000);
  clock.close();
});

it('does not trust an answer that took long', async () => {
  const { logger } = listeningLogger();
  let tookMs = 0;
  const slow = async () => {
    vi.setSystemTime(Date.now() + tookMs);
    return Date.now();
  };
  const clock = await openStoreClock({ clock: slow }, logger, { everyMs: 1_000 });
  tookMs = 10_000;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(clock.now()).toBe(Date.now());
  clock.close();
});
