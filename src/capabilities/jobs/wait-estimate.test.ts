import { expect, it } from 'vitest';
import { createWaitEstimate } from './wait-estimate.ts';

it('expects what the last seconds showed', () => {
  let now = 0;
  const pace = createWaitEstimate(() => now);
  expect(pace.expectedMs(1_000)).toBe(0);
  for (; now < 5_000; now += 10) pace.ended();
  expect(pace.expectedMs(1_000)).toBeCloseTo(10_000, -2);
  expect(pace.expectedMs(0)).toBe(0);
});

it('expects nothing when nothing ended lately, or nobody looked', () => {
  let now = 0;
  const pace = createWaitEstimate(() => now);
  for (; now < 5_000; now += 10) pace.ended();
  now += 60_000;
  expect(pace.expectedMs(1_000)).toBe(0);
  now += 5_000;
  expect(pace.expectedMs(1_000)).toBe(0);
});
