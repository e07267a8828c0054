import { hashName, TAG } from '../html/names.ts';
import { findEmbeddedState } from '../structured/embedded/embedded-state.ts';
import { parseJsonLd } from '../structured/json-ld.ts';
import { type PageTree, RAW_TEXT } from '../tree/page-tree.ts';
import { TreeIndex } from './tree-index.ts';

/**
 * The page that rules are applied to. Fields are read only when a rule needs them, so getters may compute lazily.
 */
export interface RulePage {
  /** The parsed page; null for bodies other than HTML and XML. */
  readonly tree: PageTree | null;
  /** The base of relative URLs. */
  readonly url: string;
  /** The decoded body of the page. */
  readonly body: string;
  /** The visible text of the page. */
  readonly text: string;
  /** The body of a JSON response; undefined for anything else. */
  readonly json?: unknown;
  /** The reference time of relative dates ("3 days ago"). */
  readonly fetchedAt: number;
  /** BCP 47; decides how ambiguous numbers and dates are read. Null when unknown. */
  readonly language?: string | null;
}

const TYPE = hashName('type');
const MOST_BLOCKS = 64;

/** The searchable parts of a page, each computed once. */
export class PageSources {
  readonly page: RulePage;
  #index: TreeIndex | null | undefined;
  #jsonLd: readonly unknown[] | undefined;
  #embedded: ReadonlyMap<string, unknown> | undefined;

  constructor(page: RulePage) {
    this.page = page;
  }

  /** Null when the page has no tree. */
  get index(): TreeIndex | null {
    if (this.#index === undefined) {
      const { tree } = this.page;
      this.#index = tree === null ? null : new TreeIndex(tree);
    }
    return this.#index;
  }

  /** All blocks of JSON-LD that can be read. */
  get jsonLd(): readonly unknown[] {
    this.#jsonLd ??= this.index === null ? [] : jsonLdOf(this.index.tree);
    return this.#jsonLd;
  }

  /** The data that the page carries for its own scripts, by name. */
  get embedded(): ReadonlyMap<string, unknown> {
    this.#embedded ??= this.index === null ? new Map() : embeddedOf(this.index.tree);
    return this.#embedded;
  }
}

/** By name; of several with one name the second is `name2` and so on. */
function embeddedOf(tree: PageTree): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const counts = new Map<string, number>();
  for (const { name, value } of findEmbeddedState(tree)) {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    found.set(count === 1 ? name : `${name}${count}`, value);
  }
  return found;
}

function jsonLdOf(tree: PageTree): unknown[] {
  const blocks: unknown[] = [];
  for (let node = 1; node + 1 < tree.count && blocks.length < MOST_BLOCKS; node++) {
    if (tree.tags[node] !== TAG.script || (tree.tags[node + 1] as number) < RAW_TEXT) continue;
    if (!/^\s*application\/ld\+json/i.test(tree.attribute(node, TYPE) ?? '')) continue;
    const value = parseJsonLd(tree.text(node + 1));
    if (value !== undefined) blocks.push(value);
  }
  return blocks;
}
