import type { StructuredItem } from '../model/page.ts';
import { ATTR, RDFA_THING_MASK } from './attribute.ts';
import type { BaseUrl } from './base-url.ts';
import { LIMITS } from './limits.ts';
import type { HtmlScanner } from './scanner.ts';
import { carriedValue, type DataAttribute, type DataElement } from './structured/data-element.ts';
import { type DataItem, ItemGraph, type TextSlot } from './structured/item.ts';
import { readMicrodataItems } from './structured/microdata-items.ts';
import { absolute, readMarks } from './structured/page-marks.ts';
import { RdfaGraph } from './structured/rdfa-graph.ts';
import { readRdfaItems } from './structured/rdfa-items.ts';
import { writeItems } from './structured/written-items.ts';
import type { TextCapture } from './text-capture.ts';
import { treeOf } from './tree/shared-tree.ts';
import { words } from './white-space.ts';

export interface PageItems {
  readonly microdata: readonly StructuredItem[];
  readonly rdfa: readonly StructuredItem[];
  readonly isTruncated: boolean;
}

/** An element that is an item; one without is within an item that nothing leads to. */
interface OpenItem {
  readonly depth: number;
  readonly item: DataItem | null;
  /** Items around it that it is a property of, itself included. */
  readonly level: number;
}

/** An element whose text will be a value. */
interface OpenText {
  readonly depth: number;
  readonly graph: ItemGraph;
  readonly slot: TextSlot;
  readonly start: number;
}

const asWritten = (address: string): string => address;

/**
 * Reads microdata and RDFa Lite off start tags, in the one pass over a page. The readers answer whether they must hear of
 * the element's end. `itemref` leads to any place of the page, before and behind: pages that use it are read as a tree.
 */
export class StructuredData {
  readonly #microdata = new ItemGraph('microdata');
  readonly #rdfa = new RdfaGraph(asWritten);
  readonly #items: OpenItem[] = [];
  readonly #texts: OpenText[] = [];
  /** Depths of the elements that RDFa stands on. */
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
    const value = carriedValue(element, base) ?? (isVoid ? '' : null);
    if (value === null)
      return this.#await(depth, this.#microdata, this.#microdata.awaitText(item, names), capture);
    for (const name of names) this.#microdata.add(item, name, value);
    return false;
  }

  readRdfa(tag: number, depth: number, isVoid: boolean, capture: TextCapture, base: BaseUrl): boolean {
    // Most are tags of the Open Graph in the head, which describe nothing here.
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

  /** An element that somebody wanted to hear of has ended. */
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

  /** What addresses are relative to has changed, for those that were read already too. */
  rebase(): void {
    if (this.#hasRead) this.#needsTree = true;
  }

  /** Everything that was found; `html` is the page, and `url` its address. */
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
    const item = this.#microdata.own(id === null || id.trim() === '' ? null : absolute(base, id));
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
  const marks = readMarks(treeOf(html), url);
  return {
    microdata: readMicrodataItems(marks, { name: asWritten, hasStrays: false }),
    rdfa: readRdfaItems(marks, asWritten),
  };
}
