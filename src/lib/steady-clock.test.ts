import { expect, it } from 'vitest';
import { createSteadyClock } from './steady-clock.ts';

const HOUR_MS = 3_600_000;
const T0 = Date.UTC(2026, 0, 1);

/** A machine whose clocks the test moves. */
function machine() {
  const at = { monotonicMs: 5_000, wallMs: T0, sinceBootMs: 90_000 };
  return {
    clocks: {
      monotonicMs: () => at.monotonicMs,
      wallMs: () => at.wallMs,
      sinceBootMs: () => at.sinceBootMs,
    },
    pass(ms: number) {
      at.monotonicMs += ms;
      at.wallMs += ms;
      at.sinceBootMs += ms;
    },
    set(ms: number) {
      at.wallMs += ms;
    },
    suspend(ms: number) {
      at.wallMs += ms;
      at.sinceBootMs += ms;
    },
  };
}

it.each([-HOUR_MS, HOUR_MS, -600, 600])('goes on as before when the wall clock is set by %i ms', (stepMs) => {
  const { clocks, pass, set } = machine();
  const clock = createSteadyClock(clocks);
  pass(1_000);
  set(stepMs);
  expect(clock.now()).toBe(T0 + 1_000);
  pass(1_000);
  set(-stepMs);
  pass(1_000);
  expect(clock.now()).toBe(T0 + 3_000);
});

it('has gone on while the machine was suspended', () => {
  const { clocks, pass, suspend } = machine();
  const clock = createSteadyClock(clocks);
  pass(1_000);
  suspend(HOUR_MS);
  expect(clock.now()).toBe(T0 + 1_000 + HOUR_MS);
  suspend(HOUR_MS);
  pass(1_000);
  expect(clock.now()).toBe(T0 + 2_000 + 2 * HOUR_MS);
});

it('counts what passed with caution: a jump forward as time, a jump back as none', () => {
  const { clocks, pass, set, suspend } = machine();
  const clock = createSteadyClock(clocks);
  const before = clock.cautiousMs();
  const since = () => clock.cautiousMs() - before;
  pass(1_000);
  expect(since()).toBe(1_000);
  set(HOUR_MS);
  expect(since()).toBe(1_000 + HOUR_MS);
  set(-2 * HOUR_MS);
  pass(1_000);
  expect(since()).toBe(2_000 + HOUR_MS);
  // Right after the wall clock was set back, which must not hide it.
  suspend(HOUR_MS);
  expect(since()).toBe(2_000 + 2 * HOUR_MS);
});

it('does not run ahead by how often it is read, though one clock is coarser than the other', () => {
  const { clocks, pass } = machine();
  const clock = createSteadyClock({ ...clocks, wallMs: () => Math.floor(clocks.wallMs()) });
  const before = clock.cautiousMs();
  for (let reading = 0; reading < 10_000; reading += 1) {
    pass(0.3);
    clock.cautiousMs();
  }
  expect(clock.cautiousMs() - before).toBeCloseTo(3_000);
});

it('tells those who listen of every jump once, until they stop', () => {
  const { clocks, pass, set, suspend } = machine();
  const clock = createSteadyClock(clocks);
  let told = 0;
  const stop = clock.onJump(() => {
    told += 1;
  });
  pass(1_000);
  clock.now();
  expect(told).toBe(0);
  for (const jump of [() => set(HOUR_MS), () => set(-HOUR_MS), () => suspend(HOUR_MS)]) {
    jump();
    clock.now();
    clock.cautiousMs();
  }
  expect(told).toBe(3);
  stop();
  set(HOUR_MS);
  clock.now();
  expect(told).toBe(3);
});

it('is not misled when the process is held up between reading one clock and the next', () => {
  const { clocks, pass } = machine();
  let isHeldUp = false;
  const clock = createSteadyClock({
    ...clocks,
    wallMs() {
      if (isHeldUp) pass(10_000);
      isHeldUp = false;
      return clocks.wallMs();
    },
  });
  let told = 0;
  clock.onJump(() => {
    told += 1;
  });
  const before = clock.cautiousMs();
  isHeldUp = true;
  expect(clock.now()).toBe(T0 + 10_000);
  expect(clock.cautiousMs() - before).toBe(10_000);
  expect(told).toBe(0);
});
