import type { Block } from './blocks.ts';

/** Pages carry whole texts twice, once for each width of the screen. Shorter repeats may well be meant … */
const REPEAT_WORDS = 8;
/** … and so may those up to this length that come back alone and later, like the steps of a manual. */
const LONE_REPEAT_WORDS = 30;

/** Not even the best of a page is content when it is as unlikely as this. */
const LEAST_CHANCE = 0.005;
/** A page that shows more words than this … */
const SHELL_WORDS = 40;
/** … has no content at all when fewer than this are expected to be … */
const SHELL_EXPECTED = 10;
/** … and none of its blocks is as likely as this: menus around a place that a script would fill. */
const SHELL_CHANCE = 0.5;

/** 1 for a block whose text stood on the page before. */
export function repeatsOf(blocks: readonly Block[]): Uint8Array {
  const places = new Map<string, number>();
  const earlier = blocks.map(({ text }, index) => {
    const place = places.get(text);
    if (place === undefined) places.set(text, index);
    return place ?? -1;
  });
  return Uint8Array.from(blocks, ({ words }, index) => {
    const place = earlier[index] as number;
    if (place < 0 || words < REPEAT_WORDS) return 0;
    const isNext = place === index - 1;
    const isInRow = (place > 0 && earlier[index - 1] === place - 1) || earlier[index + 1] === place + 1;
    return words >= LONE_REPEAT_WORDS || isNext || isInRow ? 1 : 0;
  });
}

/**
 * Which blocks to keep, given how likely each belongs to the content. Among all sets the one with the best expected
 * F1 over words always consists of the likeliest blocks, so it is found by sorting once. A page may have no content.
 */
export function chooseBlocks(blocks: readonly Block[], chances: Float64Array): Uint8Array {
  const repeats = repeatsOf(blocks);
  const chance = chances.map((value, index) => (repeats[index] === 1 ? 0 : value));
  const kept = new Uint8Array(blocks.length);
  const order = Array.from(chance.keys()).sort(
    (a, b) => (chance[b] as number) - (chance[a] as number) || a - b,
  );
  let shown = 0;
  let expected = 0;
  for (let i = 0; i < blocks.length; i++) {
    shown += (blocks[i] as Block).words;
    expected += (blocks[i] as Block).words * (chance[i] as number);
  }
  const likeliest = chance[order[0] as number] ?? 0;
  if (shown > SHELL_WORDS && expected < SHELL_EXPECTED && likeliest < SHELL_CHANCE) return kept;
  let right = 0;
  let taken = 0;
  let best = 0;
  let bestCount = 0;
  for (const [place, index] of order.entries()) {
    const { words } = blocks[index] as Block;
    if ((chance[index] as number) < LEAST_CHANCE) break;
    right += words * (chance[index] as number);
    taken += words;
    const score = (2 * right) / Math.max(1e-9, taken + expected);
    if (score >= best) {
      best = score;
      bestCount = place + 1;
    }
  }
  for (let place = 0; place < bestCount; place++) kept[order[place] as number] = 1;
  return kept;
}
