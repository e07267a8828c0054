import { LIMITS } from '../html/limits.ts';
import type { BaseUrl } from '../html/links.ts';
import { hashName, TAG } from '../html/names.ts';
import { cut, words } from '../html/page-text.ts';
import { dataText } from './element-text.ts';
import {
  type DataItem,
  ItemGraph,
  type ItemValue,
  isItem,
  KNOWN_PREFIXES,
  nameOf,
  type ReadItems,
  type TextSlot,
} from './item.ts';
import {
  absoluteUrl,
  attributeValue,
  type DataElement,
  type MarkupIndex,
  TreeElement,
} from './markup-index.ts';

const ITEMSCOPE = hashName('itemscope');
const ITEMPROP = hashName('itemprop');
const ITEMTYPE = hashName('itemtype');
const ITEMID = hashName('itemid');
const ITEMREF = hashName('itemref');
/** Limit of elements visited for all items together: `itemref` may lead to the same elements again and again. */
const MOST_STEPS = 500_000;

interface MicrodataOptions {
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
    // An id that two elements have does not make one item of them in microdata; the view merges them.
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

const MOST_PREFIXES = 200;

/** Evaluation context of an element: vocabulary, prefixes, and the item that properties describe. */
interface Scope {
  readonly vocab: string;
  readonly prefixes: ReadonlyMap<string, string>;
  readonly subject: DataItem | null;
}

/**
 * The items of RDFa Lite, with `about` and `content` in addition, read element by element. Properties outside of any
 * item (such as Open Graph tags) are ignored, and a URL on an element without a property does not change the item that
 * inner properties describe.
 */
export class RdfaGraph {
  readonly items = new ItemGraph('rdfa');
  readonly #typeName: (address: string) => string;
  readonly #scopes: Scope[] = [{ vocab: '', prefixes: KNOWN_PREFIXES, subject: null }];

  /** `typeName` gives the name of a type from its URL. */
  constructor(typeName: (address: string) => string) {
    this.#typeName = typeName;
  }

  /** True when properties here describe an item. */
  get hasSubject(): boolean {
    return (this.#scopes.at(-1) as Scope).subject !== null;
  }

  /** Enters an element; every `enter` needs its `leave`. A returned slot is to be filled with the text of the element. */
  enter(element: DataElement, base: BaseUrl): TextSlot | null {
    const outer = this.#scopes.at(-1) as Scope;
    const vocab = element.attribute('vocab')?.trim() ?? outer.vocab;
    const prefixes = withPrefixes(outer.prefixes, element.attribute('prefix'));
    const scope = { vocab, prefixes };
    const about = element.attribute('about');
    const properties = words(element.attribute('property')).map((name) => nameOf(addressOf(name, scope)));
    const types = words(element.attribute('typeof')).map((name) => this.#typeName(addressOf(name, scope)));
    const described = about === null ? outer.subject : this.items.item(idOf(base, about, scope));
    let subject = described;
    let slot: TextSlot | null = null;
    if (types.length > 0) {
      const target = about ?? targetOf(element);
      const item = this.items.item(target === null ? null : idOf(base, target, scope));
      if (item !== null) {
        for (const type of types) if (!item.types.includes(type)) item.types.push(type);
        const owner = about === null ? outer.subject : null;
        if (owner !== null && properties.length > 0) this.#add(owner, properties, item);
        else this.items.addRoot(item);
        subject = item;
      }
    } else if (properties.length > 0) {
      if (described !== null) {
        const value = this.#carried(element, base, scope);
        if (value === null) slot = this.items.awaitText(described, properties.map(cutName));
        else this.#add(described, properties, value);
      }
    } else {
      const resource = element.attribute('resource');
      if (resource !== null) subject = this.items.item(idOf(base, resource, scope));
    }
    if (subject !== null && subject !== outer.subject && types.length === 0) this.items.addRoot(subject);
    this.#scopes.push({ ...scope, subject });
    return slot;
  }

  leave(): void {
    if (this.#scopes.length > 1) this.#scopes.pop();
  }

  /** Returns the roots: items that are no value of another item and have at least one property. */
  finish(): readonly DataItem[] {
    const roots = this.items.finish();
    const held = new Set<ItemValue>();
    for (const root of roots) {
      for (const values of root.properties.values()) {
        for (const value of values) if (isItem(value) && value !== root) held.add(value);
      }
    }
    const free = roots.filter((root) => !held.has(root));
    return (free.length > 0 ? free : roots).filter(({ properties }) => properties.size > 0);
  }

  #add(owner: DataItem, names: readonly string[], value: ItemValue): void {
    for (const name of names) this.items.add(owner, cutName(name), value);
  }

  /** The value written in an attribute; null when the text of the element is the value. */
  #carried(element: DataElement, base: BaseUrl, scope: Pick<Scope, 'prefixes'>): ItemValue | null {
    const content = element.attribute('content');
    if (content !== null) return cut(content, LIMITS.itemValueChars);
    const target = targetOf(element);
    if (target !== null) {
      const id = idOf(base, target, scope);
      return (id === null ? null : this.items.item(id)) ?? absoluteUrl(base, target);
    }
    const { tag } = element;
    const written =
      tag === TAG.time ? element.attribute('datetime') : tag === TAG.data ? element.attribute('value') : null;
    return written === null ? null : cut(written, LIMITS.itemValueChars);
  }
}

const cutName = (name: string): string => cut(name, LIMITS.wordsChars);

/** The URL of a link or resource element. */
function targetOf(element: DataElement): string | null {
  return element.attribute('resource') ?? element.attribute('href') ?? element.attribute('src');
}

function withPrefixes(
  outer: ReadonlyMap<string, string>,
  written: string | null,
): ReadonlyMap<string, string> {
  if (written === null) return outer;
  const own = new Map(outer);
  const parts = written.trim().split(/\s+/);
  for (let at = 0; at + 1 < parts.length && own.size < MOST_PREFIXES; at += 2) {
    const [prefix, address] = [parts[at] as string, parts[at + 1] as string];
    if (prefix.endsWith(':')) own.set(prefix.slice(0, -1).toLowerCase(), address);
  }
  return own;
}

function addressOf(name: string, { vocab, prefixes }: Pick<Scope, 'vocab' | 'prefixes'>): string {
  const colon = name.indexOf(':');
  if (colon < 0) return vocab + name;
  const address = prefixes.get(name.slice(0, colon).toLowerCase());
  return address === undefined || name.startsWith('//', colon + 1) ? name : address + name.slice(colon + 1);
}

/** The absolute URL as an id, also for fragments of the page; null for an empty one. `_:x` is a blank node, not a URL. */
function idOf(base: BaseUrl, written: string, { prefixes }: Pick<Scope, 'prefixes'>): string | null {
  const reference = written.trim();
  if (reference === '') return null;
  if (reference.startsWith('_:')) return cut(reference, LIMITS.urlChars);
  if (reference.startsWith('#')) return cut(`${base.href.split('#', 1)[0]}${reference}`, LIMITS.urlChars);
  if (reference.startsWith('[') && reference.endsWith(']'))
    return nameOf(addressOf(reference.slice(1, -1), { vocab: '', prefixes }));
  return absoluteUrl(base, reference);
}

/** The items of the RDFa of a page; `typeName` gives the name of a type from its URL. */
export function readRdfaItems(
  { rdfa, tree, base }: MarkupIndex,
  typeName: (address: string) => string = nameOf,
): ReadItems {
  const graph = new RdfaGraph(typeName);
  /** Ends of the entered elements. */
  const ends: number[] = [];
  for (const node of rdfa) {
    while (node >= (ends.at(-1) ?? tree.count)) {
      ends.pop();
      graph.leave();
    }
    const slot = graph.enter(new TreeElement(tree, node), base);
    ends.push(tree.ends[node] as number);
    if (slot !== null) graph.items.fill(slot, dataText(tree, node, LIMITS.itemValueChars));
  }
  return { roots: graph.finish(), isTruncated: graph.items.isTruncated };
}
