import type { Evidence } from './block-features.ts';
import type { Block } from './blocks.ts';
import { HINT_BITS } from './hint-words.ts';
import { isProse } from './page-shape.ts';
import { PAGE_TYPES } from './page-type.ts';

const ARTICLE = PAGE_TYPES.indexOf('article');
const LEAST_CHANCE = 0.3;
const MOST_WORDS = 15;
const PENALTY = 3;

/** Who wrote an article and when is told apart from its text, so the lines above the text that say so are not part of it. Changes `sums`. */
export function withoutBylines(
  { tree, blocks, elements }: Evidence,
  types: ArrayLike<number>,
  sums: Float64Array,
): void {
  if ((types[ARTICLE] ?? 0) < LEAST_CHANCE) return;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    if (isProse(block)) {
      if ((sums[index] as number) > 0) return;
      continue;
    }
    const hints =
      (elements.hints[block.container] as number) |
      (elements.hints[tree.parents[block.container] as number] ?? 0);
    if (block.words <= MOST_WORDS && (hints & HINT_BITS.meta) !== 0)
      sums[index] = (sums[index] as number) - PENALTY;
  }
}
