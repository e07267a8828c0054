import { LIMITS } from '../html/limits.ts';
import { hashName } from '../html/names.ts';
import { words } from '../html/page-text.ts';
import { dataText } from './element-text.ts';
import { type DataItem, ItemGraph, type ItemValue, nameOf, type ReadItems } from './item.ts';
import { absoluteUrl, attributeValue, type MarkupIndex, TreeElement } from './markup-index.ts';

const ITEMSCOPE = hashName('itemscope');
const ITEMPROP = hashName('itemprop');
const ITEMTYPE = hashName('itemtype');
const ITEMID = hashName('itemid');
const ITEMREF = hashName('itemref');
/** Limit of elements visited for all items together: `itemref` may lead to the same elements again and again. */
const MOST_STEPS = 500_000;

export interface MicrodataOptions {
  /** Gives the name of a type or property from its URL. */
  readonly name: (address: string) => string;
  /** Also reads items with `itemprop` outside of any item: many pages forget the outer one. */
  readonly hasStrays: boolean;
}

/** The items of a page's microdata, by the algorithm of the HTML standard; an item inside itself is left out. */
export function readMicrodataItems(
  marks: MarkupIndex,
  { name, hasStrays }: MicrodataOptions = { name: nameOf, hasStrays: true },
): ReadItems {
  const reader = new MicrodataReader(marks, name);
  for (const node of marks.microdata) reader.readRoot(node);
  if (hasStrays) reader.readStrays();
  return { roots: reader.graph.finish(), isTruncated: reader.graph.isTruncated };
}

class MicrodataReader {
  readonly graph = new ItemGraph('microdata');
  readonly #marks: MarkupIndex;
  readonly #name: (address: string) => string;
  /** Nodes of items that are in the graph already. */
  readonly #read = new Set<number>();
  #steps = 0;

  constructor(marks: MarkupIndex, name: (address: string) => string) {
    this.#marks = marks;
    this.#name = name;
  }

  readRoot(node: number): void {
    const { tree } = this.#marks;
    if (tree.attribute(node, ITEMSCOPE) === null || tree.attribute(node, ITEMPROP) !== null) return;
    const item = this.#item(node, [node]);
    if (item !== null) this.graph.addRoot(item);
  }

  /** Reads typed items that are a property of no item. */
  readStrays(): void {
    const { tree, microdata } = this.#marks;
    let past = 0;
    for (const node of microdata) {
      if (node < past || tree.attribute(node, ITEMSCOPE) === null) continue;
      past = tree.ends[node] as number;
      if (this.#read.has(node) || words(tree.attribute(node, ITEMTYPE)).length === 0) continue;
      const item = this.#item(node, [node]);
      if (item !== null) this.graph.addRoot(item);
    }
  }

  #item(node: number, around: readonly number[]): DataItem | null {
    const { tree, base } = this.#marks;
    this.#read.add(node);
    // The same id on two elements does not make one item of them in microdata; the view merges them.
    const id = tree.attribute(node, ITEMID);
    const own = this.graph.own(id === null || id.trim() === '' ? null : absoluteUrl(base, id));
    if (own === null) return null;
    for (const type of words(tree.attribute(node, ITEMTYPE))) {
      const name = this.#name(type);
      if (!own.types.includes(name)) own.types.push(name);
    }
    for (const property of this.#properties(node)) {
      const value = this.#value(property, around);
      if (value === null) continue;
      for (const name of words(tree.attribute(property, ITEMPROP)))
        this.graph.add(own, this.#name(name), value);
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
    return attributeValue(new TreeElement(tree, node), base) ?? dataText(tree, node, LIMITS.itemValueChars);
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
