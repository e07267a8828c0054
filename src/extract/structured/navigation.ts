import { LIMITS } from '../html/limits.ts';
import { hashName, TAG } from '../html/names.ts';
import { collapse } from '../html/page-text.ts';
import { type PageTree, TEXT } from '../tree/page-tree.ts';
import { elementText } from './element-text.ts';
import type { HeadTags } from './head-tags.ts';
import { type DataItem, type ItemSource, isItem, itemsOfType, textValue, valuesOf } from './item.ts';
import { absoluteUrl, type MarkupIndex } from './markup-index.ts';

export interface Crumb {
  readonly name: string;
  /** Null when the entry is no link, such as the page itself. */
  readonly url: string | null;
}

export interface Breadcrumbs {
  readonly from: ItemSource | 'markup';
  readonly crumbs: readonly Crumb[];
}

const MOST_CRUMBS = 30;
const NAME_CHARS = 200;
const CONTAINERS = new Set([TAG.nav, TAG.ol, TAG.ul, TAG.div, TAG.section, TAG.p, TAG.header]);
const BREADCRUMB_NAME = /bread-?_?crumbs?|^ariane$|fil-ariane/i;
const SEPARATORS = /^[\s/\\>»›→|·•❯▸▶⟩–—:-]+|[\s/\\>»›→|·•❯▸▶⟩–—-]+$/g;
const CLASS = hashName('class');
const ID = hashName('id');
const LABEL = hashName('aria-label');
const HREF = hashName('href');
const HIDDEN = hashName('aria-hidden');

/** The breadcrumbs of structured data, else those in the markup; null without either. */
export function readBreadcrumbs(roots: readonly DataItem[], marks: MarkupIndex): Breadcrumbs | null {
  let best: Breadcrumbs | null = null;
  for (const list of itemsOfType(roots, (type) => type === 'BreadcrumbList' || type === 'Breadcrumb')) {
    const crumbs = crumbsOf(list);
    if (crumbs.length > (best?.crumbs.length ?? 0)) best = { from: list.source, crumbs };
  }
  return best ?? visibleTrail(marks);
}

function crumbsOf(list: DataItem): Crumb[] {
  return valuesOf(list, 'itemListElement')
    .filter(isItem)
    .map((entry, index) => ({ crumb: crumbOf(entry), position: positionOf(entry, index) }))
    .sort((a, b) => a.position - b.position)
    .flatMap(({ crumb }) => (crumb === null ? [] : [crumb]))
    .slice(0, MOST_CRUMBS);
}

function positionOf(entry: DataItem, index: number): number {
  const position = Number(textValue(entry, 'position') ?? Number.NaN);
  return Number.isFinite(position) ? position : index + 1;
}

function crumbOf(entry: DataItem): Crumb | null {
  const [target] = valuesOf(entry, 'item', 'url');
  const isThing = target !== undefined && isItem(target);
  const written = textValue(entry, 'name', 'title') ?? (isThing ? textValue(target, 'name', 'title') : null);
  if (written === null) return null;
  const address = isThing ? (target.id ?? textValue(target, 'url')) : (target ?? entry.id);
  const url = typeof address === 'string' && /^https?:/.test(address) ? address : null;
  return { name: collapse(written, NAME_CHARS), url };
}

function visibleTrail(marks: MarkupIndex): Breadcrumbs | null {
  const { tree } = marks;
  for (let node = 1; node < tree.count; node++) {
    if (!CONTAINERS.has(tree.tags[node] as number) || !isTrail(tree, node)) continue;
    const crumbs = readTrail(marks, node);
    if (crumbs.length >= 2) return { from: 'markup', crumbs };
  }
  return null;
}

function isTrail(tree: PageTree, node: number): boolean {
  return [CLASS, ID, LABEL].some((name) => {
    const value = tree.attribute(node, name);
    return value !== null && BREADCRUMB_NAME.test(value);
  });
}

/** Links, and texts between them that are no separators. */
function readTrail({ tree, base }: MarkupIndex, container: number): Crumb[] {
  const crumbs: Crumb[] = [];
  const end = tree.ends[container] as number;
  for (let node = container + 1; node < end && crumbs.length < MOST_CRUMBS; ) {
    const tag = tree.tags[node] as number;
    if (tag === TAG.a || isUnseen(tree, node)) {
      const name = tag === TAG.a ? collapse(elementText(tree, node, NAME_CHARS), NAME_CHARS) : '';
      const href = tree.attribute(node, HREF);
      const url = href === null ? null : absoluteUrl(base, href);
      if (name !== '') crumbs.push({ name, url: url !== null && /^https?:/.test(url) ? url : null });
      node = Math.max(node + 1, tree.ends[node] as number);
      continue;
    }
    if (tag === TEXT) {
      const name = collapse(tree.text(node), LIMITS.anchorChars).replace(SEPARATORS, '');
      // "You are here:" is about the trail, not part of it.
      if (name !== '' && !(crumbs.length === 0 && name.length > 2 && tree.text(node).trim().endsWith(':'))) {
        crumbs.push({ name, url: null });
      }
    }
    node++;
  }
  return crumbs;
}

function isUnseen(tree: PageTree, node: number): boolean {
  if (tree.isText(node)) return false;
  const tag = tree.tags[node];
  return (
    tag === TAG.script || tag === TAG.svg || tag === TAG.style || tree.attribute(node, HIDDEN) === 'true'
  );
}

export interface Pagination {
  readonly next: string | null;
  readonly prev: string | null;
  /** `links`: from link relations; `markup`: from the pager of the page. Null without either. */
  readonly from: 'links' | 'markup' | null;
}

const ROLE = hashName('role');
const PAGER = /(?:^|[\s_-])(?:pagination|pager|paginator|page-numbers|pagenav|paging)(?:$|[\s_-])/i;
const NEXT =
  /^(?:next(?: page)?|older(?: posts?| entries)?|weiter|nächste(?: seite)?|suivante?|siguiente|successiva|volgende|próxima|далее|下一页|次へ|[›»→>]{1,2})$/i;
const PREVIOUS =
  /^(?:prev(?:ious)?(?: page)?|newer(?: posts?| entries)?|zurück|vorherige(?: seite)?|précédente?|anterior|precedente|vorige|назад|上一页|前へ|[‹«←<]{1,2})$/i;
const MOST_ANCHORS = 200;

export function readPagination(marks: MarkupIndex, { links }: HeadTags): Pagination {
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

function readPager({ tree, base }: MarkupIndex, pager: number): { next: string | null; prev: string | null } {
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

/** Returns the words without the arrows around them. */
function bare(text: string): string {
  const words = text.replace(/^[\s‹«←<›»→>]+|[\s‹«←<›»→>]+$/g, '');
  return words === '' ? text.trim() : words;
}
