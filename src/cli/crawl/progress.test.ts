import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Waiting } from '../../capabilities/jobs/waits/waiting.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { describeBytes, describeMs } from '../../lib/human-units.ts';
import {
  barLine,
  type CrawlRate,
  createCrawlRate,
  createProgress,
  describeRate,
  describeWaiting,
} from './progress.ts';

const jobWith = (pages: number, failed: number, open: number, maxPages: number | null = null) =>
  ({ counters: { pages, failed, open }, options: { budgets: { maxPages } } }) as Job;

describe('the rate of a crawl', () => {
  it('is unknown at first', () => {
    expect(createCrawlRate()(jobWith(5, 0, 10), 0)).toEqual({
      done: 5,
      left: 10,
      failed: 0,
      pagesPerSecond: 0,
      etaMs: null,
    });
  });

  it('counts failed pages as done, and says how long the rest takes', () => {
    const rateOf = createCrawlRate();
    rateOf(jobWith(0, 0, 100), 0);
    expect(rateOf(jobWith(15, 5, 80), 2_000)).toEqual({
      done: 20,
      left: 80,
      failed: 5,
      pagesPerSecond: 10,
      etaMs: 8_000,
    });
  });

  it('is that of the last seconds', () => {
    const rateOf = createCrawlRate();
    for (let second = 0; second <= 60; second += 1) rateOf(jobWith(second * 100, 0, 1_000), second * 1_000);
    let rate: CrawlRate | null = null;
    for (let second = 61; second <= 80; second += 1)
      rate = rateOf(jobWith(6_000 + second, 0, 1_000), second * 1_000);
    expect(rate?.pagesPerSecond).toBeCloseTo(1, 5);
  });

  it('promises no more than the budget leaves', () => {
    expect(createCrawlRate()(jobWith(40, 10, 5_000, 60), 0).left).toBe(10);
    expect(createCrawlRate()(jobWith(60, 0, 5_000, 60), 0).left).toBe(0);
  });
});

describe('a crawl that waits', () => {
  const waiting: Waiting = {
    host: 'example.com' as HostKey,
    code: 'HOST_RATE_LIMITED',
    message: 'example.com asked to wait until 2026-03-01T14:05:00.000Z.',
    until: 0,
    tasks: 2,
  };
  const rate: CrawlRate = { done: 3, left: 2, failed: 0, pagesPerSecond: 0, etaMs: null };

  it('says for what and until when, in place of a speed of nothing', () => {
    expect(describeWaiting([])).toBeNull();
    expect(describeRate(rate, describeWaiting([waiting]))).toBe(
      '3 done · 2 left · 0 failed · waits (HOST_RATE_LIMITED): example.com asked to wait until 2026-03-01T14:05:00.000Z.',
    );
    expect(describeWaiting([waiting, waiting, waiting])).toContain(' · 2 more');
  });

  it('says so on a pipe when it changes, and not every few seconds', () => {
    const lines: string[] = [];
    const stream = { isTTY: false, write: (line: string) => lines.push(line) };
    const progress = createProgress(stream as unknown as NodeJS.WriteStream, { isQuiet: false });
    for (let second = 0; second < 60; second += 1) {
      const until = second < 30 ? 'until 14:05' : 'until 14:06';
      progress.show(jobWith(3, 0, 2), second * 1_000, `waits (HOST_RATE_LIMITED): ${until}`);
    }
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('until 14:06');
  });

  it('shows its speed while pages come', () => {
    const line = describeRate({ ...rate, pagesPerSecond: 2 }, describeWaiting([waiting]));
    expect(line).toBe('3 done · 2 left · 2.0 pages/s · 0 failed · ETA –');
  });
});

describe('the bar', () => {
  it('is never wider than the terminal', () => {
    const rate = fc.record({
      done: fc.nat(),
      left: fc.nat(),
      failed: fc.nat(),
      pagesPerSecond: fc.double({ min: 0, max: 1e6, noNaN: true }),
      etaMs: fc.option(fc.double({ min: 0, max: 1e12, noNaN: true })),
    });
    fc.assert(
      fc.property(rate, fc.integer({ min: 1, max: 300 }), (each, columns) => {
        expect(barLine(each, columns).length).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it('is full when nothing is left', () => {
    const rate = { done: 7, left: 0, failed: 0, pagesPerSecond: 1, etaMs: 0 };
    expect(barLine(rate, 120)).toMatch(/^█{30} 7 done · 0 left · 1\.0 pages\/s · 0 failed · ETA 0\.0 s$/);
  });
});

describe('times and sizes', () => {
  it.each([
    [400, '0.4 s'],
    [59_400, '59 s'],
    [200_000, '3 min 20 s'],
    [7_500_000, '2 h 05 min'],
  ])('%i ms is %s', (ms, text) => expect(describeMs(ms)).toBe(text));

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [84_053_714, '84.1 MB'],
    [5e15, '5000.0 TB'],
  ])('%i bytes are %s', (bytes, text) => expect(describeBytes(bytes)).toBe(text));
});
