import { hashName, TAG, type TagName } from '../html/names.ts';
import { elementText } from '../structured/element-text.ts';
import type { PageTree } from '../tree/page-tree.ts';

const MOST_MARKED = 30_000;
const MARK_CHARS = 400;
const MARK_NAMES = [
  'class',
  'id',
  'itemprop',
  'data-testid',
  'data-test',
  'data-qa',
  'data-automation-id',
  'data-hook',
  'data-ui',
  'aria-label',
].map(hashName);
const ASIDE_TAGS = new Set([TAG.footer, TAG.aside, TAG.nav, TAG.template, TAG.noscript]);
/** Names of sections that are not about the subject of the page. */
const ASIDE =
  /(?:^|[\s_-])(?:related|recommend\w*|upsells?|up-sells|cross-?sells?|also-?(?:like|bought)|similar|recently|mini-?cart|cart-drawer|site-header|site-footer|mega-?menu|sidebar|widget-area|newsletter|cookie\w*|breadcrumbs?|people-also|more-(?:profiles|jobs)|similar-jobs)(?:$|[\s_-])/i;

export interface Marked {
  readonly node: number;
  /** Classes, id and other names of the element, in lower case, padded with spaces. */
  readonly mark: string;
}

/** The elements of a page by class, id and other names, without those in asides, menus and lists of other items. */
export class Markup {
  readonly tree: PageTree;
  readonly marked: readonly Marked[];
  readonly #aside: Uint8Array;

  constructor(tree: PageTree) {
    this.tree = tree;
    const marked: Marked[] = [];
    const aside = new Uint8Array(tree.count);
    const heading = tree.tags.indexOf(TAG.h1);
    for (let node = 1; node < tree.count; node++) {
      if (tree.isText(node)) continue;
      const mark = tree.hasAttributes(node) ? markOf(tree, node) : '';
      if (mark !== '' && marked.length < MOST_MARKED) marked.push({ node, mark });
      const end = tree.ends[node] as number;
      // An element with the main heading is no aside, whatever its name.
      const isCalled = mark !== '' && ASIDE.test(mark) && !(node < heading && heading < end);
      if (isCalled || isAsideTag(tree, node)) aside.fill(1, node, end);
    }
    this.marked = marked;
    this.#aside = aside;
  }

  isAside(node: number): boolean {
    return this.#aside[node] === 1;
  }

  /** Elements whose names match, in the order of the page. */
  named(pattern: RegExp, within = 0): number[] {
    const end = this.tree.ends[within] as number;
    return this.marked
      .filter(
        ({ node, mark }) => node >= within && node < end && this.#aside[node] === 0 && pattern.test(mark),
      )
      .map(({ node }) => node);
  }

  firstNamed(pattern: RegExp, within = 0): number | null {
    const end = this.tree.ends[within] as number;
    const found = this.marked.find(
      ({ node, mark }) => node >= within && node < end && this.#aside[node] === 0 && pattern.test(mark),
    );
    return found?.node ?? null;
  }

  /** The text of the first element with such a name that has any. */
  textNamed(pattern: RegExp, limit = 1_000, within = 0): string | null {
    const found = this.named(pattern, within).slice(0, 20);
    return found.map((node) => elementText(this.tree, node, limit)).find((text) => text !== '') ?? null;
  }

  /** Elements by tag, also in asides when `isEverywhere`. */
  tagged(tag: TagName, within = 0, isEverywhere = false): number[] {
    const found: number[] = [];
    const end = this.tree.ends[within] as number;
    const wanted = TAG[tag];
    for (let node = within; node < end && found.length < 5_000; node++) {
      if (this.tree.tags[node] === wanted && (isEverywhere || this.#aside[node] === 0)) found.push(node);
    }
    return found;
  }

  /** The main heading; null without one. */
  get heading(): number | null {
    const [first] = this.tagged('h1').filter((node) => elementText(this.tree, node, 50) !== '');
    return (
      first ?? this.tagged('h1', 0, true).find((node) => elementText(this.tree, node, 50) !== '') ?? null
    );
  }

  text(node: number | null, limit = 1_000): string | null {
    return node === null ? null : elementText(this.tree, node, limit) || null;
  }

  attribute(node: number, name: string): string | null {
    return this.tree.attribute(node, hashName(name));
  }
}

/** True for asides and menus, and for footers of the page; the footer of an article has author and date. */
function isAsideTag(tree: PageTree, node: number): boolean {
  const tag = tree.tags[node] as number;
  if (tag === TAG.footer) {
    for (let up = tree.parents[node] as number; up > 0; up = tree.parents[up] as number) {
      if (tree.tags[up] === TAG.article) return false;
    }
  }
  return ASIDE_TAGS.has(tag);
}

function markOf(tree: PageTree, node: number): string {
  let mark = '';
  for (const name of MARK_NAMES) {
    const value = tree.attribute(node, name);
    if (value !== null && value !== '') mark += ` ${value.slice(0, MARK_CHARS)}`;
  }
  return mark === '' ? '' : `${mark.toLowerCase()} `;
}

const TABLES =
  /[\s_-](?:attributes?|specs?|specifications?|technical|data-sheet|datasheet|features|additional-attributes|details|properties)[\s_-]/;
const MOST_ROWS = 100;
const NAME_CHARS = 80;

/** Names and values from tables of two columns and lists of terms that are named as technical data. */
export function attributeRows(markup: Markup): Record<string, string> {
  const rows: Record<string, string> = {};
  const add = (name: string, value: string): void => {
    const key = name.replace(/\s*:$/, '');
    if (key === '' || value === '' || key.length > NAME_CHARS || Object.hasOwn(rows, key)) return;
    if (Object.keys(rows).length < MOST_ROWS && key !== '__proto__') rows[key] = value;
  };
  const { tree } = markup;
  for (const node of markup.named(TABLES).slice(0, 20)) {
    for (const row of markup.tagged('tr', node)) {
      const cells = cellsOf(markup, row);
      if (cells.length === 2) add(cells[0] as string, cells[1] as string);
    }
    const terms = markup.tagged('dt', node);
    for (const term of terms) {
      const next = tree.nextSibling(term);
      if (next >= 0 && tree.tags[next] === TAG.dd)
        add(elementText(tree, term, NAME_CHARS), elementText(tree, next, 300));
    }
  }
  return rows;
}

function cellsOf({ tree }: Markup, row: number): string[] {
  const cells: string[] = [];
  for (let node = tree.firstChild(row); node >= 0 && cells.length < 4; node = tree.nextSibling(node)) {
    if (tree.tags[node] === TAG.td || tree.tags[node] === TAG.th) cells.push(elementText(tree, node, 300));
  }
  return cells;
}

const SOURCES = ['data-large_image', 'data-zoom-image', 'data-image-large-src', 'data-src', 'src'].map(
  hashName,
);
const MOST_PICTURES = 50;

/** Addresses of the pictures in an element, the largest that is named of each. */
export function picturesIn(markup: Markup, node: number): string[] {
  const images = markup.tagged('img', node, true).slice(0, MOST_PICTURES);
  return images.flatMap((image) => {
    const urls = SOURCES.map((name) => markup.tree.attribute(image, name));
    const url = urls.find((value) => value && !value.startsWith('data:'));
    return url ? [url] : [];
  });
}
