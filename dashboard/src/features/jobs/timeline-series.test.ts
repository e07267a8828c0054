import { describe, expect, it } from 'vitest';
import { timelineSeries } from './timeline-series.ts';

const point = (second: number, done: number, failed = 0) => ({
  at: new Date(second * 1000).toISOString(),
  done,
  failed,
});

describe('the series of a throughput chart', () => {
  it('have zero where no URL ended', () => {
    const { x, done, failed } = timelineSeries({ bucketMs: 1000, points: [point(10, 2), point(13, 4, 1)] });
    expect(x).toEqual([10, 11, 12, 13]);
    expect(done).toEqual([2, 0, 0, 4]);
    expect(failed).toEqual([0, 0, 0, 1]);
  });

  it('have a thousand points at most, with rates a second', () => {
    const { x, done } = timelineSeries({
      bucketMs: 1000,
      points: [point(0, 10), point(1, 10), point(3_999, 8)],
    });
    expect(x).toHaveLength(1_000);
    expect(done[0]).toBe(5);
    expect(done.at(-1)).toBe(2);
  });
});
