import type { Block } from '../features/blocks.ts';
import { logistic } from '../model/model.ts';

/** Pages repeat whole texts, once for each screen width. Shorter repeats may be intended … */
const REPEAT_WORDS = 8;
/** … and so may texts up to this length that repeat alone and later, like the steps of a manual. */
const LONE_REPEAT_WORDS = 30;

/** Blocks below this chance are never content. */
const LEAST_CHANCE = 0.005;
/** A page with more words than this … */
const SHELL_WORDS = 40;
/** … has no content when fewer words than this are expected to be content … */
const SHELL_EXPECTED = 10;
/** … and no block reaches this chance: a shell whose content a script would fill in. */
const SHELL_CHANCE = 0.5;

/** 1 for a block that repeats an earlier text. */
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

/** Blocks that belong together are a repeat when repeats have more than this share of their words. */
export const REPEATED_SHARE = 0.8;
/** What a block without words, such as a check mark, weighs in the mean of its text. */
const WORDLESS_WEIGHT = 0.5;
/** Blocks of one text are content together or not at all, so that several weak signs are a stronger one. */
const SHARPNESS = 2;
const MOST_LOGIT = 6;

interface Text {
  blocks: number;
  words: number;
  repeatedWords: number;
  weight: number;
  /** The weighted sum of the logits. */
  mass: number;
  chance: number;
}

/**
 * Chooses the texts with the best expected F1 over words. That set always consists of the likeliest texts, so sorting once
 * finds it. A page may have no content. `textOf` has the number of the text of each block, from 0.
 */
export function chooseBlocks(
  blocks: readonly Block[],
  chances: Float64Array,
  repeats: Uint8Array = repeatsOf(blocks),
  textOf: ArrayLike<number> = [...blocks.keys()],
): Uint8Array {
  const texts = textsOf(blocks, chances, repeats, textOf);
  let shown = 0;
  let expected = 0;
  let likeliest = 0;
  for (const { words, chance } of texts) {
    shown += words;
    expected += words * chance;
    likeliest = Math.max(likeliest, chance);
  }
  const kept = new Uint8Array(blocks.length);
  if (shown > SHELL_WORDS && expected < SHELL_EXPECTED && likeliest < SHELL_CHANCE) return kept;
  const order = texts.toSorted((a, b) => b.chance - a.chance);
  let right = 0;
  let taken = 0;
  let best = 0;
  /** Texts below this chance are dropped. */
  let least = Number.POSITIVE_INFINITY;
  for (const { words, chance } of order) {
    if (chance < LEAST_CHANCE) break;
    right += words * chance;
    taken += words;
    const score = (2 * right) / Math.max(1e-9, taken + expected);
    if (score < best) continue;
    best = score;
    least = chance;
  }
  for (let i = 0; i < blocks.length; i++)
    kept[i] = (texts[textOf[i] as number] as Text).chance >= least ? 1 : 0;
  return kept;
}

function textsOf(
  blocks: readonly Block[],
  chances: Float64Array,
  repeats: Uint8Array,
  textOf: ArrayLike<number>,
): Text[] {
  const texts: Text[] = [];
  for (let i = 0; i < blocks.length; i++) {
    const { words } = blocks[i] as Block;
    texts[textOf[i] as number] ??= { blocks: 0, words: 0, repeatedWords: 0, weight: 0, mass: 0, chance: 0 };
    const text = texts[textOf[i] as number] as Text;
    text.words += words;
    if (repeats[i] === 1) {
      text.repeatedWords += words;
      continue;
    }
    const chance = chances[i] as number;
    const logit = Math.log(chance / (1 - chance));
    const weight = Math.max(words, WORDLESS_WEIGHT);
    text.blocks++;
    text.weight += weight;
    text.mass += weight * Math.max(-MOST_LOGIT, Math.min(MOST_LOGIT, logit));
    text.chance = chance;
  }
  for (const text of texts) {
    const isRepeat = text.blocks === 0 || text.repeatedWords > text.words * REPEATED_SHARE;
    if (isRepeat) text.chance = 0;
    else if (text.blocks > 1) text.chance = logistic((SHARPNESS * text.mass) / text.weight);
  }
  return texts;
}
