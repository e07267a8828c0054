import { hashName } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import type { Block } from '../features/blocks.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import { isOnlyActions, REPEATED_SHARE } from './choose-blocks.ts';
import { type PlacedText, rolesOf, type Structure } from './structures.ts';

const CLASS = hashName('class');
const ACTION_WORDS = 3;
const OTHER = ELEMENT_FLAG.nav | ELEMENT_FLAG.button | ELEMENT_FLAG.select | ELEMENT_FLAG.dialog;

interface GroupedText extends PlacedText {
  words: number;
  /** Words of blocks that repeat an earlier text. */
  repeated: number;
}

/** The texts of a page: blocks, and plain structures as one text each. */
export interface PageTexts {
  /** For each block, the number of its text. */
  readonly textOf: Int32Array;
  readonly texts: readonly GroupedText[];
}

/** Puts the blocks of each plain structure together; any other block is a text by itself. */
export function groupTexts(
  evidence: ContentEvidence,
  structures: readonly Structure[],
  repeats: Uint8Array,
): PageTexts {
  const { blocks } = evidence;
  const placeOf = plainPlaces(evidence, structures);
  const textOf = new Int32Array(blocks.length);
  const texts: GroupedText[] = [];
  const textOfStructure = new Map<number, number>();
  for (let index = 0; index < blocks.length; index++) {
    const { container, words } = blocks[index] as Block;
    const place = placeOf[container] as number;
    const structure = structures[place - 1];
    const isApart = structure === undefined || isOther(evidence, structure, index);
    const known = isApart ? undefined : textOfStructure.get(place);
    const text = known ?? texts.length;
    if (known === undefined) {
      texts.push({
        node: isApart ? container : structure.root,
        isStructure: !isApart,
        words: 0,
        repeated: 0,
      });
      if (!isApart) textOfStructure.set(place, text);
    }
    textOf[index] = text;
    const entry = texts[text] as GroupedText;
    entry.words += words;
    if (repeats[index] === 1) entry.repeated += words;
  }
  return { textOf, texts };
}

/** By node: 1 more than the place of the outermost plain structure around it; 0 without one. */
function plainPlaces({ tree }: ContentEvidence, structures: readonly Structure[]): Int32Array {
  const own = new Int32Array(tree.count);
  for (const [place, { root, isPlain }] of structures.entries()) if (isPlain) own[root] = place + 1;
  const outermost = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const outer = outermost[tree.parents[node] as number] as number;
    outermost[node] = outer !== 0 ? outer : (own[node] as number);
  }
  return outermost;
}

/**
 * True for a part of a structure that is clearly something else: it is not shown, or it is a button, a menu or, as the first
 * or last item, a link that only does something ("load more").
 */
export function isOther(
  { blocks, shape }: ContentEvidence,
  { kind, root, parts }: Structure,
  index: number,
): boolean {
  const block = blocks[index] as Block;
  const inside = (shape.flagsAround[block.container] as number) & ~(shape.flagsAround[root] as number);
  if ((inside & ELEMENT_FLAG.unseen) !== 0) return true;
  if (kind === 'table') return false;
  if ((inside & OTHER) !== 0) return true;
  const isAtEdge = block.container === parts[0] || block.first > (parts.at(-1) as number);
  return isAtEdge && block.words <= ACTION_WORDS && block.linkWords >= block.words && isOnlyActions(block);
}

/** Texts at one place are completed when this share of them is kept. */
const ROLE_SHARE = 0.5;

/**
 * Siblings of equal shape, such as cards and rows: a text that most of them keep is kept of all. Repeats are left out, because
 * carousels have clones of their slides. Changes `isKept`.
 */
export function completeRows(
  evidence: ContentEvidence,
  { textOf, texts }: PageTexts,
  isKept: Uint8Array,
): void {
  const roles = rolesOf(evidence, texts);
  const keptTexts = new Uint8Array(texts.length);
  for (let index = 0; index < textOf.length; index++)
    if (isKept[index] === 1) keptTexts[textOf[index] as number] = 1;
  const isRepeat = ({ words, repeated }: GroupedText): boolean => repeated > words * REPEATED_SHARE;
  const counts = new Map<number, { all: number; kept: number }>();
  for (const [text, entry] of texts.entries()) {
    const role = roles[text] as number;
    if (role < 0 || isRepeat(entry)) continue;
    const count = counts.get(role) ?? { all: 0, kept: 0 };
    count.all++;
    count.kept += keptTexts[text] as number;
    counts.set(role, count);
  }
  for (let index = 0; index < textOf.length; index++) {
    const text = textOf[index] as number;
    const count = counts.get(roles[text] as number);
    if (count !== undefined && count.kept >= count.all * ROLE_SHARE && !isRepeat(texts[text] as GroupedText))
      isKept[index] = 1;
  }
}

/** A structure loses the few parts that were chosen only when they are at most this share of the content. */
const DROPPED_SHARE = 0.3;
const LEAST_PARTS = 3;

/**
 * Lists and definition lists whose parts are texts of their own: when most parts are kept, or much of the content is in
 * them, each of the others is kept as well, in the texts that are kept of its siblings; else none is. Parts of different
 * styles are left as they are.
 * Changes `isKept`.
 */
export function completeStructures(
  evidence: ContentEvidence,
  structures: readonly Structure[],
  repeats: Uint8Array,
  isKept: Uint8Array,
): void {
  const { blocks, tree } = evidence;
  const wordsIn = (from: number, to: number): number => {
    let words = 0;
    for (let index = from; index < to; index++)
      if (isKept[index] === 1) words += (blocks[index] as Block).words;
    return words;
  };
  const content = wordsIn(0, blocks.length);
  // Inner structures first: what they keep decides about the parts of the outer one.
  for (const structure of structures.toReversed()) {
    const { kind, root, parts, isPlain } = structure;
    if (isPlain || kind === 'table' || parts.length < LEAST_PARTS) continue;
    const { from, to } = blocksWithin(evidence, root);
    const firstKept = isKept.indexOf(1, from);
    if (firstKept < 0 || firstKept >= to) continue;
    const { whole, missing } = dealParts(evidence, structure, repeats, isKept);
    if (whole.length === 0 || !areAlike(tree, parts)) continue;
    const isStray = whole.length < missing.length && wordsIn(from, to) <= content * DROPPED_SHARE;
    if (isStray) isKept.fill(0, from, to);
    else completeParts(evidence, [...whole, ...missing], isKept);
  }
}

interface Part {
  readonly node: number;
  /** Its blocks, without those that are clearly something else or repeats. */
  readonly texts: readonly number[];
}

/** The parts with a kept block, and those without one that have a text. */
function dealParts(
  evidence: ContentEvidence,
  structure: Structure,
  repeats: Uint8Array,
  isKept: Uint8Array,
): { whole: Part[]; missing: Part[] } {
  const whole: Part[] = [];
  const missing: Part[] = [];
  for (const node of structure.parts) {
    const { from, to } = blocksWithin(evidence, node);
    const texts: number[] = [];
    let hasKept = false;
    for (let index = from; index < to; index++) {
      if (isKept[index] === 1) hasKept = true;
      if (isKept[index] === 1 || (repeats[index] === 0 && !isOther(evidence, structure, index)))
        texts.push(index);
    }
    if (hasKept) whole.push({ node, texts });
    else if (texts.length > 0) missing.push({ node, texts });
  }
  return { whole, missing };
}

/** A text is usual when this share of the parts that have a text at its place keep it. */
const USUAL_SHARE = 0.5;

/**
 * Keeps the usual texts of all parts. Of a part without any it keeps those that are at a place where another part has a kept
 * text, else all.
 */
function completeParts(
  { tree, blocks, elements }: ContentEvidence,
  parts: readonly Part[],
  isKept: Uint8Array,
): void {
  const pathOf = (index: number, part: number): number => {
    let hash = 0;
    for (let node = (blocks[index] as Block).container; node > part; node = tree.parents[node] as number)
      hash = (Math.imul(hash, 1_000_003) + (elements.styleHashes[node] as number)) | 0;
    return hash;
  };
  const places = new Map<number, { texts: number; kept: number }>();
  const paths = parts.map(({ node, texts }) => texts.map((index) => pathOf(index, node)));
  for (const [part, { texts }] of parts.entries()) {
    for (const [place, index] of texts.entries()) {
      const path = paths[part]?.[place] as number;
      const entry = places.get(path) ?? { texts: 0, kept: 0 };
      entry.texts++;
      entry.kept += isKept[index] as number;
      places.set(path, entry);
    }
  }
  for (const [part, { texts }] of parts.entries()) {
    const shareOf = (place: number): number => {
      const entry = places.get(paths[part]?.[place] as number);
      return entry === undefined ? 0 : entry.kept / entry.texts;
    };
    for (const [place, index] of texts.entries()) if (shareOf(place) >= USUAL_SHARE) isKept[index] = 1;
    if (texts.some((index) => isKept[index] === 1)) continue;
    const known = texts.filter((_, place) => shareOf(place) > 0);
    for (const index of known.length > 0 ? known : texts) isKept[index] = 1;
  }
}

/**
 * Keeps all of a plain structure of which a rule has kept a part. What is clearly something else goes with a structure that is
 * dropped. Changes `isKept`.
 */
export function fillStructures(
  evidence: ContentEvidence,
  structures: readonly Structure[],
  isKept: Uint8Array,
): void {
  let end = 0;
  for (const structure of structures) {
    if (!structure.isPlain || structure.root < end) continue;
    end = evidence.tree.ends[structure.root] as number;
    const { from, to } = blocksWithin(evidence, structure.root);
    const own: number[] = [];
    for (let index = from; index < to; index++) if (!isOther(evidence, structure, index)) own.push(index);
    if (own.length === 0) continue;
    if (own.some((index) => isKept[index] === 1)) for (const index of own) isKept[index] = 1;
    else isKept.fill(0, from, to);
  }
}

interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/** The blocks of an element follow each other. */
export function blocksWithin({ tree, blocks }: ContentEvidence, node: number): BlockRange {
  return { from: firstAfter(blocks, node), to: firstAfter(blocks, (tree.ends[node] as number) - 1) };
}

/** The first block whose text begins after a node. */
function firstAfter(blocks: readonly Block[], node: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as Block).first > node) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** True when half of the elements or more have the same tag and first class; later classes are states and counts. */
function areAlike(tree: PageTree, nodes: readonly number[]): boolean {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    const [first = ''] = (tree.attribute(node, CLASS) ?? '').trimStart().split(/\s/, 1);
    const key = `${tree.tags[node]} ${first.replace(/\d+/g, '')}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(...counts.values()) * 2 >= nodes.length;
}
