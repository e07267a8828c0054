// Structures of a page of which a part is missing in its content.
import { repeatsOf } from '../../src/extract/content/decide/choose-blocks.ts';
import { decideBlocks } from '../../src/extract/content/decide/decide-blocks.ts';
import { keepNodes } from '../../src/extract/content/extract-content.ts';
import { ELEMENT_FLAG } from '../../src/extract/content/features/element-flags.ts';
import { gatherEvidence } from '../../src/extract/content/features/evidence.ts';
import type { ContentModel } from '../../src/extract/content/model/model.ts';
import { TAG } from '../../src/extract/html/names.ts';
import type { PageTree } from '../../src/extract/tree/page-tree.ts';
import { quantile } from '../sample.ts';

export const STRUCTURES = ['tables', 'lists', 'definition lists'] as const;
export type StructureName = (typeof STRUCTURES)[number];
/** By kind: structures with words in the content, and those of them that are not whole. */
export type TornCounts = Readonly<Record<StructureName, { kept: number; torn: number }>>;

const LEAST_ROWS = 3;
const LEAST_COLUMNS = 2;
const LEAST_ITEMS = 4;
const LEAST_TERMS = 2;
/**
 * A part is missing when the content has less than this of its words, beside what it has of the median part: of each card
 * it may have the name and not the buttons.
 */
const PART_SHARE = 0.5;

interface Found {
  readonly name: StructureName;
  readonly root: number;
  readonly parts: number[];
  rows: number;
  columns: number;
  isLayout: boolean;
}

export const noCounts = (): TornCounts => ({
  tables: { kept: 0, torn: 0 },
  lists: { kept: 0, torn: 0 },
  'definition lists': { kept: 0, torn: 0 },
});

export function tornPercent({ kept, torn }: { readonly kept: number; readonly torn: number }): number {
  return (100 * torn) / Math.max(1, kept);
}

export function tornLines(counts: TornCounts): string {
  return STRUCTURES.map((name) => {
    const { kept, torn } = counts[name];
    return `${name} kept in part: ${torn} of ${kept} (${tornPercent(counts[name]).toFixed(1)} %)\n`;
  }).join('');
}

/**
 * Counts the structures of a page: tables of three rows and two columns or more without a table inside, lists of four
 * items or more, definition lists. Texts that are not shown, and repeats of a text that is kept, are left out.
 */
export function addTorn(counts: TornCounts, tree: PageTree, url: string, model: ContentModel): void {
  const page = gatherEvidence(tree, url);
  const { isKept } = decideBlocks(page.evidence, model);
  for (const { name, missing } of keptStructures(page, isKept)) {
    counts[name].kept++;
    if (missing.length > 0) counts[name].torn++;
  }
}

interface KeptStructure {
  readonly name: StructureName;
  readonly root: number;
  /** Parts that the content lacks. */
  readonly missing: readonly number[];
}

/** The structures with words in the content. */
export function keptStructures(
  { evidence, blocks }: ReturnType<typeof gatherEvidence>,
  isKept: Uint8Array,
): KeptStructure[] {
  const { tree, elements, shape } = evidence;
  const kept = keepNodes(tree, blocks, isKept, elements, shape);
  const repeats = repeatsOf(blocks.list);
  const texts = new Set<string>();
  for (const { first, text } of blocks.list) if (kept[first] === 1) texts.add(text);
  const words = new Float64Array(tree.count);
  const keptWords = new Float64Array(tree.count);
  /** Words that the content has elsewhere. */
  const repeatedWords = new Float64Array(tree.count);
  for (const [index, { container, first, words: own, text }] of blocks.list.entries()) {
    if (((shape.flagsAround[container] as number) & ELEMENT_FLAG.unseen) !== 0 && kept[first] !== 1) continue;
    words[container] = (words[container] as number) + own;
    if (kept[first] === 1) keptWords[container] = (keptWords[container] as number) + own;
    else if (repeats[index] === 1 && texts.has(text))
      repeatedWords[container] = (repeatedWords[container] as number) + own;
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const parent = tree.parents[node] as number;
    words[parent] = (words[parent] as number) + (words[node] as number);
    keptWords[parent] = (keptWords[parent] as number) + (keptWords[node] as number);
    repeatedWords[parent] = (repeatedWords[parent] as number) + (repeatedWords[node] as number);
  }
  return structuresOf(tree, words).flatMap(({ name, root, parts }) => {
    if (parts.every((part) => keptWords[part] === 0)) return [];
    const shares = parts.map(
      (part) => ((keptWords[part] as number) + (repeatedWords[part] as number)) / (words[part] as number),
    );
    const inContent = shares.filter((share) => share > 0);
    const least = quantile(inContent, 0.5) * PART_SHARE;
    return [{ name, root, missing: parts.filter((_, place) => (shares[place] as number) < least) }];
  });
}

function structuresOf(tree: PageTree, words: Float64Array): Found[] {
  const found: Found[] = [];
  const placeOf = new Int32Array(tree.count);
  const cells = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const place = placeOf[tree.parents[node] as number] as number;
    placeOf[node] = place;
    const outer = found[place - 1];
    const tag = tree.tags[node] as number;
    const name = NAMES.get(tag);
    if (name !== undefined) {
      if (name === 'tables' && outer?.name === 'tables') outer.isLayout = true;
      const isLayout = tree.attributeNamed(node, 'role') === 'presentation';
      found.push({ name, root: node, parts: [], rows: 0, columns: 0, isLayout });
      placeOf[node] = found.length;
    } else if (outer !== undefined && PARTS.get(tag) === outer.name && (words[node] as number) > 0) {
      outer.parts.push(node);
      if (outer.name !== 'tables') continue;
      const row = tree.parents[node] as number;
      cells[row] = (cells[row] as number) + 1;
      if (cells[row] === 1) outer.rows++;
      outer.columns = Math.max(outer.columns, cells[row] as number);
    }
  }
  return found.filter(({ name, parts, rows, columns, isLayout }) => {
    if (name === 'tables') return !isLayout && rows >= LEAST_ROWS && columns >= LEAST_COLUMNS;
    return parts.length >= (name === 'lists' ? LEAST_ITEMS : LEAST_TERMS);
  });
}

const NAMES = new Map<number, StructureName>([
  [TAG.table, 'tables'],
  [TAG.ul, 'lists'],
  [TAG.ol, 'lists'],
  [TAG.dl, 'definition lists'],
]);
const PARTS = new Map<number, StructureName>([
  [TAG.td, 'tables'],
  [TAG.th, 'tables'],
  [TAG.li, 'lists'],
  [TAG.dt, 'definition lists'],
  [TAG.dd, 'definition lists'],
]);
