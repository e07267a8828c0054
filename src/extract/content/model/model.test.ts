import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseBlocks } from '../decide/choose-blocks.ts';
import { BLOCK_FEATURE_NAMES, BLOCK_FEATURES } from '../features/block-feature-names.ts';
import type { Block } from '../features/blocks.ts';
import { CONTEXT_FEATURES } from '../features/context-features.ts';
import { PAGE_FEATURES } from '../features/page-features.ts';
import { evaluate, type Forest, model, PAGE_TYPES, packForests, readForests } from './model.ts';

const SMALL: Forest = {
  depth: 2,
  bias: 0.5,
  features: Uint16Array.of(0, 1),
  thresholds: Float32Array.of(1, 2),
  leaves: Float32Array.of(-1, 0.5, 0.25, 1),
};

describe('a forest', () => {
  it('adds up the leaves that the answers lead to', () => {
    expect([...evaluate(SMALL, Float32Array.of(0, 0, 2, 0, 0, 3, 2, 3), 2)]).toEqual([-0.5, 1, 0.75, 1.5]);
  });

  it('is the same after packing, but for the rounding of its leaves', () => {
    const [read] = readForests(packForests([SMALL]));
    expect(read?.features).toEqual(SMALL.features);
    expect(read?.thresholds).toEqual(SMALL.thresholds);
    for (const [index, leaf] of SMALL.leaves.entries()) expect(read?.leaves[index]).toBeCloseTo(leaf, 2);
  });
});

describe('the shipped model', () => {
  it('asks only about features there are', () => {
    const { types, first, second } = model();
    const most = (forest: Forest) => Math.max(...forest.features);
    expect(types).toHaveLength(PAGE_TYPES.length);
    for (const forest of types) expect(most(forest)).toBeLessThan(PAGE_FEATURES);
    expect(most(first)).toBeLessThan(BLOCK_FEATURES);
    expect(most(second)).toBeLessThan(BLOCK_FEATURES + CONTEXT_FEATURES);
  });

  it('knows every feature by one name', () => {
    expect(new Set(BLOCK_FEATURE_NAMES).size).toBe(BLOCK_FEATURES);
  });
});

describe('choosing blocks', () => {
  const blockOf = (words: number, index: number): Block => ({ words, text: `block ${index}` }) as Block;

  it('takes the likeliest ones, and none that is less likely than one left out', () => {
    const chances = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0, max: 1, noNaN: true })),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(chances, (list) => {
        const kept = chooseBlocks(
          list.map(([words], index) => blockOf(words, index)),
          Float64Array.from(list, ([, chance]) => chance),
        );
        const taken = list.filter((_, index) => kept[index] === 1).map(([, chance]) => chance);
        const left = list.filter((_, index) => kept[index] === 0).map(([, chance]) => chance);
        expect(Math.min(1, ...taken)).toBeGreaterThanOrEqual(Math.max(0, ...left));
      }),
    );
  });

  it('leaves out what is nearly surely not content beside what surely is', () => {
    const kept = chooseBlocks([blockOf(100, 0), blockOf(100, 1)], Float64Array.of(0.99, 0.02));
    expect([...kept]).toEqual([1, 0]);
  });
});
