import { escapeText } from 'entities/escape';
import type { PartOptions } from '../../core/model/extraction.ts';
import { extractContent, type PageContent } from '../content/extract-content.ts';
import { baseOf } from '../content/render/content-nodes.ts';
import { TAG, TAG_FLAGS, VOID } from '../html/names.ts';
import { HtmlScanner } from '../html/scanner.ts';
import type { Budget } from '../rules/budget.ts';
import { type CompiledSelector, compileSelector } from '../rules/css/compile-selector.ts';
import { startTag } from '../rules/transforms.ts';
import { TreeIndex } from '../rules/tree-index.ts';
import { cleanHtml } from '../scan/clean-html.ts';
import { type PageTree, RAW_TEXT, TEXT } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';

export interface CompiledParts {
  readonly onlyMain: boolean;
  readonly include: readonly CompiledSelector[];
  readonly exclude: readonly CompiledSelector[];
}

/** Throws RuleSyntaxError for a selector that cannot be parsed. */
export function compileParts({ onlyMain, includeTags, excludeTags }: PartOptions): CompiledParts {
  return { onlyMain, include: includeTags.map(compileSelector), exclude: excludeTags.map(compileSelector) };
}

const scanner = new HtmlScanner();

/** The parts of one page that a request asks for. Throws EXTRACTION_FAILED when the selectors exceed the budget. */
export class SelectedParts {
  readonly #tree: PageTree;
  readonly #url: string;
  readonly #parts: CompiledParts;
  /** For each node, 1 when the node is selected. */
  readonly #selected: Uint8Array;

  constructor(tree: PageTree, url: string, parts: CompiledParts, budget: Budget) {
    this.#tree = tree;
    this.#url = url;
    this.#parts = parts;
    this.#selected = selectNodes(tree, parts, budget);
  }

  /** Without any selector, the page itself is selected, and the one pass over every page has its HTML. */
  get hasSelectors(): boolean {
    return this.#parts.include.length + this.#parts.exclude.length > 0;
  }

  /** The selected elements without scripts and styles; URLs are absolute. */
  html(): string {
    const base = baseOf(this.#tree, this.#url);
    return cleanHtml(scanner, markupOf(this.#tree, this.#selected), base).html;
  }

  content(contentLanguage: string | null): PageContent {
    const { onlyMain, include } = this.#parts;
    if (include.length > 0 || !onlyMain) {
      const nodes = withAncestors(this.#tree, this.#selected);
      return extractContent(this.#tree, this.#url, { contentLanguage, nodes });
    }
    // The main content is searched for in the page as if the removed elements had never been part of it.
    const rest = buildTree(markupOf(this.#tree, this.#selected));
    return extractContent(rest, this.#url, { contentLanguage });
  }
}

function selectNodes(tree: PageTree, { include, exclude }: CompiledParts, budget: Budget): Uint8Array {
  const index = new TreeIndex(tree);
  const selected = new Uint8Array(tree.count);
  if (include.length === 0) selected.fill(1);
  const mark = (selectors: readonly CompiledSelector[], value: 0 | 1, name: string): void => {
    budget.at = name;
    for (const selector of selectors) {
      for (const node of selector.select(index, 0, tree.count, budget)) {
        selected.fill(value, node, tree.ends[node]);
      }
    }
  };
  mark(include, 1, 'includeTags');
  mark(exclude, 0, 'excludeTags');
  return selected;
}

/** The walk over content descends only into kept elements. Fallbacks for browsers without scripts are not shown. */
function withAncestors(tree: PageTree, selected: Uint8Array): Uint8Array {
  const nodes = selected.slice();
  for (let node = tree.count - 1; node > 0; node--) {
    if (nodes[node] === 1) nodes[tree.parents[node] as number] = 1;
  }
  for (let node = 1; node < tree.count; node++) if (tree.tags[node] === TAG.noscript) nodes[node] = 0;
  return nodes;
}

/** Elements whose text is written as it is. */
const RAW_ELEMENTS: ReadonlySet<number> = new Set([
  TAG.script,
  TAG.style,
  TAG.xmp,
  TAG.iframe,
  TAG.noembed,
  TAG.noframes,
  TAG.plaintext,
]);

/** The selected nodes as HTML, in document order. */
export function markupOf(tree: PageTree, selected: Uint8Array): string {
  const { tags, ends, starts, stops, parents } = tree;
  const open: number[] = [];
  const pieces: string[] = [];
  const closeUpTo = (node: number): void => {
    while (open.length > 0 && (ends[open.at(-1) as number] as number) <= node) {
      pieces.push(`</${tree.name(open.pop() as number)}>`);
    }
  };
  for (let node = 1; node < tree.count; node++) {
    if (selected[node] !== 1) continue;
    closeUpTo(node);
    const tag = tags[node] as number;
    if (tag >= RAW_TEXT) {
      const text = tree.html.slice(starts[node], stops[node]);
      const isMarkup = tag === TEXT || RAW_ELEMENTS.has(tags[parents[node] as number] as number);
      pieces.push(isMarkup ? text : escapeText(text));
      continue;
    }
    pieces.push(startTag(tree, node));
    if (((TAG_FLAGS[tag] as number) & VOID) === 0) open.push(node);
  }
  closeUpTo(tree.count);
  return pieces.join('');
}
