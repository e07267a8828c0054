import { hashName } from '../../name-table.ts';
import { TAG } from '../../tag.ts';
import type { Evidence } from '../block-features.ts';
import type { Block } from '../blocks.ts';
import { HINT_BITS } from '../hint-words.ts';
import type { PageType } from '../page-type.ts';
import { AWAY_HINTS, type ContentHead, isAway } from './content-head.ts';

const CLASS = hashName('class');
const HREF = hashName('href');
const ITEM_PROPERTY = hashName('itemprop');
const ITEM_TYPE = hashName('itemtype');
const REL = hashName('rel');
/** Far more than any page needs that is about one thing. */
const MOST = 32;

/** Elements that say who wrote a page and when, in the order they stand. */
export interface OwnElements {
  /** Marked as the author by structured data or a relation. */
  readonly authors: readonly number[];
  /** Only named so, by a class or by where a link leads, and near the title. */
  readonly bylines: readonly number[];
  /** `<time>` and properties that are dates. */
  readonly dates: readonly number[];
}

const OTHERS_TYPE = /(?:Comment|Answer|Review|Rating)\s*$/;
const OTHERS = new Set(['comment', 'answer', 'acceptedanswer', 'suggestedanswer', 'review', 'reviews']);
const DATES = new Set(['datepublished', 'datecreated', 'datemodified', 'dateupdated']);
const BYLINE_NAMES = HINT_BITS.meta | HINT_BITS.user;
/** With more words it is what somebody wrote. */
const BYLINE_WORDS = 40;
const BYLINE_CLASS =
  /(?:^|[\s_-])(?:authors?|byline|author-?name|username|poster|contributors?|writers?)(?:$|[\s_-])/i;
const PROFILE =
  /\/(?:authors?|contributors?|writers?|columnists?|profiles?|users?|members?|people|staff|team|u)\/[^/?#]|[?;&](?:author|action=profile|mode=viewprofile|u)[=;&]|\/(?:user|member)-\d/i;

/** One pass that leaves out what is not of the page itself: comments, answers, reviews, menus, related entries. */
export function ownElements(evidence: Evidence, type: PageType, head: ContentHead | null): OwnElements {
  const { tree, elements, blocks, shape } = evidence;
  // What some forums call comments are the posts.
  const away = type === 'forum' ? AWAY_HINTS & ~HINT_BITS.comment : AWAY_HINTS;
  const title = head === null ? 0 : (blocks[head.title] as Block).first;
  const first = head === null ? 0 : (blocks[head.from] as Block).container;
  const last = head === null ? 0 : (blocks[head.to - 1] as Block).last;
  const authors: number[] = [];
  const bylines: number[] = [];
  const dates: number[] = [];
  const add = (list: number[], node: number): void => {
    if (list.length < MOST) list.push(node);
  };
  for (let node = 1; node < tree.count; node++) {
    if (tree.isText(node)) continue;
    const tag = tree.tags[node] as number;
    if (tag === TAG.body || tag === TAG.html) continue;
    const end = tree.ends[node] as number;
    const hasTitle = node < title && title < end;
    if (!hasTitle && isAway(evidence, node, away)) {
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
