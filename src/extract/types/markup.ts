import { hashName } from '../name-table.ts';
import { elementText } from '../structured/element-text.ts';
import { TAG, type TagName } from '../tag.ts';
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
/** Parts of a page that are about other things than its subject. */
const ASIDE =
  /(?:^|[\s_-])(?:related|recommend\w*|upsells?|up-sells|cross-?sells?|also-?(?:like|bought)|similar|recently|mini-?cart|cart-drawer|site-header|site-footer|mega-?menu|sidebar|widget-area|newsletter|cookie\w*|breadcrumbs?|people-also|more-(?:profiles|jobs)|similar-jobs)(?:$|[\s_-])/i;

export interface Marked {
  readonly node: number;
  /** Classes, id and the other names authors give an element, in lower case, with spaces around. */
  readonly mark: string;
}

/** The elements of a page by the names their authors gave them. What is in asides, menus and lists of other things is left out. */
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
      // What holds the main heading is not beside the point, whatever it is called.
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

  /** The text of the first element with such a name that shows any. */
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

/** The end of an article says who wrote it and when; the end of a page belongs to the site. */
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
