import { hashName } from '../../html/name-table.ts';
import { RAW_TEXT } from '../../tree/page-tree.ts';
import type { Budget } from '../budget.ts';
import { RULE_LIMITS } from '../rule-limits.ts';
import type { TreeIndex } from '../tree-index.ts';

/**
 * An XPath node is a number: the tree node times `SLOTS`, plus the index of an attribute from 1. So
 * numeric order is document order, attributes behind their element and before its content, and equal means the same.
 */
const SLOTS = 512;
const ID = hashName('id');
const LANGUAGE = [hashName('lang'), hashName('xml:lang')];

export function nodeNumber(treeNode: number): number {
  return treeNode * SLOTS;
}

export function treeNodeOf(node: number): number {
  return Math.floor(node / SLOTS);
}

export function isAttribute(node: number): boolean {
  return node % SLOTS !== 0;
}

/** A tree as XPath sees it. */
export class XPathPage {
  readonly index: TreeIndex;
  readonly budget: Budget;
  #attributesOf = -1;
  #attributes: readonly (readonly [string, string])[] = [];

  constructor(index: TreeIndex, budget: Budget) {
    this.index = index;
    this.budget = budget;
  }

  isElement(node: number): boolean {
    return !isAttribute(node) && this.index.isElement(treeNodeOf(node));
  }

  isText(node: number): boolean {
    return !isAttribute(node) && (this.index.tree.tags[treeNodeOf(node)] as number) >= RAW_TEXT;
  }

  /** Empty for texts and the page itself. */
  name(node: number): string {
    if (isAttribute(node)) return this.#attribute(node)[0];
    return this.isElement(node) ? this.index.tree.name(treeNodeOf(node)) : '';
  }

  /** The string-value of the specification: all text inside, scripts and styles included. */
  text(node: number): string {
    if (isAttribute(node)) return this.#attribute(node)[1];
    const { tree } = this.index;
    const start = treeNodeOf(node);
    if (this.isText(node)) return tree.text(start);
    const end = tree.ends[start] as number;
    this.budget.spend(end - start);
    let text = '';
    for (let at = start + 1; at < end && text.length < RULE_LIMITS.valueChars; at++) {
      if ((tree.tags[at] as number) >= RAW_TEXT) text += tree.text(at);
    }
    this.budget.spend(text.length >>> 4);
    return text.length > RULE_LIMITS.valueChars ? text.slice(0, RULE_LIMITS.valueChars) : text;
  }

  attributeCount(treeNode: number): number {
    return this.index.tree.hasAttributes(treeNode) ? this.#allOf(treeNode).length : 0;
  }

  /** -1 for the page itself. */
  parent(node: number): number {
    if (isAttribute(node)) return nodeNumber(treeNodeOf(node));
    const above = this.index.tree.parents[treeNodeOf(node)] as number;
    return above < 0 ? -1 : nodeNumber(above);
  }

  withIds(ids: ReadonlySet<string>): number[] {
    const { tree } = this.index;
    const found: number[] = [];
    if (ids.size === 0) return found;
    this.budget.spend(tree.count);
    const seen = new Set<string>();
    for (let at = 1; at < tree.count; at++) {
      if (!this.index.isElement(at)) continue;
      const id = tree.attribute(at, ID);
      if (id === null || !ids.has(id) || seen.has(id)) continue;
      seen.add(id);
      found.push(nodeNumber(at));
    }
    return found;
  }

  /** True when the closest `lang` is this language or a variety of it. */
  hasLanguage(node: number, wanted: string): boolean {
    const { tree } = this.index;
    const asked = wanted.toLowerCase();
    for (let at = treeNodeOf(node); at > 0; at = tree.parents[at] as number) {
      if (!this.index.isElement(at)) continue;
      for (const hash of LANGUAGE) {
        const language = tree.attribute(at, hash)?.toLowerCase();
        if (language !== undefined) return language === asked || language.startsWith(`${asked}-`);
      }
    }
    return false;
  }

  #attribute(node: number): readonly [string, string] {
    return this.#allOf(treeNodeOf(node))[(node % SLOTS) - 1] ?? ['', ''];
  }

  /** Cached for one element: neighbours in a result often share it. */
  #allOf(treeNode: number): readonly (readonly [string, string])[] {
    if (this.#attributesOf !== treeNode) {
      this.#attributesOf = treeNode;
      this.#attributes = [...this.index.tree.attributes(treeNode)];
    }
    return this.#attributes;
  }
}
