import { hashName } from '../name-table.ts';
import { BLOCK, HIDDEN, RAW, TAG, TAG_FLAGS } from '../tag.ts';
import { type PageTree, TEXT } from '../tree/page-tree.ts';
import { collapse } from '../white-space.ts';

const HIDDEN_ATTRIBUTE = hashName('hidden');
const SHADOW_ROOT = hashName('shadowrootmode');

/** Which elements are passed over with all that is in them. */
type Skip = (tree: PageTree, node: number) => boolean;

const isUnseen: Skip = (tree, node) =>
  ((TAG_FLAGS[tree.tags[node] as number] ?? 0) & HIDDEN) !== 0 ||
  tree.attribute(node, HIDDEN_ATTRIBUTE) !== null;

const isNoData: Skip = (tree, node) => {
  const tag = tree.tags[node] as number;
  return ((TAG_FLAGS[tag] ?? 0) & RAW) !== 0 || isInertTemplate(tree, node);
};

/** What a template holds is not part of the page, unless it is the root of a shadow. */
export function isInertTemplate(tree: PageTree, node: number): boolean {
  return tree.tags[node] === TAG.template && tree.attribute(node, SHADOW_ROOT) === null;
}

/** The text an element shows, with single spaces, up to `limit` characters; blocks stand apart. */
export function elementText(tree: PageTree, node: number, limit: number): string {
  return collapse(gather(tree, node, limit, ' ', isUnseen), limit);
}

/** The same for a value of structured data, of which what is hidden from readers is a part. */
export function dataText(tree: PageTree, node: number, limit: number): string {
  return collapse(gather(tree, node, limit, ' ', isNoData), limit);
}

/** The same with a line for each block. */
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
  // White space and markup between words may take room that the text itself does not.
  const room = limit * 4 + 1_000;
  let text = '';
  /** Where the blocks around this place end. */
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
        // A field for text is a thing of its own although its text is not read.
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
