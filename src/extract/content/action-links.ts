import type { Evidence } from './block-features.ts';
import type { Block } from './blocks.ts';
import { MARK } from './element-marks.ts';
import { TOPIC_NAMES, type Topic } from './text-words.ts';

/** What buttons and links under a post, a product or an article say: reply, share, add to cart, read more. */
const ACTIONS: readonly Topic[] = ['comments', 'share', 'more', 'cart', 'account'];
const ACTION_PLACES = ACTIONS.map((topic) => TOPIC_NAMES.indexOf(topic));
const MOST_WORDS = 3;
const PENALTY = 3;

/** Takes links and buttons out of the running that only do something. Changes `sums`. */
export function withoutActions({ blocks, elements }: Evidence, sums: Float64Array): void {
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    if (block.words === 0 || block.words > MOST_WORDS) continue;
    const isButton = ((elements.marks[block.container] as number) & MARK.button) !== 0;
    if (!isButton && block.linkWords < block.words) continue;
    if (!saysOnly(block)) continue;
    sums[index] = (sums[index] as number) - PENALTY;
  }
}

/** Every word belongs to one of the actions; a word may count for several, so this errs on the side of dropping. */
function saysOnly({ topics, looked }: Block): boolean {
  let said = 0;
  for (const place of ACTION_PLACES) said += topics[place] as number;
  return looked > 0 && said >= looked;
}
