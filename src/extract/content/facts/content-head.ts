import { hashName, TAG } from '../../html/names.ts';
import type { PageTree } from '../../tree/page-tree.ts';
import { type Block, headingLevel } from '../features/blocks.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import { type ContentEvidence, isProse, type TypedObject } from '../features/evidence.ts';
import { HINT_BITS } from '../features/word-lists.ts';
import type { PageType } from '../model/model.ts';
import type { Site } from './content-author.ts';

/** The blocks around the title, where pages state author and date. Indices into the list of blocks. */
interface ContentHead {
  readonly title: number;
  readonly from: number;
  readonly to: number;
}

const BLOCKS_BEFORE = 8;
const BLOCKS_AFTER = 30;
/** Blocks above the title belong to it within this many enclosing elements. */
const LEVELS_AROUND = 4;
/** A lead may stand between title and byline; more prose is the text itself. */
const PROSE_WORDS = 80;
const LEAST_TITLE = 3;

const MOST_WORKS = 20;
/** Types of written works. Reviews, comments, answers, images and videos are parts of a page. */
const TEXTS: ReadonlySet<string> = new Set([
  'article',
  'newsarticle',
  'blogposting',
  'techarticle',
  'scholarlyarticle',
  'medicalscholarlyarticle',
  'reportagenewsarticle',
  'analysisnewsarticle',
  'opinionnewsarticle',
  'backgroundnewsarticle',
  'reviewnewsarticle',
  'advertisercontentarticle',
  'satiricalarticle',
  'report',
  'socialmediaposting',
  'liveblogposting',
  'discussionforumposting',
  'question',
  'recipe',
  'howto',
  'guide',
  'learningresource',
  'creativework',
  'podcastepisode',
]);
const PAGES: ReadonlySet<string> = new Set([
  'webpage',
  'itempage',
  'aboutpage',
  'contactpage',
  'collectionpage',
  'faqpage',
  'qapage',
  'profilepage',
  'medicalwebpage',
]);

/** Null when no block is the title. */
export function findHead(evidence: ContentEvidence, title: string | null): ContentHead | null {
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

/** The heading equal to the title, else another such text, else the first heading of the highest level; -1 without one. */
function titleBlock({ blocks, tree }: ContentEvidence, title: string | null): number {
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

const SECONDARY_FLAGS = ELEMENT_FLAG.nav | ELEMENT_FLAG.aside | ELEMENT_FLAG.dialog;
/** Hints of comments, reviews and related entries. */
export const SECONDARY_HINTS = HINT_BITS.comment | HINT_BITS.related | HINT_BITS.review;
/** An element with this share of the prose is the subject of the page, whatever its names. */
const MUCH = 0.4;

/** True for elements with comments, reviews, menus or related entries. `names` are the hints that count. */
function isSecondary({ elements, shape }: ContentEvidence, node: number, names: number): boolean {
  const flags = elements.flags[node] as number;
  const isFooter =
    (flags & ELEMENT_FLAG.footer) !== 0 && ((shape.flagsAround[node] as number) & ELEMENT_FLAG.article) === 0;
  const isNamedSo = ((elements.hints[node] as number) & names) !== 0;
  if (!isFooter && !isNamedSo && (flags & SECONDARY_FLAGS) === 0) return false;
  return (shape.proseWords[node] as number) <= (shape.proseWords[0] as number) * MUCH;
}

/** The index of the block that a node belongs to or precedes. */
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

const CLASS = hashName('class');
const HREF = hashName('href');
const ITEM_PROPERTY = hashName('itemprop');
const ITEM_TYPE = hashName('itemtype');
const REL = hashName('rel');
/** Far more than a page about one subject has. */
const MOST_SECONDARY = 32;

/** Elements with author and dates of the page, in document order. */
interface OwnElements {
  /** Marked as the author by structured data or a relation. */
  readonly authors: readonly number[];
  /** Known by class or link target only, and near the title. */
  readonly bylines: readonly number[];
  /** `<time>` and properties that are dates. */
  readonly dates: readonly number[];
}

const OTHERS_TYPE = /(?:Comment|Answer|Review|Rating)\s*$/;
const OTHERS = new Set(['comment', 'answer', 'acceptedanswer', 'suggestedanswer', 'review', 'reviews']);
const DATES = new Set(['datepublished', 'datecreated', 'datemodified', 'dateupdated']);
const BYLINE_NAMES = HINT_BITS.meta | HINT_BITS.user;
/** Elements with more words are text, not bylines. */
const BYLINE_WORDS = 40;
const BYLINE_CLASS =
  /(?:^|[\s_-])(?:authors?|byline|author-?name|username|poster|contributors?|writers?)(?:$|[\s_-])/i;
const PROFILE =
  /\/(?:authors?|contributors?|writers?|columnists?|profiles?|users?|members?|people|staff|team|u)\/[^/?#]|[?;&](?:author|action=profile|mode=viewprofile|u)[=;&]|\/(?:user|member)-\d/i;

/** Collects them in one pass, without those in comments, answers, reviews, menus and related entries. */
export function ownElements(
  evidence: ContentEvidence,
  type: PageType,
  head: ContentHead | null,
): OwnElements {
  const { tree, elements, blocks, shape } = evidence;
  // Some forums call their posts comments.
  const away = type === 'forum' ? SECONDARY_HINTS & ~HINT_BITS.comment : SECONDARY_HINTS;
  const title = head === null ? 0 : (blocks[head.title] as Block).first;
  const first = head === null ? 0 : (blocks[head.from] as Block).container;
  const last = head === null ? 0 : (blocks[head.to - 1] as Block).last;
  const authors: number[] = [];
  const bylines: number[] = [];
  const dates: number[] = [];
  const add = (list: number[], node: number): void => {
    if (list.length < MOST_SECONDARY) list.push(node);
  };
  for (let node = 1; node < tree.count; node++) {
    if (tree.isText(node)) continue;
    const tag = tree.tags[node] as number;
    if (tag === TAG.body || tag === TAG.html) continue;
    const end = tree.ends[node] as number;
    const hasTitle = node < title && title < end;
    if (!hasTitle && isSecondary(evidence, node, away)) {
      node = end - 1;
      continue;
    }
    if (tag === TAG.time) add(dates, node);
    if (!tree.hasAttributes(node)) continue;
    const property = tree.attribute(node, ITEM_PROPERTY)?.toLowerCase() ?? '';
    if (OTHERS.has(property) || OTHERS_TYPE.test(tree.attribute(node, ITEM_TYPE) ?? '')) {
      node = end - 1;
      continue;
    }
    if (property === 'author' || property === 'creator') add(authors, node);
    else if (DATES.has(property) && tag !== TAG.time) add(dates, node);
    const isLink = tag === TAG.a;
    if (isLink && /\bauthor\b/i.test(tree.attribute(node, REL) ?? '')) add(authors, node);
    else if (node < first || node > last) continue;
    else if (isLink && node > title && PROFILE.test(tree.attribute(node, HREF) ?? '')) add(bylines, node);
    else if (
      ((elements.hints[node] as number) & BYLINE_NAMES) !== 0 &&
      (shape.words[node] as number) <= BYLINE_WORDS &&
      BYLINE_CLASS.test(tree.attribute(node, CLASS) ?? '')
    )
      add(bylines, node);
  }
  return { authors, bylines, dates };
}

/** Sources of the author and the dates of a page. */
export interface FactSources {
  readonly evidence: ContentEvidence;
  readonly type: PageType;
  readonly site: Site;
  /** Structured objects that describe the page as a whole. */
  readonly works: readonly TypedObject[];
  readonly head: ContentHead | null;
  readonly elements: OwnElements;
}

/** Pages that are one text, so that the names and dates on them are likely to be those of the text. */
export function isText(type: PageType): boolean {
  return type === 'article' || type === 'documentation' || type === 'forum';
}

/** Structured objects that describe the page as a whole, the most detailed first. */
export function worksOf(objects: readonly TypedObject[], type: PageType): readonly TypedObject[] {
  const ofKind = (kind: ReadonlySet<string>): readonly TypedObject[] =>
    objects.filter(({ types }) => types.some((name) => kind.has(name)));
  const texts = ofKind(TEXTS);
  const pages = ofKind(PAGES);
  // Several texts on a page of another type are list entries.
  return (isText(type) || texts.length === 1 ? [...texts, ...pages] : pages).slice(0, MOST_WORKS);
}
