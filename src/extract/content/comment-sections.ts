import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import type { PageTree } from '../tree/page-tree.ts';
import type { Evidence } from './block-features.ts';
import type { Block } from './blocks.ts';
import { HINT_BITS, hintsOf } from './hint-words.ts';
import { isProse } from './page-shape.ts';
import { PAGE_TYPES } from './page-type.ts';

export interface CommentSections {
  /** By node: the outermost element around whose names speak of comments; 0 without one. */
  readonly rootOf: Int32Array;
  /** By such an element: the words of prose before it that are not comments. */
  readonly leads: ReadonlyMap<number, number>;
}

/** Comments follow what they are about. */
const LEAD_WORDS = 150;
/** The posts of a forum are the page, and what is called a comment on a product may be its review. */
const ARTICLE = PAGE_TYPES.indexOf('article');
const ARTICLE_CHANCE = 0.3;
const PENALTY = 4;
const CLASS = hashName('class');
const ID = hashName('id');
const MOST_ID_CHARS = 20;

export function commentSections({ tree, elements, blocks }: Evidence): CommentSections {
  const rootOf = new Int32Array(tree.count);
  for (let node = 1; node < tree.count; node++) {
    const outer = rootOf[tree.parents[node] as number] as number;
    const tag = tree.tags[node] as number;
    const isRoot =
      tag !== TAG.body && tag !== TAG.html && isCommentSection(tree, node, elements.hints[node] as number);
    rootOf[node] = outer !== 0 ? outer : isRoot ? node : 0;
  }
  const leads = new Map<number, number>();
  let prose = 0;
  for (const block of blocks) {
    const root = rootOf[block.container] as number;
    if (root !== 0) {
      if (!leads.has(root)) leads.set(root, prose);
    } else if (isProse(block)) prose += block.words;
  }
  return { rootOf, leads };
}

/** By class or id: in structured data the answers of a forum are comments, too. */
function isCommentSection(tree: PageTree, node: number, hints: number): boolean {
  if ((hints & HINT_BITS.comment) === 0) return false;
  const id = tree.attribute(node, ID) ?? '';
  const names = `${tree.attribute(node, CLASS) ?? ''} ${id.length > MOST_ID_CHARS ? '' : id}`;
  return (hintsOf(names) & HINT_BITS.comment) !== 0;
}

/**
 * Takes comments out of the running, where they are not what the page is for. Few pages that people labelled have any,
 * so this is not left to what can be learned from them. Changes `sums`.
 */
export function withoutComments(evidence: Evidence, types: ArrayLike<number>, sums: Float64Array): void {
  if ((types[ARTICLE] ?? 0) < ARTICLE_CHANCE) return;
  const { blocks } = evidence;
  const { rootOf, leads } = commentSections(evidence);
  for (let index = 0; index < blocks.length; index++) {
    const root = rootOf[(blocks[index] as Block).container] as number;
    if (root === 0 || (leads.get(root) ?? 0) < LEAD_WORDS) continue;
    sums[index] = (sums[index] as number) - PENALTY;
  }
}
