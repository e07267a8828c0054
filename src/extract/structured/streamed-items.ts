import type { StructuredItem } from '../../core/model/page.ts';
import { LIMITS } from '../html/limits.ts';
import type { BaseUrl } from '../html/links.ts';
import { ATTR, RDFA_THING_MASK } from '../html/names.ts';
import { type TextCapture, words } from '../html/page-text.ts';
import type { HtmlScanner } from '../html/scanner.ts';
import { treeOf } from '../tree/tree-builder.ts';
import { RdfaGraph, readMicrodataItems, readRdfaItems } from './attribute-items.ts';
import { type DataItem, ItemGraph, isItem, type TextSlot } from './item.ts';
import {
  absoluteUrl,
  attributeValue,
  type DataAttribute,
  type DataElement,
  indexMarkup,
} from './markup-index.ts';

export interface PageItems {
  readonly microdata: readonly StructuredItem[];
  readonly rdfa: readonly StructuredItem[];
  readonly isTruncated: boolean;
}

/** An open element with `itemscope`; `item` is null inside an item that belongs to no other. */
interface OpenItem {
  readonly depth: number;
  readonly item: DataItem | null;
  /** Depth of nesting among items, itself included. */
  readonly level: number;
}

/** An open element whose text becomes a value. */
interface OpenText {
  readonly depth: number;
  readonly graph: ItemGraph;
  readonly slot: TextSlot;
  readonly start: number;
}

const asWritten = (address: string): string => address;

/**
 * Reads microdata and RDFa Lite from start tags, in the one pass over a page. The readers return true when `end` must be
 * called at the end of the element. `itemref` refers to any element, also earlier ones: pages that use it are read from
 * a tree.
 */
export class StreamedItems {
  readonly #microdata = new ItemGraph('microdata');
  readonly #rdfa = new RdfaGraph(asWritten);
  readonly #items: OpenItem[] = [];
  readonly #texts: OpenText[] = [];
  /** Depths of the open elements with RDFa. */
  readonly #scopes: number[] = [];
  readonly #scanner: HtmlScanner;
  readonly #element: DataElement & { tag: number };
  #hasRead = false;
  #needsTree = false;

  constructor(scanner: HtmlScanner) {
    this.#scanner = scanner;
    this.#element = { tag: 0, attribute: (name: DataAttribute) => scanner.attribute(ATTR[name]) };
  }

  readMicrodata(tag: number, depth: number, isVoid: boolean, capture: TextCapture, base: BaseUrl): boolean {
    const element = this.#at(tag);
    const property = element.attribute('itemprop');
    const names = words(property);
    const around = this.#items.at(-1);
    if (element.attribute('itemscope') !== null) {
      if (words(this.#scanner.attributeNamed('itemref')).length > 0) this.#needsTree = true;
      const isRoot = property === null;
      const level = isRoot || around === undefined ? 1 : around.level + 1;
      const owner = isRoot ? null : (around?.item ?? null);
      const item = isRoot || owner !== null ? this.#newItem(element, base, level) : null;
      if (item !== null && isRoot) this.#microdata.addRoot(item);
      if (item !== null && owner !== null) for (const name of names) this.#microdata.add(owner, name, item);
      if (!isVoid) this.#items.push({ depth, item, level });
      return !isVoid;
    }
    const item = around?.item ?? null;
    if (names.length === 0 || item === null) return false;
    const value = attributeValue(element, base) ?? (isVoid ? '' : null);
    if (value === null)
      return this.#await(depth, this.#microdata, this.#microdata.awaitText(item, names), capture);
    for (const name of names) this.#microdata.add(item, name, value);
    return false;
  }

  readRdfa(tag: number, depth: number, isVoid: boolean, capture: TextCapture, base: BaseUrl): boolean {
    // Most of these are Open Graph tags in the head, which describe no item.
    const isAboutNothing = !this.#rdfa.hasSubject && (this.#scanner.mask & RDFA_THING_MASK) === 0;
    if (isVoid && isAboutNothing) return false;
    const slot = this.#rdfa.enter(this.#at(tag), base);
    if (isVoid) {
      this.#rdfa.leave();
      return false;
    }
    this.#scopes.push(depth);
    if (slot !== null) this.#await(depth, this.#rdfa.items, slot, capture);
    return true;
  }

  /** Ends an element for which a reader returned true. */
  end(depth: number, capture: TextCapture): void {
    for (
      let last = this.#texts.at(-1);
      last !== undefined && last.depth >= depth;
      last = this.#texts.at(-1)
    ) {
      this.#texts.pop();
      last.graph.fill(last.slot, capture.since(last.start, LIMITS.itemValueChars));
      capture.release();
    }
    while ((this.#items.at(-1)?.depth ?? -1) >= depth) this.#items.pop();
    while ((this.#scopes.at(-1) ?? -1) >= depth) {
      this.#scopes.pop();
      this.#rdfa.leave();
    }
  }

  /** Reports that the base URL has changed, also for items that were read before. */
  rebase(): void {
    if (this.#hasRead) this.#needsTree = true;
  }

  /** Returns all items; `html` is the page, and `url` its URL. */
  finish(html: string, url: string): PageItems {
    const { microdata, rdfa } = this.#needsTree ? fromTree(html, url) : this.#fromPass();
    const [ofMicrodata, ofRdfa] = [writeItems(microdata.roots), writeItems(rdfa.roots)];
    return {
      microdata: ofMicrodata.items,
      rdfa: ofRdfa.items,
      isTruncated: [microdata, rdfa, ofMicrodata, ofRdfa].some(({ isTruncated }) => isTruncated),
    };
  }

  #fromPass() {
    const [microdata, rdfa] = [this.#microdata, this.#rdfa];
    return {
      microdata: { roots: microdata.finish(), isTruncated: microdata.isTruncated },
      rdfa: { roots: rdfa.finish(), isTruncated: rdfa.items.isTruncated },
    };
  }

  #at(tag: number): DataElement {
    this.#hasRead = true;
    this.#element.tag = tag;
    return this.#element;
  }

  #newItem(element: DataElement, base: BaseUrl, level: number): DataItem | null {
    if (level > LIMITS.itemDepth) {
      this.#microdata.isTruncated = true;
      return null;
    }
    const id = element.attribute('itemid');
    const item = this.#microdata.own(id === null || id.trim() === '' ? null : absoluteUrl(base, id));
    for (const type of words(element.attribute('itemtype')))
      if (item?.types.includes(type) === false) item.types.push(type);
    return item;
  }

  #await(depth: number, graph: ItemGraph, slot: TextSlot, capture: TextCapture): boolean {
    if (slot.length === 0) return false;
    this.#texts.push({ depth, graph, slot, start: capture.begin() });
    return true;
  }
}

function fromTree(html: string, url: string) {
  const marks = indexMarkup(treeOf(html), url);
  return {
    microdata: readMicrodataItems(marks, { name: asWritten, hasStrays: false }),
    rdfa: readRdfaItems(marks, asWritten),
  };
}

/**
 * Items in the JSON shape of the HTML standard, nested in each other. An item inside itself is given by its id. Items that
 * several properties share are written several times, so the limit is on the whole.
 */
export function writeItems(roots: readonly DataItem[]): {
  readonly items: StructuredItem[];
  readonly isTruncated: boolean;
} {
  const writer = new Writer();
  const items = roots.map((root) => writer.write(root, []));
  return { items, isTruncated: writer.isTruncated };
}

class Writer {
  isTruncated = false;
  #values = 0;
  #chars = 0;

  write(item: DataItem, around: readonly DataItem[]): StructuredItem {
    const properties: Record<string, (string | StructuredItem)[]> = Object.create(null);
    const path = [...around, item];
    for (const [name, values] of item.properties) {
      const written: (string | StructuredItem)[] = [];
      for (const value of values) {
        const isInside = isItem(value) && !path.includes(value) && path.length < LIMITS.itemDepth;
        const text = isItem(value) ? (value.id ?? '') : String(value);
        this.#chars += name.length + text.length;
        if (++this.#values > LIMITS.itemValues || this.#chars > LIMITS.itemChars) {
          this.isTruncated = true;
          break;
        }
        if (isInside) written.push(this.write(value, path));
        else if (!isItem(value) || value.id !== null) written.push(text);
        else this.isTruncated = true;
      }
      if (written.length > 0) properties[name] = written;
    }
    return { type: item.types, ...(item.id === null ? {} : { id: item.id }), properties };
  }
}
