import { expect, test, vi } from 'vitest';
import { createLogFlood } from './log-flood.ts';
import { createLogger } from './logger.ts';

test('of the same message so many pass in a period, and the rest is counted', () => {
  let now = 0;
  const heldBack: Record<string, number>[] = [];
  const flood = createLogFlood({
    ...{ now: () => now, mostLines: 3, periodMs: 1_000 },
    onHeldBack: (counts) => heldBack.push(Object.fromEntries(counts)),
  });
  const admitted = (message: string, times: number) =>
    Array.from({ length: times }, () => flood.admits(message)).filter(Boolean).length;
  expect([admitted('store error', 1_000), admitted('other', 2)]).toEqual([3, 2]);
  now = 999;
  expect(admitted('store error', 5)).toBe(0);
  now = 1_000;
  expect(admitted('store error', 5)).toBe(3);
  expect(heldBack).toEqual([{ 'store error': 1_002 }]);
});

test('a period that ends in silence is told of as well', () => {
  vi.useFakeTimers();
  try {
    const heldBack: number[] = [];
    const flood = createLogFlood({
      ...{ now: () => performance.now(), mostLines: 1, periodMs: 1_000 },
      onHeldBack: (counts) => heldBack.push(...counts.values()),
    });
    for (let at = 0; at < 10; at += 1) flood.admits('again');
    vi.advanceTimersByTime(1_001);
    expect(heldBack).toEqual([9]);
  } finally {
    vi.useRealTimers();
  }
});

test('a server that is away writes a few lines and not thousands; what is no warning is not held back', () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  for (let at = 0; at < 5_000; at += 1) logger.warn({ err: new Error(`try ${at}`) }, 'store error');
  expect(lines.length).toBeLessThan(50);
  for (let at = 0; at < 100; at += 1) logger.info('request');
  expect(lines.filter((line) => line.includes('"msg":"request"'))).toHaveLength(100);
});
