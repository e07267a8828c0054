import type { PageTree } from './page-tree.ts';
import { buildTree } from './tree-builder.ts';

let last: WeakRef<PageTree> | null = null;

/** The tree of a page. Whoever asks for the same page next gets the same one, if it is still there: nobody changes trees. */
export function treeOf(html: string): PageTree {
  const known = last?.deref();
  if (known !== undefined && known.html === html) return known;
  const tree = buildTree(html);
  last = new WeakRef(tree);
  return tree;
}
