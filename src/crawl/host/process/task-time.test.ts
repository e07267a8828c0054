import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../../core/model/attempt.ts';
import { defined } from '../../../lib/defined.ts';
import { attemptMs, spentMs, taskLimitMs } from './task-end.ts';

const DEFAULT_MS = 60_000;
const attempt = (ms: number, pauseMs?: number): Attempt => ({
  engine: 'http',
  proxyTier: null,
  reason: 'plan.cheapest',
  outcome: 'error',
  statusCode: 500,
  ms,
  ...defined({ pauseMs }),
  bytes: 0,
  at: '2026-01-01T00:00:00.000Z',
});

describe('the time limit of a task', () => {
  it('is that of the request, else that of the setting, and at least the time of one attempt', () => {
    expect(taskLimitMs({ timeoutMs: 30_000, taskTimeoutMs: 5_000 }, DEFAULT_MS)).toBe(5_000);
    expect(taskLimitMs({ timeoutMs: 30_000 }, DEFAULT_MS)).toBe(60_000);
    expect(taskLimitMs({ timeoutMs: 120_000 }, DEFAULT_MS)).toBe(120_000);
  });

  it('is spent by attempts and by the pauses that are recorded with them', () => {
    expect(spentMs([attempt(1_000, 500), attempt(2_000)])).toBe(3_500);
  });

  it('leaves the next attempt what is left of it, at least a second', () => {
    const page = { timeoutMs: 30_000 };
    expect(attemptMs(page, [], DEFAULT_MS)).toBe(30_000);
    expect(attemptMs(page, [attempt(30_000, 10_000)], DEFAULT_MS)).toBe(20_000);
    expect(attemptMs(page, [attempt(59_900)], DEFAULT_MS)).toBe(1_000);
    expect(attemptMs({ timeoutMs: 30_000, taskTimeoutMs: 10_000 }, [], DEFAULT_MS)).toBe(10_000);
  });
});
