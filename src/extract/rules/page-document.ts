import { hashName } from '../html/names.ts';
import { elementText } from '../structured/element-text.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import { Budget } from './budget.ts';
import { type CompiledSelector, compileSelector } from './css/compile-selector.ts';
import { TreeIndex } from './tree-index.ts';

const MOST_ELEMENTS = 10_000;
const MOST_CHARS = 1_000_000;

/**
 * A page that can be asked by CSS selectors, for extractors that are written as functions. A selector that cannot be parsed
 * throws RuleSyntaxError; selectors that cost more than the budget of a page together throw EXTRACTION_FAILED.
 */
export class PageDocument {
  /** The URL of the response, after redirects. */
  readonly url: string;
  readonly #index: TreeIndex;
  readonly #budget: Budget;
  readonly #selectors = new Map<string, CompiledSelector>();

  constructor(url: string, tree: PageTree, now: () => number) {
    this.url = url;
    this.#index = new TreeIndex(tree);
    this.#budget = new Budget({ now });
  }

  /** The text of the first element; null when none matches or it has no text. */
  text(css: string): string | null {
    const [first] = this.#select(css, 1);
    return first === undefined ? null : this.#textOf(first) || null;
  }

  /** The texts of all elements, in the order of the page, without empty ones. */
  texts(css: string): string[] {
    return this.#select(css, MOST_ELEMENTS)
      .map((node) => this.#textOf(node))
      .filter((text) => text !== '');
  }

  /** An attribute of the first element that matches; null when it has none. */
  attribute(css: string, name: string): string | null {
    const [first] = this.#select(css, 1);
    return first === undefined ? null : this.#index.tree.attribute(first, hashName(name));
  }

  /** The attribute of every element that has it. */
  attributes(css: string, name: string): string[] {
    const hash = hashName(name);
    return this.#select(css, MOST_ELEMENTS).flatMap((node) => this.#index.tree.attribute(node, hash) ?? []);
  }

  #textOf(node: number): string {
    return elementText(this.#index.tree, node, MOST_CHARS);
  }

  #select(css: string, limit: number): readonly number[] {
    let selector = this.#selectors.get(css);
    if (selector === undefined) {
      selector = compileSelector(css);
      this.#selectors.set(css, selector);
    }
    this.#budget.at = css;
    return selector.select(this.#index, 0, limit, this.#budget);
  }
}

export const documentOf = (url: string, html: string, now: () => number): PageDocument =>
  new PageDocument(url, buildTree(html), now);
