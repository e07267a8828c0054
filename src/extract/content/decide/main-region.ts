import { TAG } from '../../html/names.ts';
import { type Block, headingLevel } from '../features/blocks.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence } from '../features/evidence.ts';
import { HINT_BITS } from '../features/word-lists.ts';
import { PAGE_TYPES } from '../model/model.ts';
import { isOnlyActions, isPageNote, repeatsOf } from './choose-blocks.ts';

/** Elements around the main region, and elements that are not shown. */
const FRAME = ELEMENT_FLAG.nav | ELEMENT_FLAG.header | ELEMENT_FLAG.footer | ELEMENT_FLAG.aside;
const NOT_SHOWN = ELEMENT_FLAG.dialog | ELEMENT_FLAG.unseen | ELEMENT_FLAG.noscript;
const CONTROLS = ELEMENT_FLAG.form | ELEMENT_FLAG.button | ELEMENT_FLAG.select;
const OTHER = HINT_BITS.share | HINT_BITS.promo | HINT_BITS.nav | HINT_BITS.related | HINT_BITS.comment;

/** The part of a page that is about the page, told by its elements alone. */
interface MainRegion {
  /** Places of its blocks, without menus, asides, repeats and notes of the template. */
  readonly places: readonly number[];
  /** Places without controls, and without elements whose names say that they are something else. */
  readonly plain: readonly number[];
}

/** The one `main` of the page; where it has none, or several, its body without menus, headers, footers and asides. */
function mainRegion(evidence: ContentEvidence, repeats: Uint8Array): MainRegion {
  const { tree, blocks, shape } = evidence;
  const main = onlyMain(evidence);
  const root = Math.max(0, main);
  const end = tree.ends[root] as number;
  const away = FRAME | NOT_SHOWN;
  const named = main < 0 ? HINT_BITS.nav : 0;
  const places: number[] = [];
  const plain: number[] = [];
  for (let place = 0; place < blocks.length; place++) {
    const block = blocks[place] as Block;
    if (block.first <= root || block.first >= end || repeats[place] === 1) continue;
    const flags = (shape.flagsAround[block.container] as number) & ~(shape.flagsAround[root] as number);
    const hints = (shape.hintsAround[block.container] as number) & ~(shape.hintsAround[root] as number);
    if ((flags & away) !== 0 || (hints & named) !== 0 || isPageNote(block)) continue;
    places.push(place);
    const isAction = block.linkWords > 0 && isOnlyActions(block);
    if ((flags & CONTROLS) === 0 && (hints & OTHER) === 0 && !isAction) plain.push(place);
  }
  return { places, plain };
}

/** Returns -1 when the page has no `main` that is shown, or several. */
function onlyMain({ tree, elements, shape }: ContentEvidence): number {
  let main = -1;
  for (let node = 1; node < tree.count; node++) {
    if (((elements.flags[node] as number) & ELEMENT_FLAG.main) === 0) continue;
    if (((shape.flagsAround[node] as number) & ELEMENT_FLAG.unseen) !== 0) continue;
    const outside = shape.flagsAround[tree.parents[node] as number] as number;
    if ((outside & ELEMENT_FLAG.main) !== 0) continue;
    if (main >= 0) return -1;
    main = node;
  }
  return main;
}

/**
 * Returns by block 1 for the main region: the content of a page of which no block was chosen, because it has names alone
 * or words that the model has never seen. None is set when the region shows no text.
 */
export function keepMainRegion(evidence: ContentEvidence): Uint8Array {
  const { blocks } = evidence;
  const { places, plain } = mainRegion(evidence, repeatsOf(blocks));
  const isKept = new Uint8Array(blocks.length);
  const hasWords = plain.some((place) => (blocks[place] as Block).words > 0);
  for (const place of hasWords ? plain : places) isKept[place] = 1;
  return isKept;
}

const LISTS = [PAGE_TYPES.indexOf('listing'), PAGE_TYPES.indexOf('collection')];
const LIST_CHANCE = 0.5;
/** In a list of links this number and share of the rows hold a link. */
const LEAST_LINKED = 4;
const LINKED_SHARE = 0.8;
/** A list consists of links, and a region of lists, by this share of the words. */
const LIST_SHARE = 0.5;
/** A run is chosen when this share of its rows has a chosen text. */
const CHOSEN_SHARE = 0.5;
/** On pages of other types lists count as lost when at most this share of the region was chosen, and so many words. */
const SMALL_SHARE = 0.5;
const SMALL_WORDS = 60;

/** A row of a run: siblings of one style. */
interface Row {
  isLinked: boolean;
  isChosen: boolean;
}

interface Run {
  /** Equal for runs whose rows, and the two elements around them, have the same styles. */
  readonly look: number;
  readonly places: number[];
  readonly rows: Map<number, Row>;
  words: number;
  linkWords: number;
}

/**
 * Keeps the lists of links that make up the main region when they were dropped as if they were menus: on pages that look
 * like a listing, and on any page of which a sentence or two was chosen and no more. Where another run of siblings was
 * chosen, the model knew what the page lists, and only runs of single links that look like it are made whole.
 * Changes `isKept`.
 */
export function keepLostLists(
  evidence: ContentEvidence,
  types: ArrayLike<number>,
  repeats: Uint8Array,
  isKept: Uint8Array,
): void {
  const { blocks } = evidence;
  const isListing = LISTS.reduce((sum, type) => sum + (types[type] ?? 0), 0) >= LIST_CHANCE;
  const chosenWords = blocks.reduce((sum, block, place) => sum + (isKept[place] === 1 ? block.words : 0), 0);
  if (!isListing && chosenWords > SMALL_WORDS) return;
  const { plain } = mainRegion(evidence, repeats);
  const words = plain.reduce((sum, place) => sum + (blocks[place] as Block).words, 0);
  if (!isListing && chosenWords > words * SMALL_SHARE) return;
  const runs = runsOf(evidence, plain, isKept);
  const chosen = runs.filter(isChosen);
  const looks = new Set(chosen.map(({ look }) => look));
  const lists =
    chosen.length > 0 ? runs.filter((run) => looks.has(run.look) && isBare(run)) : runs.filter(isLinkList);
  const listed = lists.reduce((sum, list) => sum + list.words, 0);
  if (listed < words * LIST_SHARE) return;
  for (const { places } of lists) for (const place of places) isKept[place] = 1;
}

function isChosen({ rows }: Run): boolean {
  const chosen = [...rows.values()].filter((row) => row.isChosen).length;
  return chosen > 0 && chosen >= rows.size * CHOSEN_SHARE;
}

function isLinkList({ rows, words, linkWords }: Run): boolean {
  const linked = [...rows.values()].filter((row) => row.isLinked).length;
  const isLinked = linked >= LEAST_LINKED && linked >= rows.size * LINKED_SHARE;
  return isLinked && linkWords >= words * LIST_SHARE;
}

/** True for rows of one link each. */
function isBare({ places, rows, words, linkWords }: Run): boolean {
  return places.length === rows.size && linkWords === words;
}

/** The blocks of a region by the innermost row that they stand in. Paragraphs without a link are running text. */
function runsOf(
  { tree, blocks, elements, shape }: ContentEvidence,
  places: readonly number[],
  isKept: Uint8Array,
): Run[] {
  const runs = new Map<number, Run>();
  const lookOf = (style: number, parent: number): number => {
    const outer = tree.parents[parent] ?? -1;
    const around =
      (Math.imul(elements.styleHashes[outer] ?? 0, 31) + (elements.styleHashes[parent] as number)) | 0;
    return (Math.imul(around, 31) + style) | 0;
  };
  for (const place of places) {
    const block = blocks[place] as Block;
    const node = shape.innerUnit[block.container] as number;
    if (node === 0 || headingLevel(tree, block) === 1) continue;
    if (tree.tags[node] === TAG.p && block.linkWords === 0) continue;
    const parent = tree.parents[node] as number;
    const style = elements.styleHashes[node] as number;
    const key = parent * 4_294_967_296 + (style >>> 0);
    const run: Run = runs.get(key) ?? {
      look: lookOf(style, parent),
      places: [],
      rows: new Map(),
      words: 0,
      linkWords: 0,
    };
    runs.set(key, run);
    run.places.push(place);
    run.words += block.words;
    run.linkWords += block.linkWords;
    const row: Row = run.rows.get(node) ?? { isLinked: false, isChosen: false };
    run.rows.set(node, row);
    if (block.linkWords > 0) row.isLinked = true;
    if (isKept[place] === 1) row.isChosen = true;
  }
  return [...runs.values()];
}
