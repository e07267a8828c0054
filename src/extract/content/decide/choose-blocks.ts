import { type Block, headingLevel } from '../features/blocks.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import { type ContentEvidence, isProse } from '../features/evidence.ts';
import { HINT_BITS, type TextTopic, TOPIC_NAMES } from '../features/word-lists.ts';
import { logistic, PAGE_TYPES } from '../model/model.ts';

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

const DOCUMENTATION = PAGE_TYPES.indexOf('documentation');
const DOCUMENTATION_CHANCE = 0.4;
/** The body is the innermost element with this share of the expected content … */
const BODY_SHARE = 0.8;
/** … when the mean chance of its words is at least this. */
const LEAST_MEAN = 0.5;
const MOST_BONUS = 4;
const AWAY =
  ELEMENT_FLAG.nav |
  ELEMENT_FLAG.footer |
  ELEMENT_FLAG.aside |
  ELEMENT_FLAG.dialog |
  ELEMENT_FLAG.unseen |
  ELEMENT_FLAG.form |
  ELEMENT_FLAG.button;

/**
 * Documentation is kept whole: code, short definitions and small headings score low by themselves, but belong to the text
 * around them. The higher the mean chance of the body, the larger the bonus of its blocks. Changes `sums`.
 */
export function favourDocumentationBody(
  { tree, blocks, shape }: ContentEvidence,
  types: ArrayLike<number>,
  sums: Float64Array,
): void {
  if ((types[DOCUMENTATION] ?? 0) < DOCUMENTATION_CHANCE) return;
  const mass = new Float64Array(tree.count);
  for (let index = 0; index < blocks.length; index++) {
    const { container, words } = blocks[index] as Block;
    mass[container] = (mass[container] as number) + words * logistic(sums[index] as number);
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const parent = tree.parents[node] as number;
    mass[parent] = (mass[parent] as number) + (mass[node] as number);
  }
  let body = 0;
  for (let child = 0; child >= 0; ) {
    body = child;
    child = tree.firstChild(body);
    while (child >= 0 && (mass[child] as number) < (mass[0] as number) * BODY_SHARE)
      child = tree.nextSibling(child);
  }
  const mean = (mass[body] as number) / Math.max(1, shape.words[body] as number);
  if (mean < LEAST_MEAN) return;
  const bonus = (MOST_BONUS * (mean - LEAST_MEAN)) / (1 - LEAST_MEAN);
  const end = tree.ends[body] as number;
  const outside = shape.flagsAround[body] as number;
  for (let index = 0; index < blocks.length; index++) {
    const { container, first } = blocks[index] as Block;
    if (first <= body || first >= end) continue;
    if (((shape.flagsAround[container] as number) & ~outside & AWAY) !== 0) continue;
    sums[index] = (sums[index] as number) + bonus;
  }
}

/** Topics of buttons and links under a post, a product or an article: reply, share, add to cart, read more. */
const ACTIONS: readonly TextTopic[] = ['comments', 'share', 'more', 'cart', 'account'];
const ACTION_PLACES = ACTIONS.map((topic) => TOPIC_NAMES.indexOf(topic));
const ACTION_WORDS = 3;
const ACTION_PENALTY = 3;

/** Lowers links and buttons that only trigger an action. Changes `sums`. */
export function penalizeActions({ blocks, elements }: ContentEvidence, sums: Float64Array): void {
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    if (block.words === 0 || block.words > ACTION_WORDS) continue;
    const isButton = ((elements.flags[block.container] as number) & ELEMENT_FLAG.button) !== 0;
    if (!isButton && block.linkWords < block.words) continue;
    if (!isOnlyActions(block)) continue;
    sums[index] = (sums[index] as number) - ACTION_PENALTY;
  }
}

/** True when every word belongs to an action. A word may count for several, so this errs on the side of dropping. */
export function isOnlyActions({ topics, looked }: Block): boolean {
  let said = 0;
  for (const place of ACTION_PLACES) said += topics[place] as number;
  return looked > 0 && said >= looked;
}

const ARTICLE = PAGE_TYPES.indexOf('article');
const ARTICLE_CHANCE = 0.3;
const BYLINE_WORDS = 15;
const BYLINE_PENALTY = 3;

/** Lowers lines with author and date above an article: they are facts of their own, not text. Changes `sums`. */
export function penalizeBylines(
  { tree, blocks, elements }: ContentEvidence,
  types: ArrayLike<number>,
  sums: Float64Array,
): void {
  if ((types[ARTICLE] ?? 0) < ARTICLE_CHANCE) return;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    if (isProse(block)) {
      if ((sums[index] as number) > 0) return;
      continue;
    }
    const hints =
      (elements.hints[block.container] as number) |
      (elements.hints[tree.parents[block.container] as number] ?? 0);
    if (block.words <= BYLINE_WORDS && (hints & HINT_BITS.meta) !== 0)
      sums[index] = (sums[index] as number) - BYLINE_PENALTY;
  }
}

/** Longer texts may contain such phrases as well. */
const NOTE_WORDS = 70;
const NOTE_PENALTY = 5;

/** Phrases of page templates about the page itself. */
const NOTES: readonly RegExp[] = [
  // Phrases of forms that ask for feedback.
  /\b(?:did|was|is|were) (?:this|these) (?:page|article|information|answer|topic|content|section|post|doc(?:ument(?:ation)?)?|guide)s? (?:help(?:ful)?|useful|answer)/i,
  /^(?:was|is) this (?:helpful|useful)\b/i,
  /^(?:war (?:diese|dieser|dieses) .{0,20}hilfreich|cet(?:te)? .{0,20}vous a-t-(?:il|elle) (?:été utile|aidé)|¿?te (?:ha sido|fue|ha resultado) útil)/i,
  /\bthanks? (?:you )?for (?:letting us know|your feedback)\b|\btell us (?:what we did right|how we can)\b/i,
  // Last change, and edit links.
  /^(?:this (?:page|article|document) was |page )?last (?:updated|modified|edited|revised|reviewed)\b/i,
  /^(?:zuletzt (?:aktualisiert|geändert|bearbeitet)|dernière (?:mise à jour|modification)|última (?:actualización|modificación|atualização))\b/i,
  /^(?:edit|improve|view|suggest an? edits? (?:to|for)) (?:this|the) (?:page|article|source|doc)/i,
  /^help (?:us )?improve (?:this|these|our)\b|\bedit (?:this page )?on github\b|\bview (?:this )?(?:page|source) on github\b/i,
  // Phrases about the licence and the copyright.
  /\bexcept (?:as|where) otherwise (?:noted|stated)\b|\bcontent .{0,40}licensed under (?:the |a )?(?:creative|cc)\b/i,
  /\ball rights reserved\b|^(?:copyright|©|\(c\))\s/i,
  // Phrases that say that JavaScript is required.
  /^.{0,60}\b(?:please|need to|must|have to) (?:enable|activate|turn on) java ?script\b.{0,60}$/i,
  /^.{0,30}\bthis (?:page|site|website|app|application) (?:requires|needs) java ?script\b.{0,60}$/i,
  /^.{0,30}\bjava ?script (?:is|seems to be|appears to be) (?:disabled|required|not enabled|turned off)\b.{0,60}$/i,
  // Navigation within the page.
  /^(?:on this page|in this article|table of contents|page contents|in this section|auf dieser seite|sur cette page|en esta página)$/i,
  /^(?:skip to|jump to|back to top|go to top|return to top)\b.{0,30}$/i,
];

/** Lowers notes of the template about the page itself. Changes `sums`. */
export function penalizePageNotes({ blocks }: ContentEvidence, sums: Float64Array): void {
  for (let index = 0; index < blocks.length; index++) {
    if ((sums[index] as number) < -NOTE_PENALTY) continue;
    if (isPageNote(blocks[index] as Block)) sums[index] = (sums[index] as number) - NOTE_PENALTY;
  }
}

/** True for a note of the template about the page itself. */
export function isPageNote({ words, text }: Block): boolean {
  return words > 0 && words <= NOTE_WORDS && NOTES.some((note) => note.test(text));
}

const HEADING_WORDS = 15;
/** Below this a heading is not part of the content. */
const LEAST_HEADING_SUM = -3;

/** Keeps section headings above a kept block; the heading of the page has a rule of its own. Changes `isKept`. */
export function keepSectionHeadings(
  { tree, blocks }: ContentEvidence,
  sums: Float64Array,
  isKept: Uint8Array,
): void {
  for (let index = 0; index + 1 < blocks.length; index++) {
    if (isKept[index] === 1 || isKept[index + 1] === 0 || (sums[index] as number) <= LEAST_HEADING_SUM)
      continue;
    const block = blocks[index] as Block;
    if (headingLevel(tree, block) < 2 || block.words > HEADING_WORDS) continue;
    if (headingLevel(tree, blocks[index + 1] as Block) === 0) isKept[index] = 1;
  }
}
