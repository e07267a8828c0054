import type { PageTree } from '../../tree/page-tree.ts';
import { headingLevel } from '../block-facts.ts';
import type { Evidence } from '../block-features.ts';
import type { Block } from '../blocks.ts';
import { MARK } from '../element-marks.ts';
import { HINT_BITS } from '../hint-words.ts';
import { isProse } from '../page-shape.ts';

/** The blocks around the title, where a page says who wrote it and when. Places in the list of blocks. */
export interface ContentHead {
  readonly title: number;
  readonly from: number;
  readonly to: number;
}

const BLOCKS_BEFORE = 8;
const BLOCKS_AFTER = 30;
/** What stands above a title belongs to it when both are within the same few elements. */
const LEVELS_AROUND = 4;
/** A standfirst may stand between the title and the byline; more prose is the text itself. */
const PROSE_WORDS = 80;
const LEAST_TITLE = 3;

/** Null when the page shows no title. */
export function findHead(evidence: Evidence, title: string | null): ContentHead | null {
  const { blocks, tree } = evidence;
  const at = titleBlock(evidence, title);
  if (at < 0) return null;
  const start = around(tree, (blocks[at] as Block).container);
  let from = at;
  while (from > 0 && at - from < BLOCKS_BEFORE && (blocks[from - 1] as Block).first > start) from--;
  let to = at + 1;
  for (let prose = 0; to < blocks.length && to - at <= BLOCKS_AFTER; to++) {
    const block = blocks[to] as Block;
    if (isProse(block)) prose += block.words;
    if (prose > PROSE_WORDS) break;
  }
  return { title: at, from, to };
}

/** The heading that says the title, else another text that does, else the first heading of the highest rank; -1 without. */
function titleBlock({ blocks, tree }: Evidence, title: string | null): number {
  const wanted = title?.toLowerCase() ?? '';
  let main = -1;
  let other = -1;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as Block;
    const level = headingLevel(tree, block);
    if (level === 1 && main < 0) main = index;
    const isHeading = level > 0 && level < 4;
    if (!isHeading && other >= 0) continue;
    const { length } = block.text;
    if (length < LEAST_TITLE || length > wanted.length * 2 || wanted.length > length * 2) continue;
    if (!isSame(block.text.toLowerCase(), wanted)) continue;
    if (isHeading) return index;
    other = index;
  }
  return other >= 0 ? other : main;
}

const isSame = (text: string, wanted: string): boolean =>
  text.length < wanted.length ? wanted.includes(text) : text.includes(wanted);

function around(tree: PageTree, node: number): number {
  let outer = node;
  for (let level = 0; level < LEVELS_AROUND && (tree.parents[outer] as number) > 0; level++)
    outer = tree.parents[outer] as number;
  return outer;
}

const AWAY_MARKS = MARK.nav | MARK.aside | MARK.dialog;
/** Names of what others said, and of what is elsewhere. */
export const AWAY_HINTS = HINT_BITS.comment | HINT_BITS.related | HINT_BITS.review;
/** What holds this share of the prose is what the page is about, whatever its names say. */
const MUCH = 0.4;

/** Whether an element holds what others said or what is elsewhere: comments, reviews, menus, related entries. `names` are the hints that say so. */
export function isAway({ elements, shape }: Evidence, node: number, names: number): boolean {
  const marks = elements.marks[node] as number;
  const isFooter = (marks & MARK.footer) !== 0 && ((shape.marksAround[node] as number) & MARK.article) === 0;
  const isNamedSo = ((elements.hints[node] as number) & names) !== 0;
  if (!isFooter && !isNamedSo && (marks & AWAY_MARKS) === 0) return false;
  return (shape.proseWords[node] as number) <= (shape.proseWords[0] as number) * MUCH;
}

/** The place in the list of the block that a node belongs to or stands before. */
export function blockAt(blocks: readonly Block[], node: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((blocks[middle] as Block).last < node) low = middle + 1;
    else high = middle;
  }
  return low;
}
