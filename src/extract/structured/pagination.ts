import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import { elementText } from './element-text.ts';
import type { HeadTags } from './head-tags.ts';
import type { PageMarks } from './page-marks.ts';

export interface Pagination {
  readonly next: string | null;
  readonly prev: string | null;
  /** `links`: relations of links; `markup`: the row of page numbers that the page shows. Null without either. */
  readonly from: 'links' | 'markup' | null;
}

const CLASS = hashName('class');
const LABEL = hashName('aria-label');
const ROLE = hashName('role');
const HREF = hashName('href');
const PAGER = /(?:^|[\s_-])(?:pagination|pager|paginator|page-numbers|pagenav|paging)(?:$|[\s_-])/i;
const NEXT =
  /^(?:next(?: page)?|older(?: posts?| entries)?|weiter|nächste(?: seite)?|suivante?|siguiente|successiva|volgende|próxima|далее|下一页|次へ|[›»→>]{1,2})$/i;
const PREVIOUS =
  /^(?:prev(?:ious)?(?: page)?|newer(?: posts?| entries)?|zurück|vorherige(?: seite)?|précédente?|anterior|precedente|vorige|назад|上一页|前へ|[‹«←<]{1,2})$/i;
const MOST_ANCHORS = 200;

export function readPagination(marks: PageMarks, { links }: HeadTags): Pagination {
  if (links.next !== null || links.prev !== null)
    return { next: links.next, prev: links.prev, from: 'links' };
  const { tree } = marks;
  for (let node = 1; node < tree.count; node++) {
    const tag = tree.tags[node];
    if (tag !== TAG.nav && tag !== TAG.ul && tag !== TAG.ol && tag !== TAG.div) continue;
    const marked = `${tree.attribute(node, CLASS) ?? ''} ${tree.attribute(node, LABEL) ?? ''} ${tree.attribute(node, ROLE) ?? ''}`;
    if (!PAGER.test(marked)) continue;
    const { next, prev } = readPager(marks, node);
    if (next !== null || prev !== null) return { next, prev, from: 'markup' };
  }
  return { next: null, prev: null, from: null };
}

function readPager({ tree, base }: PageMarks, pager: number): { next: string | null; prev: string | null } {
  let next: string | null = null;
  let prev: string | null = null;
  let anchors = 0;
  const end = tree.ends[pager] as number;
  for (let node = pager + 1; node < end && anchors < MOST_ANCHORS; node++) {
    if (tree.tags[node] !== TAG.a) continue;
    anchors++;
    const url = base.resolve(tree.attribute(node, HREF) ?? '');
    if (url === null) continue;
    const text = bare(elementText(tree, node, 60));
    const called = bare(tree.attribute(node, LABEL) ?? '');
    const classes = ` ${tree.attribute(node, CLASS) ?? ''} `;
    if (next === null && (NEXT.test(text) || NEXT.test(called) || /[\s_-]next[\s_-]/i.test(classes)))
      next = url;
    else if (
      prev === null &&
      (PREVIOUS.test(text) || PREVIOUS.test(called) || /[\s_-]prev(?:ious)?[\s_-]/i.test(classes))
    ) {
      prev = url;
    }
  }
  return { next, prev };
}

/** Without the arrows around the words. */
function bare(text: string): string {
  const words = text.replace(/^[\s‹«←<›»→>]+|[\s‹«←<›»→>]+$/g, '');
  return words === '' ? text.trim() : words;
}
