import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Ranked, RankHeap } from './rank-heap.ts';

const items = (ranks: readonly number[]): Ranked[] =>
  ranks.map((rank, arrival) => ({ rank, arrival, slot: 0 }));
const sorted = (all: readonly Ranked[]) => [...all].sort((a, b) => a.rank - b.rank || a.arrival - b.arrival);

describe('a rank heap', () => {
  test('gives its elements by rank, then by arrival', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5)), (ranks) => {
        const heap = new RankHeap<Ranked>();
        const all = items(ranks);
        for (const item of all) heap.push(item);
        expect(heap.size).toBe(all.length);
        expect(all.map(() => heap.pop())).toEqual(sorted(all));
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });

  test('keeps its order while elements move forward and leaves are dropped', () => {
    const change = fc.record({ at: fc.nat(40), by: fc.nat(5), drop: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.nat(20), { minLength: 1 }), fc.array(change), (ranks, changes) => {
        const heap = new RankHeap<Ranked>();
        const kept = new Set(items(ranks));
        for (const item of kept) heap.push(item);
        for (const { at, by, drop } of changes) {
          const item = [...kept][at % Math.max(1, kept.size)];
          const { leaf } = heap;
          if (drop && leaf !== undefined) {
            heap.dropLeaf();
            kept.delete(leaf);
          } else if (item !== undefined) heap.advance(item, item.rank - by);
        }
        const expected = sorted([...kept]);
        expect(expected.map(() => heap.pop())).toEqual(expected);
      }),
    );
  });
});
