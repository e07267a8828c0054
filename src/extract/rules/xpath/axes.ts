import { hashName } from '../../html/name-table.ts';
import type { Axis, NodeTest } from './expression.ts';
import { isAttribute, nodeNumber, treeNodeOf, type XPathPage } from './nodes.ts';

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
