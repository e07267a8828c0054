import { LIMITS } from '../limits.ts';
import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import { cut, words } from '../white-space.ts';
import { elementText } from './element-text.ts';
import { type DataItem, ItemGraph, type ItemValue } from './item.ts';
import { absolute, type PageMarks } from './page-marks.ts';
import { nameOf } from './vocabulary.ts';

const ITEMSCOPE = hashName('itemscope');
const ITEMPROP = hashName('itemprop');
const ITEMTYPE = hashName('itemtype');
const ITEMID = hashName('itemid');
const ITEMREF = hashName('itemref');
const CONTENT = hashName('content');
const SRC = hashName('src');
const HREF = hashName('href');
const DATA = hashName('data');
const VALUE = hashName('value');
const DATETIME = hashName('datetime');

const SRC_TAGS = new Set([
  TAG.audio,
  TAG.embed,
  TAG.iframe,
  TAG.img,
  TAG.image,
  TAG.source,
  TAG.track,
  TAG.video,
]);
const HREF_TAGS = new Set([TAG.a, TAG.area, TAG.link]);
const VALUE_TAGS = new Set([TAG.data, TAG.meter]);
/** Elements looked at for all items together: `itemref` may lead to the same ones again and again. */
const MOST_STEPS = 500_000;

/** The items of a page's microdata, by the algorithm of the HTML standard; an item within itself is left out. */
export function readMicrodataItems(marks: PageMarks): { roots: readonly DataItem[]; isTruncated: boolean } {
  const reader = new MicrodataReader(marks);
  for (const node of marks.microdata) reader.readRoot(node);
  return { roots: reader.graph.finish(), isTruncated: reader.graph.isTruncated };
}

class MicrodataReader {
  readonly graph = new ItemGraph('microdata');
  readonly #marks: PageMarks;
  #steps = 0;

  constructor(marks: PageMarks) {
    this.#marks = marks;
  }

  readRoot(node: number): void {
    const { tree } = this.#marks;
    if (tree.attribute(node, ITEMSCOPE) === null || tree.attribute(node, ITEMPROP) !== null) return;
    const item = this.#item(node, [node]);
    if (item !== null) this.graph.addRoot(item);
  }

  #item(node: number, around: readonly number[]): DataItem | null {
    const { tree, base } = this.#marks;
    // The same id on two elements does not make one item of them in microdata; the view merges them.
    const id = tree.attribute(node, ITEMID);
    const item = this.graph.item(null);
    if (item === null) return null;
    const own: DataItem = id === null || id.trim() === '' ? item : { ...item, id: absolute(base, id) };
    for (const type of words(tree.attribute(node, ITEMTYPE))) {
      const name = nameOf(type);
      if (!own.types.includes(name)) own.types.push(name);
    }
    for (const property of this.#properties(node)) {
      const value = this.#value(property, around);
      if (value === null) continue;
      for (const name of words(tree.attribute(property, ITEMPROP))) this.graph.add(own, nameOf(name), value);
    }
    return own;
  }

  /** The elements that hold the properties of an item, in the order of the page. */
  #properties(node: number): number[] {
    const { tree, ids } = this.#marks;
    const found = new Set<number>();
    this.#collect(node + 1, tree.ends[node] as number, found);
    for (const id of words(tree.attribute(node, ITEMREF))) {
      const other = ids.get(id);
      if (other === undefined) continue;
      if (tree.attribute(other, ITEMPROP) !== null) found.add(other);
      if (tree.attribute(other, ITEMSCOPE) === null)
        this.#collect(other + 1, tree.ends[other] as number, found);
    }
    return [...found].sort((a, b) => a - b);
  }

  #collect(start: number, end: number, found: Set<number>): void {
    const { tree, microdata } = this.#marks;
    let past = start;
    for (let at = firstFrom(microdata, start); at < microdata.length; at++) {
      const node = microdata[at] as number;
      if (node >= end) return;
      if (++this.#steps > MOST_STEPS) {
        this.graph.isTruncated = true;
        return;
      }
      if (node < past) continue;
      if (tree.attribute(node, ITEMPROP) !== null) found.add(node);
      if (tree.attribute(node, ITEMSCOPE) !== null) past = tree.ends[node] as number;
    }
  }

  #value(node: number, around: readonly number[]): ItemValue | null {
    const { tree, base } = this.#marks;
    if (tree.attribute(node, ITEMSCOPE) !== null) {
      if (around.includes(node)) return null;
      if (around.length >= LIMITS.itemDepth) {
        this.graph.isTruncated = true;
        return null;
      }
      return this.#item(node, [...around, node]);
    }
    const tag = tree.tags[node] as number;
    const content = tree.attribute(node, CONTENT);
    if (content !== null || tag === TAG.meta) return cut(content ?? '', LIMITS.itemValueChars);
    if (SRC_TAGS.has(tag)) return absolute(base, tree.attribute(node, SRC) ?? '');
    if (HREF_TAGS.has(tag)) return absolute(base, tree.attribute(node, HREF) ?? '');
    if (tag === TAG.object) return absolute(base, tree.attribute(node, DATA) ?? '');
    if (VALUE_TAGS.has(tag)) return cut(tree.attribute(node, VALUE) ?? '', LIMITS.itemValueChars);
    const datetime = tag === TAG.time ? tree.attribute(node, DATETIME) : null;
    return datetime ?? elementText(tree, node, LIMITS.itemValueChars);
  }
}

/** The place of the first number in a sorted list that is not below `least`. */
function firstFrom(sorted: readonly number[], least: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
