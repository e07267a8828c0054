import { headingLevel } from './block-facts.ts';
import type { Evidence } from './block-features.ts';
import type { Block } from './blocks.ts';

const MOST_WORDS = 15;
/** Below this a heading is surely none of the content's. */
const LEAST_SUM = -3;

/** The heading of a section goes with what it stands above; the one of the page does not. Changes `isKept`. */
export function keepSectionHeadings(
  { tree, blocks }: Evidence,
  sums: Float64Array,
  isKept: Uint8Array,
): void {
  for (let index = 0; index + 1 < blocks.length; index++) {
    if (isKept[index] === 1 || isKept[index + 1] === 0 || (sums[index] as number) <= LEAST_SUM) continue;
    const block = blocks[index] as Block;
    if (headingLevel(tree, block) < 2 || block.words > MOST_WORDS) continue;
    if (headingLevel(tree, blocks[index + 1] as Block) === 0) isKept[index] = 1;
  }
}
