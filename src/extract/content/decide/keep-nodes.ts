import { hashName } from '../../html/name-table.ts';
import { TAG } from '../../html/tag.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import type { Block, Blocks } from '../features/blocks.ts';
import type { ElementFlags } from '../features/element-flags.ts';
import { HINT_BITS } from '../features/hint-words.ts';
import type { PageShape } from '../features/page-shape.ts';

/** An image belongs to the content when most of the words around it do. */
const IMAGE_SHARE = 0.6;
const IMAGE_WORDS = 15;
const TINY_PIXELS = 40;
const WIDTH = hashName('width');
const HEIGHT = hashName('height');
const NOT_CONTENT = HINT_BITS.share | HINT_BITS.promo | HINT_BITS.user | HINT_BITS.nav | HINT_BITS.related;

/** The nodes to keep for the kept blocks: their texts, the elements around them, images and rules between them. */
export function keepNodes(
  tree: PageTree,
  { list, ofNode }: Blocks,
  isKept: Uint8Array,
  { hints }: ElementFlags,
  shape: PageShape,
): Uint8Array {
  const kept = new Uint8Array(tree.count);
  const keptWords = new Float64Array(tree.count);
  for (let i = 0; i < list.length; i++) {
    const { container, words } = list[i] as Block;
    if (isKept[i] === 1) keptWords[container] = (keptWords[container] as number) + words;
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const parent = tree.parents[node] as number;
    keptWords[parent] = (keptWords[parent] as number) + (keptWords[node] as number);
  }
  for (let node = 1; node < tree.count; node++) {
    const block = ofNode[node] as number;
    if (block >= 0 && isKept[block] === 1) kept[node] = 1;
    else if (isInline(tree, node))
      kept[node] = isAmongKept(tree, node, keptWords, shape.words, hints) ? 1 : 0;
  }
  keepAround(tree, kept);
  keepSmall(tree, kept);
  return kept;
}

function isInline(tree: PageTree, node: number): boolean {
  const tag = tree.tags[node] as number;
  return tag === TAG.img || tag === TAG.image;
}

function isAmongKept(
  tree: PageTree,
  node: number,
  keptWords: Float64Array,
  words: Float64Array,
  hints: Int32Array,
): boolean {
  if (isTiny(tree, node)) return false;
  if (((hints[node] as number) & NOT_CONTENT) !== 0) return false;
  let around = tree.parents[node] as number;
  while (around > 0 && (words[around] as number) < IMAGE_WORDS) around = tree.parents[around] as number;
  return (keptWords[around] as number) >= Math.max(1, (words[around] as number) * IMAGE_SHARE);
}

/** True for icons, avatars and tracking pixels. */
function isTiny(tree: PageTree, node: number): boolean {
  for (const name of [WIDTH, HEIGHT]) {
    const size = Number.parseInt(tree.attribute(node, name) ?? '', 10);
    if (size <= TINY_PIXELS) return true;
  }
  return false;
}

/** Keeps all ancestors of kept nodes. */
function keepAround(tree: PageTree, kept: Uint8Array): void {
  for (let node = tree.count - 1; node > 0; node--) {
    if (kept[node] === 1) kept[tree.parents[node] as number] = 1;
  }
}

/** Keeps line breaks, rules, checkboxes and spaces next to kept nodes. */
function keepSmall(tree: PageTree, kept: Uint8Array): void {
  for (let node = 1; node < tree.count; node++) {
    if (kept[node] === 1 || kept[tree.parents[node] as number] !== 1) continue;
    const tag = tree.tags[node] as number;
    if (tag === TAG.br || tag === TAG.hr || tag === TAG.input) kept[node] = 1;
    else if ((tag === TAG.td || tag === TAG.th) && kept[tree.parents[node] as number] === 1) kept[node] = 1;
    else if (tree.isText(node) && tree.text(node).trim() === '') kept[node] = 1;
  }
}
