import { TAG } from '../../html/names.ts';
import { BLOCK_FEATURES } from '../features/block-feature-names.ts';
import { blockFeatures } from '../features/block-features.ts';
import { tokenScores } from '../features/block-tokens.ts';
import type { Block } from '../features/blocks.ts';
import { penalizeComments } from '../features/comment-sections.ts';
import { CONTEXT_FEATURES, contextFeatures } from '../features/context-features.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import { pageFeatures } from '../features/page-features.ts';
import { HINT_BITS } from '../features/word-lists.ts';
import { type ContentModel, evaluate, logistic, typeChances } from '../model/model.ts';
import {
  chooseBlocks,
  favourDocumentationBody,
  isOnlyActions,
  keepSectionHeadings,
  penalizeActions,
  penalizeBylines,
  penalizePageNotes,
  repeatsOf,
} from './choose-blocks.ts';
import { keepPageHeading, keepProductFacts } from './kept-facts.ts';
import { keepLostLists } from './main-region.ts';
import { findStructures } from './structures.ts';
import { completeRows, completeStructures, fillStructures, groupTexts } from './whole-structures.ts';

interface Decision {
  /** Probability of each page type. */
  readonly types: Float64Array;
  /** By block: 1 for those that belong to the content. */
  readonly isKept: Uint8Array;
}

/** A body of so few words is read as a whole: there is too little of it for a choice. */
const MOST_WORDS = 100;
/** A body of less is a place that a script fills, or a single message. */
const LEAST_WORDS = 4;
const LEAST_BLOCKS = 2;
/** Blocks with a lower score are clearly something else, such as a note of the template. */
const LEAST_SUM = -7;
/** Menus are mostly links; a list of documents has a heading or a text beside them. */
const MOST_LINK_SHARE = 0.9;
const AWAY =
  ELEMENT_FLAG.nav |
  ELEMENT_FLAG.header |
  ELEMENT_FLAG.footer |
  ELEMENT_FLAG.aside |
  ELEMENT_FLAG.dialog |
  ELEMENT_FLAG.unseen |
  ELEMENT_FLAG.form |
  ELEMENT_FLAG.button |
  ELEMENT_FLAG.noscript;
/** Parts around the body. */
const FRAME = ELEMENT_FLAG.nav | ELEMENT_FLAG.header | ELEMENT_FLAG.footer | ELEMENT_FLAG.aside;
const OTHER = HINT_BITS.share | HINT_BITS.promo | HINT_BITS.nav | HINT_BITS.related | HINT_BITS.comment;

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
  keepLostLists(evidence, types, repeats, isKept);
  keepProductFacts(evidence, types, structures, sums, isKept);
  keepSectionHeadings(evidence, sums, isKept);
  keepPageHeading(evidence, types, sums, isKept);
  fillStructures(evidence, structures, isKept);
  return isKept;
}

/**
 * Keeps all of a body of a few lines: contact data, opening hours, a price list, a glossary. The model has learned from
 * pages with much text, and drops short lines at the end of a page as parts of its footer. The body is what the page
 * itself calls its main part or its one article, or all of a page without navigation. Changes `isKept`.
 */
function keepSmallBody(
  evidence: ContentEvidence,
  sums: Float64Array,
  repeats: Uint8Array,
  isKept: Uint8Array,
): void {
  const { blocks, shape } = evidence;
  const body = statedBody(evidence);
  if (body < 0) return;
  const places = placesIn(evidence, body);
  let words = 0;
  let linkWords = 0;
  for (const place of places) {
    words += (blocks[place] as Block).words;
    linkWords += (blocks[place] as Block).linkWords;
  }
  if (places.length < LEAST_BLOCKS || words < LEAST_WORDS || words > MOST_WORDS) return;
  if (linkWords > words * MOST_LINK_SHARE) return;
  const outside = shape.flagsAround[body] as number;
  const hintsOutside = shape.hintsAround[body] as number;
  for (const place of places) {
    const block = blocks[place] as Block;
    const flags = (shape.flagsAround[block.container] as number) & ~outside;
    const hints = (shape.hintsAround[block.container] as number) & ~hintsOutside;
    if ((flags & AWAY) !== 0 || (hints & OTHER) !== 0 || repeats[place] === 1) continue;
    if ((sums[place] as number) < LEAST_SUM || (block.linkWords > 0 && isOnlyActions(block))) continue;
    isKept[place] = 1;
  }
}

/**
 * The one `main` of the page, without one its one `article`, without both all of a page that has an `h1`, and no
 * navigation, header, footer or script; -1 where there is none or more than one.
 */
function statedBody({ tree, elements, shape }: ContentEvidence): number {
  for (const flag of [ELEMENT_FLAG.main, ELEMENT_FLAG.article]) {
    let body = -1;
    let count = 0;
    for (let node = 1; node < tree.count; node++) {
      if (((elements.flags[node] as number) & flag) === 0) continue;
      const around = shape.flagsAround[tree.parents[node] as number] as number;
      if ((around & (flag | ELEMENT_FLAG.unseen)) !== 0) continue;
      count++;
      body = node;
    }
    if (count > 0) return count === 1 ? body : -1;
  }
  const hasFrame = elements.flags.some((flags) => (flags & FRAME) !== 0);
  return !hasFrame && tree.tags.includes(TAG.h1) && !tree.tags.includes(TAG.script) ? 0 : -1;
}

function placesIn({ tree, blocks }: ContentEvidence, body: number): number[] {
  const end = tree.ends[body] as number;
  const places: number[] = [];
  for (let place = 0; place < blocks.length; place++) {
    const { first } = blocks[place] as Block;
    if (first > body && first < end) places.push(place);
  }
  return places;
}
