import type { PageTree } from '../tree/page-tree.ts';

/**
 * Whether two texts that follow each other without a space are to be read apart: each is all by itself in an element of
 * its own, side by side, as labels and links in a row are. Single letters are not: they are a word in pieces.
 */
export function isApart(tree: PageTree, before: number, node: number): boolean {
  const left = tree.parents[before] as number;
  const right = tree.parents[node] as number;
  if (left === right || node < (tree.ends[left] as number) || before >= right) return false;
  const first = tree.text(before);
  const second = tree.text(node);
  if (first.length < 2 && second.length < 2) return false;
  return isWordAt(first, first.length - 1) && isWordAt(second, 0);
}

const WORD = /[\p{L}\p{N}]/u;

function isWordAt(text: string, at: number): boolean {
  return WORD.test(text.charAt(at));
}
