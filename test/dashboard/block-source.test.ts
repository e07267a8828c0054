import { describe, expect, it } from 'vitest';
import { BlockSource } from '../../dashboard/src/kit/block-source.ts';
import { scaleOf, scrolled, scrollTopOf, topOf } from '../../dashboard/src/kit/scroll-scale.ts';

/** A list of `length` rows behind a cursor that answers with at most `most` rows, and counts what it is asked. */
function listOf(length: number, most = 1_000) {
  const asked: { cursor: string | undefined; limit: number; isReversed: boolean }[] = [];
  const source = new BlockSource<number>({
    canReverse: true,
    async load({ cursor, limit, isReversed }) {
      asked.push({ cursor, limit, isReversed });
      const start = Number(cursor ?? 0);
      const end = Math.min(length, start + Math.min(limit, most));
      const items = Array.from({ length: end - start }, (_, place) =>
        isReversed ? length - 1 - start - place : start + place,
      );
      return { items, nextCursor: end < length ? String(end) : null };
    },
  });
  return { source, asked };
}

const loaded = <T>(source: BlockSource<T>, index: number): Promise<void> =>
  new Promise((resolve) => {
    const stop = source.subscribe(() => {
      if (source.row(index) === undefined || source.progress !== null) return;
      stop();
      resolve();
    });
  });

async function shown(source: BlockSource<number>, index: number): Promise<void> {
  const ready = loaded(source, index);
  source.show(index, index + 20);
  await ready;
}

describe('a list behind a cursor', () => {
  it('has the row of each place, however it is scrolled', async () => {
    const { source } = listOf(5_000);
    for (const index of [0, 250, 4_100, 1_999, 3]) {
      await shown(source, index);
      expect(source.row(index)).toBe(index);
    }
  });

  it('keeps a bounded number of rows, and loads dropped ones by their cursor', async () => {
    const { source, asked } = listOf(40_000);
    for (let index = 0; index < 20_000; index += 200) await shown(source, index);
    const kept = Array.from({ length: 40_000 }, (_, index) => source.row(index)).filter(
      (row) => row !== undefined,
    );
    expect(kept.length).toBeLessThanOrEqual(24 * 200);
    const before = asked.length;
    await shown(source, 9_900);
    expect(asked.slice(before).every(({ limit }) => limit === 200)).toBe(true);
    expect(asked.length - before).toBeLessThanOrEqual(2);
  });

  it('reads the end from the end, once its length is counted', async () => {
    const { source, asked } = listOf(1_000_000);
    source.setTotal(1_000_000, true);
    await shown(source, 999_970);
    expect(source.row(999_999)).toBe(999_999);
    expect(asked.filter(({ isReversed }) => isReversed)).toHaveLength(1);
  });

  it('fills a block by several answers, where a filter makes them short', async () => {
    const { source } = listOf(1_000, 7);
    await shown(source, 210);
    expect(source.row(399)).toBe(399);
  });
});

describe('a list that is higher than an element can be', () => {
  const scale = scaleOf(38_000_000, 600);

  it('reaches both ends', () => {
    expect(topOf(scale, 0)).toBe(0);
    expect(topOf(scale, scale.drawn - 600)).toBe(38_000_000 - 600);
  });

  it('has one position of the scroll bar for each place', () => {
    for (const top of [0, 500, 20_000, 1_000_000, 37_000_000, 37_999_400])
      expect(topOf(scale, scrollTopOf(scale, top))).toBeCloseTo(top, 3);
  });

  it('moves by as many pixels as it is scrolled, without an end before the end', () => {
    let place = { top: 30_000_000, scrollTop: scrollTopOf(scale, 30_000_000) };
    while (place.top > 0) {
      const next = scrolled(scale, place, place.scrollTop - 1_000);
      expect(next.top).toBe(Math.max(0, place.top - 1_000));
      expect(next.scrollTop).toBeGreaterThanOrEqual(0);
      place = next;
    }
    expect(place.scrollTop).toBe(0);
  });
});
