import { withoutActions } from './action-links.ts';
import { BLOCK_FEATURES } from './block-feature-names.ts';
import { blockFeatures, type Evidence } from './block-features.ts';
import { withoutBylines } from './bylines.ts';
import { chooseBlocks } from './choose-blocks.ts';
import { withoutComments } from './comment-sections.ts';
import { CONTEXT_FEATURES, contextFeatures } from './context-features.ts';
import { evaluate, logistic } from './forest.ts';
import type { ContentModel } from './model.ts';
import { pageFeatures } from './page-features.ts';
import { withoutNotes } from './page-notes.ts';
import { typeChances } from './page-type.ts';
import { keepSectionHeadings } from './section-headings.ts';
import { tokenScores } from './token-scores.ts';
import { wholeBody } from './whole-body.ts';

export interface Decision {
  /** How likely the page is of each type. */
  readonly types: Float64Array;
  /** By block: 1 for those that belong to the content. */
  readonly isKept: Uint8Array;
}

/** Looks at the page as a whole, at each block, and then at each block again among what the first look made of the others. */
export function decideBlocks(
  evidence: Evidence,
  { types: typeForests, tokens, first, second }: ContentModel,
): Decision {
  const types = typeChances(typeForests, pageFeatures(evidence));
  const rows = blockFeatures(evidence, types, tokenScores(evidence, tokens));
  const sums = evaluate(first, rows, BLOCK_FEATURES);
  withoutComments(evidence, types, sums);
  const context = contextFeatures(evidence, rows, BLOCK_FEATURES, sums);
  const finals = evaluate(second, context, BLOCK_FEATURES + CONTEXT_FEATURES);
  withoutComments(evidence, types, finals);
  withoutActions(evidence, finals);
  withoutBylines(evidence, types, finals);
  wholeBody(evidence, types, finals);
  withoutNotes(evidence, finals);
  const isKept = chooseBlocks(evidence.blocks, finals.map(logistic));
  keepSectionHeadings(evidence, finals, isKept);
  return { types, isKept };
}
