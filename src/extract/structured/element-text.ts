import { BLOCK, HIDDEN, hashName, RAW, TAG, TAG_FLAGS } from '../html/names.ts';
import { collapse } from '../html/page-text.ts';
import { type PageTree, TEXT } from '../tree/page-tree.ts';

const HIDDEN_ATTRIBUTE = hashName('hidden');
const SHADOW_ROOT = hashName('shadowrootmode');

/** Elements that are skipped with their content. */
type Skip = (tree: PageTree, node: number) => boolean;

const isUnseen: Skip = (tree, node) =>
  ((TAG_FLAGS[tree.tags[node] as number] ?? 0) & HIDDEN) !== 0 ||
  tree.attribute(node, HIDDEN_ATTRIBUTE) !== null;

const isNoData: Skip = (tree, node) => {
  const tag = tree.tags[node] as number;
  return ((TAG_FLAGS[tag] ?? 0) & RAW) !== 0 || isInertTemplate(tree, node);
};

/** The content of a template is not part of the page, unless it is a declarative shadow root. */
export function isInertTemplate(tree: PageTree, node: number): boolean {
  return tree.tags[node] === TAG.template && tree.attribute(node, SHADOW_ROOT) === null;
}

/** The rendered text of an element with single spaces, up to `limit` characters; blocks are separated. */
export function elementText(tree: PageTree, node: number, limit: number): string {
  return collapse(gather(tree, node, limit, ' ', isUnseen), limit);
}

/** The text of a value of structured data, hidden elements included. */
export function dataText(tree: PageTree, node: number, limit: number): string {
  return collapse(gather(tree, node, limit, ' ', isNoData), limit);
}

/** The rendered text of an element, with a line for each block. */
export function elementLines(tree: PageTree, node: number, limit: number): string[] {
  return gather(tree, node, limit, '\n', isUnseen)
    .split('\n')
    .map((line) => collapse(line, limit))
    .filter((line) => line !== '');
}

function gather(tree: PageTree, node: number, limit: number, separator: string, skip: Skip): string {
  if (tree.isText(node)) return tree.text(node);
  const { tags, ends } = tree;
  const end = ends[node] as number;
  // Collapsing removes white space, so more than `limit` characters are gathered.
  const room = limit * 4 + 1_000;
  let text = '';
  /** Ends of the open blocks. */
  const blockEnds: number[] = [];
  for (let at = node + 1; at < end && text.length < room; ) {
    const tag = tags[at] as number;
    for (let last = blockEnds.at(-1); last !== undefined && at >= last; last = blockEnds.at(-1)) {
      text += separator;
      blockEnds.pop();
    }
    if (tag === TEXT) text += separator === '\n' ? tree.text(at).replaceAll('\n', ' ') : tree.text(at);
    else if (!tree.isText(at)) {
      const flags = TAG_FLAGS[tag] ?? 0;
      const isBlock = (flags & BLOCK) !== 0;
      if (skip(tree, at)) {
        // A text field separates words although its content is not read.
        if (isBlock && (flags & RAW) !== 0) text += separator;
        at = Math.max(at + 1, ends[at] as number);
        continue;
      }
      if (isBlock) {
        text += separator;
        blockEnds.push(ends[at] as number);
      }
    }
    at++;
  }
  return text;
}
