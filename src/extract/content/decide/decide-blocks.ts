import { BLOCK_FEATURES } from '../features/block-feature-names.ts';
import { blockFeatures } from '../features/block-features.ts';
import { tokenScores } from '../features/block-tokens.ts';
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
import { chooseBlocks, repeatsOf } from './choose-blocks.ts';
import { keepPageHeading } from './page-heading.ts';
import { keepProductFacts } from './product-facts.ts';
import { keepSmallBody } from './small-body.ts';
import { findStructures } from './structures.ts';
import { completeRows, completeStructures, fillStructures, groupTexts } from './whole-structures.ts';

export interface Decision {
  /** Probability of each page type. */
  readonly types: Float64Array;
  /** By block: 1 for those that belong to the content. */
  readonly isKept: Uint8Array;
}

/** Decides which blocks are content: scores of the model first, then the choice, in which structures stay whole. */
export function decideBlocks(evidence: ContentEvidence, model: ContentModel): Decision {
  const { types, sums } = scoreBlocks(evidence, model);
  return { types, isKept: keepBlocks(evidence, types, sums) };
}

/** Scores the page type, then each block, then each block again with the first scores of its surroundings as features. */
function scoreBlocks(
  evidence: ContentEvidence,
  { types: typeForests, tokens, first, second }: ContentModel,
): { types: Float64Array; sums: Float64Array } {
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
  return { types, sums: finals };
}

/** By block: 1 for those that belong to the content. */
function keepBlocks(evidence: ContentEvidence, types: Float64Array, sums: Float64Array): Uint8Array {
  const repeats = repeatsOf(evidence.blocks);
  const structures = findStructures(evidence);
  const texts = groupTexts(evidence, structures, repeats);
  const isKept = chooseBlocks(evidence.blocks, sums.map(logistic), repeats, texts.textOf);
  completeRows(evidence, texts, isKept);
  completeStructures(evidence, structures, repeats, isKept);
  keepSmallBody(evidence, sums, repeats, isKept);
  keepProductFacts(evidence, types, structures, sums, isKept);
  keepSectionHeadings(evidence, sums, isKept);
  keepPageHeading(evidence, types, sums, isKept);
  fillStructures(evidence, structures, isKept);
  return isKept;
}
