import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { listeningLogger } from '../crawl/host/process/claimed-task.fixture.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { openStoreClock } from './store-clock.ts';

const START = 1_000_000;
beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => void vi.useRealTimers());

const HOUR_MS = 3_600_000;
const FIVE_MINUTES_MS = 300_000;

/** A machine beside the store, whose clock the tests' timers are. Its wall clock is off by `wallAheadMs`. */
function machine(wallAheadMs = 0) {
  const is = { wallAheadMs, suspendedMs: 0 };
  const wallMs = () => Date.now() + is.wallAheadMs;
  const monotonicMs = () => performance.now() - is.suspendedMs;
  const clock = createSteadyClock({ monotonicMs, wallMs, sinceBootMs: () => performance.now() });
  return { is, clock, wallMs };
}

it.each([-FIVE_MINUTES_MS, FIVE_MINUTES_MS])(
  'goes by the store when the machine is off by %i ms, and says so once',
  async (skewMs) => {
    const { logger, lines } = listeningLogger();
    const { clock, wallMs } = machine(skewMs);
    const storeClock = await openStoreClock({ clock: async () => Date.now() }, logger, {
      clock,
      wallMs,
      everyMs: 1_000,
    });
    expect(storeClock.now()).toBe(START);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(storeClock.now()).toBe(START + 10_000);
    expect(lines.filter((line) => line.includes("differs from the store's"))).toHaveLength(1);
    storeClock.close();
  },
);

it.each([-HOUR_MS, HOUR_MS])('goes on as before when the machine is set by %i ms', async (stepMs) => {
  const { logger, lines } = listeningLogger();
  const { is, clock, wallMs } = machine();
  let isAway = false;
  const store = { clock: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(Date.now())) };
  const storeClock = await openStoreClock(store, logger, { clock, wallMs });
  // Also while the store cannot be asked.
  isAway = true;
  is.wallAheadMs = stepMs;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(storeClock.now()).toBe(Date.now());
  isAway = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(storeClock.now()).toBe(Date.now());
  expect(lines.filter((line) => line.includes(`"behindMs":${-stepMs}`))).toHaveLength(1);
  storeClock.close();
});

it('asks at once when the clock of the machine has jumped', async () => {
  const { logger } = listeningLogger();
  const { is, clock, wallMs } = machine();
  let asked = 0;
  const store = {
    async clock() {
      asked += 1;
      return Date.now();
    },
  };
  const storeClock = await openStoreClock(store, logger, { clock, wallMs });
  expect(asked).toBe(1);
  is.suspendedMs = HOUR_MS;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toBe(2);
  expect(storeClock.now()).toBe(Date.now());
  storeClock.close();
});

it('goes on with what it knows while the store is away', async () => {
  const { logger } = listeningLogger();
  const { clock, wallMs } = machine();
  let isAway = false;
  const storeClock = await openStoreClock(
    { clock: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(Date.now() + 5_000)) },
    logger,
    { clock, wallMs, everyMs: 1_000 },
  );
  isAway = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(storeClock.now()).toBe(Date.now() + 5_000);
  storeClock.close();
});

it('does not trust an answer that took long, unless it is the first', async () => {
  const { logger } = listeningLogger();
  const { clock, wallMs } = machine(FIVE_MINUTES_MS);
  const answer = { tookMs: 10_000, wrongMs: 0 };
  const slow = async () => {
    const now = Date.now() + answer.wrongMs;
    await new Promise((resolve) => setTimeout(resolve, answer.tookMs));
    return now;
  };
  const opening = openStoreClock({ clock: slow }, logger, { clock, wallMs, everyMs: 30_000 });
  await vi.advanceTimersByTimeAsync(10_000);
  const storeClock = await opening;
  expect(Math.abs(storeClock.now() - Date.now())).toBeLessThanOrEqual(5_000);
  const differedMs = storeClock.now() - Date.now();
  answer.wrongMs = HOUR_MS;
  await vi.advanceTimersByTimeAsync(50_000);
  expect(storeClock.now()).toBe(Date.now() + differedMs);
  storeClock.close();
});
