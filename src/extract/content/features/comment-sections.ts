import { hashName, TAG } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { PAGE_TYPES } from '../model/model.ts';
import type { Block } from './blocks.ts';
import { type ContentEvidence, isProse } from './evidence.ts';
import { HINT_BITS, hintsOf } from './word-lists.ts';

export interface CommentSections {
  /** By node: the outermost enclosing element that is named as comments; 0 without one. */
  readonly rootOf: Int32Array;
  /** By such an element: the words of prose before it, outside of comments. */
  readonly leads: ReadonlyMap<number, number>;
}

/** Comments follow a text of at least this many words. */
const LEAD_WORDS = 150;
/** Only on articles: in forums the posts are the content, and on products they may be reviews. */
const ARTICLE = PAGE_TYPES.indexOf('article');
const ARTICLE_CHANCE = 0.3;
const PENALTY = 4;
const CLASS = hashName('class');
const ID = hashName('id');
const MOST_ID_CHARS = 20;

export function commentSections({ tree, elements, blocks }: ContentEvidence): CommentSections {
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

/** By class or id only: in structured data the answers of a forum are comments as well. */
function isCommentSection(tree: PageTree, node: number, hints: number): boolean {
  if ((hints & HINT_BITS.comment) === 0) return false;
  const id = tree.attribute(node, ID) ?? '';
  const names = `${tree.attribute(node, CLASS) ?? ''} ${id.length > MOST_ID_CHARS ? '' : id}`;
  return (hintsOf(names) & HINT_BITS.comment) !== 0;
}

/**
 * Lowers comments below articles. Few labelled pages have any, so the model cannot learn it. Changes `sums`.
 */
export function penalizeComments(
  evidence: ContentEvidence,
  types: ArrayLike<number>,
  sums: Float64Array,
): void {
  if ((types[ARTICLE] ?? 0) < ARTICLE_CHANCE) return;
  const { blocks } = evidence;
  const { rootOf, leads } = commentSections(evidence);
  for (let index = 0; index < blocks.length; index++) {
    const root = rootOf[(blocks[index] as Block).container] as number;
    if (root === 0 || (leads.get(root) ?? 0) < LEAD_WORDS) continue;
    sums[index] = (sums[index] as number) - PENALTY;
  }
}
