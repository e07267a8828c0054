import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { hashName, TAG_NAMES } from '../html/names.ts';

/** Limits of a tree. A larger page is cut there, always at the same position, and reported as truncated. */
export const TREE_LIMITS = {
  /** Elements and texts together. */
  nodes: 400_000,
  attributes: 800_000,
  /** Deeper elements are left out; their texts belong to the last one that is not. */
  depth: 256,
} as const;

/** The tag of a text. Element tags are those of `TAG`, 0 for names that are not in that list. */
export const TEXT = 255;
/** A text without entities: of a script, a style, a CDATA section … */
export const RAW_TEXT = 254;
/** Numbers per attribute: hash of the name, start and end of the name, start and end of the value. */
export const ATTRIBUTE_SLOTS = 5;

/** The columns of a tree; only the builder writes them. */
export interface TreeColumns {
  readonly tags: Uint8Array;
  readonly hashes: Int32Array;
  readonly parents: Int32Array;
  readonly ends: Int32Array;
  readonly starts: Int32Array;
  readonly stops: Int32Array;
  readonly firstAttributes: Int32Array;
  readonly attributes: Int32Array;
  /** Hashes of names without their prefixes; only XML has them. */
  readonly localHashes?: Int32Array;
}

/**
 * A page as a tree of numbers. Nodes are numbered in document order, so the content of node `n` is exactly the nodes
 * from `n + 1` up to `ends[n]`, and one loop over a range visits a subtree: nothing here needs recursion.
 * Node 0 is the page itself. Strings are sliced from the page when they are asked for.
 */
export class PageTree {
  readonly html: string;
  /** Nodes, the page itself included. */
  readonly count: number;
  /** `TEXT`, `RAW_TEXT`, or the tag of an element. */
  readonly tags: Uint8Array;
  /** Hash of the element's name, which tells elements apart whose tag is 0. */
  readonly hashes: Int32Array;
  /**
   * Hashes of the names of XML elements without their prefixes, so that `creator` finds `dc:creator`. Null for web
   * pages.
   */
  readonly localHashes: Int32Array | null;
  /** -1 for the page itself. */
  readonly parents: Int32Array;
  /** One after the last node inside. */
  readonly ends: Int32Array;
  /** Where in the page a text, or the name of an element, starts and stops. */
  readonly starts: Int32Array;
  readonly stops: Int32Array;
  /** True when a limit cut the page. */
  readonly isTruncated: boolean;
  readonly #firstAttributes: Int32Array;
  readonly #attributes: Int32Array;

  constructor(html: string, count: number, columns: TreeColumns, isTruncated: boolean) {
    this.html = html;
    this.count = count;
    this.tags = columns.tags;
    this.hashes = columns.hashes;
    this.localHashes = columns.localHashes ?? null;
    this.parents = columns.parents;
    this.ends = columns.ends;
    this.starts = columns.starts;
    this.stops = columns.stops;
    this.#firstAttributes = columns.firstAttributes;
    this.#attributes = columns.attributes;
    this.isTruncated = isTruncated;
  }

  isText(node: number): boolean {
    return (this.tags[node] as number) >= RAW_TEXT;
  }

  /** True when an element has this name, by its hash; in XML with or without its prefix. */
  isNamed(node: number, nameHash: number): boolean {
    return (
      this.hashes[node] === nameHash || (this.localHashes !== null && this.localHashes[node] === nameHash)
    );
  }

  /** The name of an element in lower case. */
  name(node: number): string {
    const known = TAG_NAMES[this.tags[node] as number];
    return known === undefined || known === ''
      ? this.html.slice(this.starts[node], this.stops[node]).toLowerCase()
      : known;
  }

  /** The decoded text of a text node. */
  text(node: number): string {
    const text = this.html.slice(this.starts[node], this.stops[node]);
    return this.tags[node] === TEXT && text.includes('&') ? decodeHTML(text) : text;
  }

  /** The value of an attribute by the hash of its name (`hashName`); null without one. */
  attribute(node: number, nameHash: number): string | null {
    const attributes = this.#attributes;
    const end = this.#firstAttributes[node + 1] as number;
    for (let at = this.#firstAttributes[node] as number; at < end; at += ATTRIBUTE_SLOTS) {
      if (attributes[at] !== nameHash) continue;
      const value = this.html.slice(attributes[at + 3], attributes[at + 4]);
      return value.includes('&') ? decodeHTMLAttribute(value) : value;
    }
    return null;
  }

  attributeNamed(node: number, name: string): string | null {
    return this.attribute(node, hashName(name));
  }

  hasAttributes(node: number): boolean {
    return (this.#firstAttributes[node] as number) < (this.#firstAttributes[node + 1] as number);
  }

  /** All attributes with their names in lower case; the first of a repeated name counts. */
  attributes(node: number): Map<string, string> {
    const found = new Map<string, string>();
    const end = this.#firstAttributes[node + 1] as number;
    for (let at = this.#firstAttributes[node] as number; at < end; at += ATTRIBUTE_SLOTS) {
      const slots = this.#attributes.subarray(at, at + ATTRIBUTE_SLOTS);
      const name = this.html.slice(slots[1], slots[2]).toLowerCase();
      if (!found.has(name)) found.set(name, decodeHTMLAttribute(this.html.slice(slots[3], slots[4])));
    }
    return found;
  }

  /** The next node beside this one; -1 behind the last. */
  nextSibling(node: number): number {
    const next = this.ends[node] as number;
    const parent = this.parents[node] as number;
    return parent >= 0 && next < (this.ends[parent] as number) ? next : -1;
  }

  /** The first node inside; -1 without one. */
  firstChild(node: number): number {
    return node + 1 < (this.ends[node] as number) ? node + 1 : -1;
  }

  /** All text inside a node, white space included, up to `limit` characters. */
  textOf(node: number, limit: number): string {
    let text = '';
    const end = this.isText(node) ? node + 1 : (this.ends[node] as number);
    for (let at = node; at < end && text.length < limit; at++) {
      if (this.tags[at] === TEXT) text += this.text(at);
    }
    return text.length > limit ? text.slice(0, limit) : text;
  }
}
