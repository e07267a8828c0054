import { hashName } from '../name-table.ts';
import { BLOCK, HIDDEN, TAG, TAG_FLAGS } from '../tag.ts';
import { type PageTree, TEXT } from '../tree/page-tree.ts';
import { collapse } from '../white-space.ts';

const HIDDEN_ATTRIBUTE = hashName('hidden');

/** The text an element shows, with single spaces, up to `limit` characters; blocks stand apart. */
export function elementText(tree: PageTree, node: number, limit: number): string {
  return collapse(gather(tree, node, limit, ' '), limit);
}

/** The same with a line for each block. */
export function elementLines(tree: PageTree, node: number, limit: number): string[] {
  return gather(tree, node, limit, '\n')
    .split('\n')
    .map((line) => collapse(line, limit))
    .filter((line) => line !== '');
}

function gather(tree: PageTree, node: number, limit: number, separator: string): string {
  if (tree.isText(node)) return tree.text(node);
  const { tags, ends } = tree;
  const end = ends[node] as number;
  // White space and markup between words may take room that the text itself does not.
  const room = limit * 4 + 1_000;
  let text = '';
  let blockEnd = -1;
  for (let at = node + 1; at < end && text.length < room; ) {
    const tag = tags[at] as number;
    if (at >= blockEnd && blockEnd >= 0) {
      text += separator;
      blockEnd = -1;
    }
    if (tag === TEXT) text += separator === '\n' ? tree.text(at).replaceAll('\n', ' ') : tree.text(at);
    else if (!tree.isText(at)) {
      const flags = TAG_FLAGS[tag] ?? 0;
      if ((flags & HIDDEN) !== 0 || tree.attribute(at, HIDDEN_ATTRIBUTE) !== null) {
        at = Math.max(at + 1, ends[at] as number);
        continue;
      }
      if ((flags & BLOCK) !== 0) {
        text += separator;
        if (tag !== TAG.br) blockEnd = ends[at] as number;
      }
    }
    at++;
  }
  return text;
}
