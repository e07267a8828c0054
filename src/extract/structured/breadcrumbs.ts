import { LIMITS } from '../limits.ts';
import { hashName } from '../name-table.ts';
import { TAG } from '../tag.ts';
import { type PageTree, TEXT } from '../tree/page-tree.ts';
import { collapse } from '../white-space.ts';
import { elementText } from './element-text.ts';
import { type DataItem, type ItemSource, isItem } from './item.ts';
import { itemsOfType, textValue, valuesOf } from './item-values.ts';
import { absolute, type PageMarks } from './page-marks.ts';

export interface Crumb {
  readonly name: string;
  /** Null for the page itself, where it is no link. */
  readonly url: string | null;
}

export interface Breadcrumbs {
  readonly from: ItemSource | 'markup';
  readonly crumbs: readonly Crumb[];
}

const MOST_CRUMBS = 30;
const NAME_CHARS = 200;
const CONTAINERS = new Set([TAG.nav, TAG.ol, TAG.ul, TAG.div, TAG.section, TAG.p, TAG.header]);
const CALLED = /bread-?_?crumbs?|^ariane$|fil-ariane/i;
const SEPARATORS = /^[\s/\\>»›→|·•❯▸▶⟩–—:-]+|[\s/\\>»›→|·•❯▸▶⟩–—-]+$/g;
const CLASS = hashName('class');
const ID = hashName('id');
const LABEL = hashName('aria-label');
const HREF = hashName('href');
const HIDDEN = hashName('aria-hidden');

/** Where the page says it is in its site: what structured data says, else the trail it shows; null without either. */
export function readBreadcrumbs(roots: readonly DataItem[], marks: PageMarks): Breadcrumbs | null {
  let best: Breadcrumbs | null = null;
  for (const list of itemsOfType(roots, (type) => type === 'BreadcrumbList' || type === 'Breadcrumb')) {
    const crumbs = crumbsOf(list);
    if (crumbs.length > (best?.crumbs.length ?? 0)) best = { from: list.source, crumbs };
  }
  return best ?? shownTrail(marks);
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

function shownTrail(marks: PageMarks): Breadcrumbs | null {
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
    return value !== null && CALLED.test(value);
  });
}

/** Links, and what stands between them and is no separator. */
function readTrail({ tree, base }: PageMarks, container: number): Crumb[] {
  const crumbs: Crumb[] = [];
  const end = tree.ends[container] as number;
  for (let node = container + 1; node < end && crumbs.length < MOST_CRUMBS; ) {
    const tag = tree.tags[node] as number;
    if (tag === TAG.a || isUnseen(tree, node)) {
      const name = tag === TAG.a ? collapse(elementText(tree, node, NAME_CHARS), NAME_CHARS) : '';
      const href = tree.attribute(node, HREF);
      const url = href === null ? null : absolute(base, href);
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
