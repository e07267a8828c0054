import { BLOCK_FEATURES } from '../features/block-feature-names.ts';
import { blockFeatures } from '../features/block-features.ts';
import { tokenScores } from '../features/block-tokens.ts';
import type { Block } from '../features/blocks.ts';
import { penalizeComments } from '../features/comment-sections.ts';
import { CONTEXT_FEATURES, contextFeatures } from '../features/context-features.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import { pageFeatures } from '../features/page-features.ts';
import { evaluate, logistic } from '../model/forest.ts';
import type { ContentModel } from '../model/model.ts';
import { typeChances } from '../model/page-type.ts';
import {
  favourDocumentationBody,
  keepSectionHeadings,
  penalizeActions,
  penalizeBylines,
  penalizePageNotes,
} from './block-corrections.ts';

export interface Decision {
  /** Probability of each page type. */
  readonly types: Float64Array;
  /** By block: 1 for those that belong to the content. */
  readonly isKept: Uint8Array;
}

/** Scores the page type, then each block, then each block again with the first scores of its surroundings as features. */
export function decideBlocks(
  evidence: ContentEvidence,
  { types: typeForests, tokens, first, second }: ContentModel,
): Decision {
  const types = typeChances(typeForests, pageFeatures(evidence));
  const rows = blockFeatures(evidence, types, tokenScores(evidence, tokens));
  const sums = evaluate(first, rows, BLOCK_FEATURES);
  penalizeComments(evidence, types, sums);
  const context = contextFeatures(evidence, rows, BLOCK_FEATURES, sums);
  const finals = evaluate(second, context, BLOCK_FEATURES + CONTEXT_FEATURES);
  penalizeComments(evidence, types, finals);
  penalizeActions(evidence, finals);
  penalizeBylines(evidence, types, finals);
  favourDocumentationBody(evidence, types, finals);
  penalizePageNotes(evidence, finals);
  const isKept = chooseBlocks(evidence.blocks, finals.map(logistic));
  keepSectionHeadings(evidence, finals, isKept);
  return { types, isKept };
}

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

/**
 * Chooses the blocks with the best expected F1 over words. That set always consists of the likeliest blocks, so sorting
 * once finds it. A page may have no content.
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
