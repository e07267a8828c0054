import { hashName } from '../../html/names.ts';
import { RAW_TEXT } from '../../tree/page-tree.ts';
import type { Budget } from '../budget.ts';
import { RULE_LIMITS } from '../rule-text.ts';
import type { TreeIndex } from '../tree-index.ts';
import type { Axis, NodeTest } from './expression.ts';

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

/** Visits the nodes of an axis that pass the test, in axis order (reverse document order for reverse axes). */
export function walkAxis(page: XPathPage, node: number, axis: Axis, test: NodeTest): number[] {
  const found: number[] = [];
  const passes = testOf(page, test, axis === 'attribute');
  const visit = (treeNode: number): void => {
    page.budget.spend(1);
    const number = nodeNumber(treeNode);
    if (passes(number)) found.push(number);
  };
  if (axis === 'self' || axis === 'ancestor-or-self' || axis === 'descendant-or-self') {
    page.budget.spend(1);
    if (passes(node)) found.push(node);
  }
  if (axis === 'self') return found;
  if (isAttribute(node)) walkFromAttribute(page, node, axis, visit);
  else if (axis === 'attribute') {
    const count = page.attributeCount(treeNodeOf(node));
    page.budget.spend(count);
    for (let place = 1; place <= count; place++) if (passes(node + place)) found.push(node + place);
  } else WALKS[axis](page, treeNodeOf(node), visit);
  return found;
}

export const REVERSE_AXES: ReadonlySet<Axis> = new Set<Axis>([
  'ancestor',
  'ancestor-or-self',
  'preceding',
  'preceding-sibling',
]);

type Visit = (treeNode: number) => void;
type Walk = (page: XPathPage, start: number, visit: Visit) => void;

/** Attributes have no siblings and no children; preceding and following are those of their element, whose content follows. */
function walkFromAttribute(page: XPathPage, node: number, axis: Axis, visit: Visit): void {
  const owner = treeNodeOf(node);
  if (axis === 'parent') visit(owner);
  else if (axis === 'ancestor' || axis === 'ancestor-or-self') {
    visit(owner);
    up(page, owner, visit);
  } else if (axis === 'following') {
    inside(page, owner, visit);
    following(page, owner, visit);
  } else if (axis === 'preceding') preceding(page, owner, visit);
}

const up: Walk = ({ index: { tree } }, start, visit) => {
  for (let at = tree.parents[start] as number; at >= 0; at = tree.parents[at] as number) visit(at);
};

const inside: Walk = ({ index: { tree } }, start, visit) => {
  const end = tree.ends[start] as number;
  for (let at = start + 1; at < end; at++) visit(at);
};

const children: Walk = ({ index: { tree } }, start, visit) => {
  const end = tree.ends[start] as number;
  for (let at = start + 1; at < end; at = tree.ends[at] as number) visit(at);
};

const following: Walk = ({ index: { tree } }, start, visit) => {
  for (let at = tree.ends[start] as number; at < tree.count; at++) visit(at);
};

/** All earlier nodes except ancestors. */
const preceding: Walk = ({ index: { tree } }, start, visit) => {
  let above = tree.parents[start] as number;
  for (let at = start - 1; at > 0; at--) {
    if (at === above) above = tree.parents[at] as number;
    else visit(at);
  }
};

const siblingsBehind: Walk = ({ index: { tree } }, start, visit) => {
  for (let at = tree.nextSibling(start); at >= 0; at = tree.nextSibling(at)) visit(at);
};

const siblingsBefore: Walk = (page, start, visit) => {
  const { tree } = page.index;
  const above = tree.parents[start] as number;
  if (above < 0) return;
  const before: number[] = [];
  for (let at = above + 1; at < start; at = tree.ends[at] as number) before.push(at);
  page.budget.spend(before.length);
  for (const at of before.reverse()) visit(at);
};

const WALKS: Readonly<Record<Exclude<Axis, 'self' | 'attribute'>, Walk>> = {
  ancestor: up,
  'ancestor-or-self': up,
  child: children,
  descendant: inside,
  'descendant-or-self': inside,
  following,
  'following-sibling': siblingsBehind,
  parent: ({ index: { tree } }, start, visit) => {
    const above = tree.parents[start] as number;
    if (above >= 0) visit(above);
  },
  preceding,
  'preceding-sibling': siblingsBefore,
};

/** A name means elements, on the attribute axis attributes. */
function testOf(page: XPathPage, test: NodeTest, isForAttributes: boolean): (node: number) => boolean {
  if (test.kind !== 'name') {
    if (test.kind === 'text') return (node) => page.isText(node);
    return () => test.kind === 'node';
  }
  const { name, isPrefix } = test;
  const isPrincipal = isForAttributes ? isAttribute : (node: number) => page.isElement(node);
  if (name === null) return isPrincipal;
  if (!isForAttributes && !isPrefix) {
    const hash = hashName(name);
    const { tree } = page.index;
    return (node) => page.isElement(node) && tree.isNamed(treeNodeOf(node), hash);
  }
  return isPrefix
    ? (node) => isPrincipal(node) && page.name(node).startsWith(name)
    : (node) => isPrincipal(node) && page.name(node) === name;
}
