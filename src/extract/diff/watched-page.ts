import { hash } from 'node:crypto';
import { extractContent } from '../content/extract-content.ts';
import { markupOf } from '../full/page-parts.ts';
import { Budget } from '../rules/budget.ts';
import type { Regex } from '../rules/regex.ts';
import { TreeIndex } from '../rules/tree-index.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import type { CompiledDiffRules } from './diff-rules.ts';
import type { PageFields } from './field-diff.ts';
import { type NodeSelector, nodesLeft, selectNodes } from './node-selector.ts';
import { collapseText } from './text-diff.ts';
import { treeLines } from './tree-lines.ts';
import { watchFields } from './watched-fields.ts';

/** A stored page, as far as it is compared. Plain data: it is sent to another thread. */
export interface PageView {
  readonly url: string;
  /** The decoded body; null for a body that is not text, or is not kept. */
  readonly body: string | null;
  readonly isHtml: boolean;
  /** Hash of the whole visible text, as the crawl computed it; null when it is not known. */
  readonly textHash: string | null;
  readonly fields: PageFields;
  /** PNG; null without one. */
  readonly screenshot: Uint8Array | null;
}

/** A text that is watched. */
export interface WatchedText {
  /** `text`, `markdown`, or the selector. */
  readonly name: string;
  readonly text: string;
}

/** What the rules leave of a page: all that a decision, a diff and a notification know of it. */
export interface WatchedPage {
  /** Null when the whole text is not watched, or its hash is not known. */
  readonly textHash: string | null;
  readonly texts: readonly WatchedText[];
  readonly fields: PageFields;
  readonly screenshot: Uint8Array | null;
}

/** Throws EXTRACTION_FAILED when selectors or patterns exceed the budget of a page. */
export function watchPage(page: PageView, rules: CompiledDiffRules, now: () => number): WatchedPage {
  const { watch, ignore } = rules;
  const budget = new Budget({ now });
  const needsBody = watch.text || watch.markdown || watch.selectors.length > 0;
  const without = (text: string): string => withoutMatches(text, ignore.patterns, budget);
  const texts = needsBody ? textsOf(page, rules, budget) : [];
  return {
    textHash: watch.text ? page.textHash : null,
    texts: texts.map(({ name, text }) => ({ name, text: without(text) })),
    fields: watchFields(page.fields, rules, without),
    screenshot: watch.screenshot ? page.screenshot : null,
  };
}

function textsOf(page: PageView, { watch, ignore }: CompiledDiffRules, budget: Budget): WatchedText[] {
  const names = [
    ...(watch.text ? ['text'] : []),
    ...(watch.markdown ? ['markdown'] : []),
    ...watch.selectors.map(({ source }) => source),
  ];
  if (page.body === null) return names.map((name) => ({ name, text: '' }));
  if (!page.isHtml) {
    const { body } = page;
    return names.map((name, at) => ({ name, text: at < 1 || name === 'markdown' ? body : '' }));
  }
  const whole = buildTree(page.body);
  const left = nodesLeft(whole, ignore.selectors, budget);
  const tree = left === null ? whole : buildTree(markupOf(whole, left));
  return [
    ...(watch.text ? [{ name: 'text', text: treeLines(tree).join('\n') }] : []),
    ...(watch.markdown ? [{ name: 'markdown', text: extractContent(tree, page.url).markdown }] : []),
    ...watch.selectors.map((selector) => ({
      name: selector.source,
      text: selectedText(tree, selector, budget),
    })),
  ];
}

function selectedText(tree: PageTree, selector: NodeSelector, budget: Budget): string {
  const lines = selectNodes(selector, new TreeIndex(tree), budget).flatMap((found) => {
    if (found.kind === 'value') return [String(found.value)];
    const to = tree.isText(found.node) ? found.node + 1 : (tree.ends[found.node] as number);
    budget.spend(to - found.node);
    return treeLines(tree, found.node);
  });
  return lines.join('\n');
}

/** Line by line, so that `^`, `$` and `.*` mean a line. Lines of which nothing is left are dropped. */
export function withoutMatches(text: string, patterns: readonly Regex[], budget: Budget): string {
  if (patterns.length === 0) return text;
  budget.at = 'ignore.patterns';
  const lines = text.split('\n').flatMap((line) => {
    const rest = patterns.reduce((left, pattern) => pattern.replace(left, '', true, budget), line);
    return rest === line || rest.trim() !== '' ? [rest] : [];
  });
  return lines.join('\n');
}

/**
 * Equal for two pages exactly when a comparison without a threshold finds no change between them. Two exceptions are
 * decided by the comparison alone: whole texts of the same hash, and pictures of the same pixels in other bytes.
 */
export function fingerprintOf({ texts, fields, screenshot }: WatchedPage): string {
  const values = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const parts = {
    texts: texts.map(({ name, text }) => [name, collapseText(text)]),
    fields: values.map(([name, value]) => [name, sortedJson(value)]),
    screenshot: screenshot === null ? null : hash('sha256', screenshot),
  };
  return hash('sha256', JSON.stringify(parts));
}

/** JSON with the names of objects in order. */
const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
