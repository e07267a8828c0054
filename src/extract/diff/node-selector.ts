import type { Budget } from '../rules/budget.ts';
import type { CompiledSelector } from '../rules/css/compile-selector.ts';
import { TreeIndex } from '../rules/tree-index.ts';
import type { CompiledXPath, XPathItem } from '../rules/xpath/xpath.ts';
import type { PageTree } from '../tree/page-tree.ts';

/** Chooses elements of a page, by CSS or XPath. */
export type NodeSelector =
  | { readonly kind: 'css'; readonly source: string; readonly selector: CompiledSelector }
  | { readonly kind: 'xpath'; readonly source: string; readonly xpath: CompiledXPath };

/** What a selector finds on a page, in document order; attributes and computed values as values. */
export function selectNodes(selector: NodeSelector, index: TreeIndex, budget: Budget): readonly XPathItem[] {
  budget.at = selector.source;
  const { count } = index.tree;
  if (selector.kind === 'xpath') return selector.xpath.find(index, 0, count, budget);
  return selector.selector.select(index, 0, count, budget).map((node) => ({ kind: 'node', node }));
}

/** By node: 1 for those that no selector finds; null when every node is left. */
export function nodesLeft(
  tree: PageTree,
  selectors: readonly NodeSelector[],
  budget: Budget,
): Uint8Array | null {
  if (selectors.length === 0) return null;
  const index = new TreeIndex(tree);
  const left = new Uint8Array(tree.count).fill(1);
  let isWhole = true;
  for (const selector of selectors) {
    for (const found of selectNodes(selector, index, budget)) {
      if (found.kind !== 'node' || found.node === 0) continue;
      left.fill(0, found.node, tree.isText(found.node) ? found.node + 1 : tree.ends[found.node]);
      isWhole = false;
    }
  }
  return isWhole ? null : left;
}
