import { hashName } from '../html/name-table.ts';
import { BLOCK, CELL, HIDDEN, TAG, TAG_FLAGS } from '../html/tag.ts';
import { type PageTree, RAW_TEXT } from '../tree/page-tree.ts';
import { collapseText } from './text-diff.ts';

const SHADOW_MODE = hashName('shadowrootmode');

/**
 * The text that a reader sees of a node: a line for each block, the cells of a row on one line, white space collapsed,
 * no empty lines. Node 0 is the whole page.
 */
export function treeLines(tree: PageTree, node = 0): string[] {
  const { tags, ends } = tree;
  const lines: string[] = [];
  /** Ends of the open blocks, the innermost last. */
  const blocks: number[] = [];
  let line: string[] = [];
  const breakLine = (): void => {
    const text = collapseText(line.join(''));
    if (text !== '') lines.push(text);
    line = [];
  };
  const end = tree.isText(node) ? node + 1 : (ends[node] as number);
  for (let at = node; at < end; at += 1) {
    while (blocks.length > 0 && (blocks.at(-1) as number) <= at) {
      blocks.pop();
      breakLine();
    }
    const tag = tags[at] as number;
    if (tag >= RAW_TEXT) {
      line.push(tree.text(at));
      continue;
    }
    const flags = TAG_FLAGS[tag] as number;
    if (at !== node && (flags & HIDDEN) !== 0 && !isShadowRoot(tree, at)) {
      at = (ends[at] as number) - 1;
    } else if ((flags & CELL) !== 0) line.push(' ');
    else if ((flags & BLOCK) !== 0) {
      breakLine();
      blocks.push(ends[at] as number);
    }
  }
  breakLine();
  return lines;
}

/** A declarative shadow root is part of the page; the content of any other template is not. */
const isShadowRoot = (tree: PageTree, node: number): boolean =>
  tree.tags[node] === TAG.template && tree.attribute(node, SHADOW_MODE) !== null;
