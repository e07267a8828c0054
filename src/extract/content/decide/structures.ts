import { hashName, TAG, type TagName } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence, PageShape } from '../features/evidence.ts';

/** A table, a list or a definition list with the elements that it consists of. */
export interface Structure {
  readonly kind: 'table' | 'list' | 'terms';
  readonly root: number;
  /** Cells and captions, items, or terms with their definitions: those that are not empty, in the order of the page. */
  readonly parts: readonly number[];
  /** True when its parts are short texts, so that the structure is one text; false when each part is a text of its own. */
  readonly isPlain: boolean;
}

/** Blocks per part up to which a structure is plain: a name and a value, a title and a line about it. */
const PLAIN_BLOCKS = 2;
/** Definitions may have several paragraphs. */
const TERM_BLOCKS = 4;
/** Cells of data hold a list or a few lines now and then. */
const CELL_BLOCKS = 2.5;
const HEADED_CELL_BLOCKS = 6;
/** A cell with this share of a table and this many words is a column of a layout. */
const LAYOUT_SHARE = 0.6;
const LAYOUT_WORDS = 150;

const ROLE = hashName('role');
const LAYOUT_ROLE = /^\s*(?:presentation|none)\s*$/i;

interface Found {
  /** The place of the structure around it, -1 without one. */
  readonly outer: number;
  readonly kind: Structure['kind'];
  readonly root: number;
  readonly parts: number[];
  rows: number;
  columns: number;
  headers: number;
  /** The page says that the table is a layout, or another table is inside it. */
  isLayout: boolean;
  /** The table holds what pages consist of: the main heading, menus, articles. */
  hasSections: boolean;
}

/** Elements that hold cards and rows; a paragraph is a text by itself, whatever is beside it. */
const CARDS = new Uint8Array(256);

const LEAST_CARDS = 3;
/** Texts at the same place in this share of the cards belong to their shape … */
const REGULAR_CARDS = 0.5;
/** … and cards are of equal shape when such texts have this share of their words. */
const REGULAR_WORDS = 0.6;

/**
 * Most texts and words per card: posts, reviews and articles in a row are texts of their own, of which some may be content
 * and others not.
 */
const ROLE_LIMITS = { texts: 1.2, words: 30, structureWords: 120 } as const;

/** All structures with at least two parts, outer ones before those inside them. Linear in the page. */
export function findStructures({ tree, elements, shape }: ContentEvidence): Structure[] {
  const { tags, parents, count } = tree;
  /** By node: 1 more than the place of the innermost structure that it is or is part of; 0 without one. */
  const placeOf = new Int32Array(count);
  const rowCells = new Int32Array(count);
  const found: Found[] = [];
  for (let node = 1; node < count; node++) {
    const place = placeOf[parents[node] as number] as number;
    placeOf[node] = place;
    if (tree.isText(node)) continue;
    const outer = found[place - 1];
    const kind = kindOf(tags[node] as number, elements.flags[node] as number);
    if (kind !== null) {
      if (kind === 'table' && outer?.kind === 'table') outer.isLayout = true;
      const isLayout = kind === 'table' && LAYOUT_ROLE.test(tree.attribute(node, ROLE) ?? '');
      found.push({
        outer: place - 1,
        kind,
        root: node,
        parts: [],
        rows: 0,
        columns: 0,
        headers: 0,
        isLayout,
        hasSections: false,
      });
      placeOf[node] = found.length;
    } else if (outer !== undefined && (shape.blocks[node] as number) > 0) {
      addPart(outer, tree, node, elements.flags[node] as number, rowCells);
    }
  }
  // Inner structures come later: their blocks are theirs, and one that is not plain makes the outer one not plain.
  const blocks = Int32Array.from(found, ({ root }) => shape.blocks[root] as number);
  const plain = new Uint8Array(found.length);
  const isApart = new Uint8Array(found.length);
  for (let place = found.length - 1; place >= 0; place--) {
    const entry = found[place] as Found;
    const { kind, outer, root, parts } = entry;
    if (kind === 'table') plain[place] = isDataTable(entry, shape) ? 1 : 0;
    else if (kind === 'terms')
      plain[place] = (shape.blocks[root] as number) <= parts.length * TERM_BLOCKS ? 1 : 0;
    else
      plain[place] = isApart[place] === 0 && (blocks[place] as number) <= parts.length * PLAIN_BLOCKS ? 1 : 0;
    if (outer < 0) continue;
    blocks[outer] = (blocks[outer] as number) - (shape.blocks[root] as number);
    if (kind !== found[outer]?.kind || plain[place] === 0) isApart[outer] = 1;
  }
  return found
    .map(({ kind, root, parts }, place) => ({ kind, root, parts, isPlain: plain[place] === 1 }))
    .filter(({ parts }) => parts.length >= 2);
}

function kindOf(tag: number, flags: number): Structure['kind'] | null {
  if (tag === TAG.table) return 'table';
  if (tag === TAG.dl) return 'terms';
  return tag === TAG.menu || (flags & ELEMENT_FLAG.list) !== 0 ? 'list' : null;
}

const LAYOUT_FLAGS = ELEMENT_FLAG.nav | ELEMENT_FLAG.main | ELEMENT_FLAG.article | ELEMENT_FLAG.aside;

function addPart(outer: Found, tree: PageTree, node: number, flags: number, rowCells: Int32Array): void {
  const tag = tree.tags[node] as number;
  if (outer.kind === 'list') {
    if ((flags & ELEMENT_FLAG.item) !== 0) outer.parts.push(node);
  } else if (outer.kind === 'terms') {
    if (tag === TAG.dt || tag === TAG.dd) outer.parts.push(node);
  } else if (tag === TAG.td || tag === TAG.th) {
    const row = tree.parents[node] as number;
    const cells = (rowCells[row] as number) + 1;
    rowCells[row] = cells;
    if (cells === 1) outer.rows++;
    if (tag === TAG.th) outer.headers++;
    outer.columns = Math.max(outer.columns, cells);
    outer.parts.push(node);
  } else if (tag === TAG.caption) outer.parts.push(node);
  else if (tag === TAG.h1 || tag === TAG.h2 || (flags & LAYOUT_FLAGS) !== 0) outer.hasSections = true;
}

function isDataTable(
  { root, parts, rows, columns, headers, isLayout, hasSections }: Found,
  shape: PageShape,
): boolean {
  if (isLayout || rows < 2 || columns < 2 || (hasSections && headers === 0)) return false;
  const most = headers > 0 ? HEADED_CELL_BLOCKS : CELL_BLOCKS;
  if ((shape.blocks[root] as number) > parts.length * most) return false;
  const words = shape.words[root] as number;
  return parts.every((part) => {
    const own = shape.words[part] as number;
    return own < LAYOUT_WORDS || own < words * LAYOUT_SHARE;
  });
}

/** A text at its place: a block, or a structure that is one text. */
export interface PlacedText {
  /** The element that holds it. */
  readonly node: number;
  readonly words: number;
  readonly isStructure: boolean;
}

for (const name of ['div', 'li', 'tr', 'article', 'section', 'details', 'tbody'] satisfies TagName[])
  CARDS[TAG[name]] = 1;
CARDS[0] = 1;

interface Role {
  readonly run: number;
  /** Cards with a text at this place. */
  cards: number;
  lastCard: number;
  texts: number;
  words: number;
  readonly mostWords: number;
}

/**
 * By text: a number that texts share which stand at the same place in siblings of equal shape (the prices of cards, the
 * bullets of plans); -1 for all others. Linear in the page.
 */
export function rolesOf(
  { tree, elements, shape }: ContentEvidence,
  texts: readonly PlacedText[],
): Int32Array {
  const { parents, tags, count } = tree;
  const cardOf = new Int32Array(count);
  const paths = new Int32Array(count);
  for (let node = 1; node < count; node++) {
    if (tree.isText(node)) continue;
    const parent = parents[node] as number;
    const style = elements.styleHashes[node] as number;
    const isItem = ((elements.flags[node] as number) & ELEMENT_FLAG.item) !== 0;
    // A generic element without a class has the style of its tag alone, which says nothing.
    const isCard =
      CARDS[tags[node] as number] === 1 &&
      (shape.alike[node] as number) >= LEAST_CARDS &&
      (isItem || tags[node] === TAG.tr || style !== tags[node]);
    cardOf[node] = isCard ? node : (cardOf[parent] as number);
    paths[node] = isCard ? 0 : (Math.imul(paths[parent] as number, 1_000_003) + style) | 0;
  }
  const runs = new Map<number, { cards: number; lastCard: number; words: number; regular: number }>();
  const roles = new Map<string, Role>();
  const keys = texts.map(({ node, words, isStructure }) => {
    const mostWords = isStructure ? ROLE_LIMITS.structureWords : ROLE_LIMITS.words;
    const card = cardOf[node] as number;
    if (card === 0) return null;
    const run = (parents[card] as number) * 4_294_967_296 + ((elements.styleHashes[card] as number) >>> 0);
    const all = runs.get(run) ?? { cards: 0, lastCard: 0, words: 0, regular: 0 };
    if (all.lastCard !== card) all.cards++;
    all.lastCard = card;
    all.words += words;
    runs.set(run, all);
    const key = `${run} ${paths[node]}`;
    const role = roles.get(key) ?? { run, cards: 0, lastCard: 0, texts: 0, words: 0, mostWords };
    role.texts++;
    if (role.lastCard !== card) role.cards++;
    role.lastCard = card;
    role.words += words;
    roles.set(key, role);
    return key;
  });
  const isRegular = ({ run, cards, texts: count, words, mostWords }: Role): boolean =>
    cards >= Math.max(2, (runs.get(run)?.cards ?? 0) * REGULAR_CARDS) &&
    count <= cards * ROLE_LIMITS.texts &&
    words <= cards * mostWords;
  for (const role of roles.values()) {
    const run = runs.get(role.run);
    if (run !== undefined && isRegular(role)) run.regular += role.words;
  }
  const numbers = new Map<string, number>();
  return Int32Array.from(keys, (key) => {
    const role = key === null ? undefined : roles.get(key);
    const run = role === undefined ? undefined : runs.get(role.run);
    if (key === null || role === undefined || run === undefined || !isRegular(role)) return -1;
    if (run.cards < LEAST_CARDS || run.regular < run.words * REGULAR_WORDS) return -1;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}
