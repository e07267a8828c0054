import { hash } from 'node:crypto';
import { extractContent } from '../content/extract-content.ts';
import { markupOf } from '../full/page-parts.ts';
import { BLOCK, CELL, HIDDEN, hashName, TAG, TAG_FLAGS } from '../html/names.ts';
import { Budget } from '../rules/budget.ts';
import type { Regex } from '../rules/regex.ts';
import { TreeIndex } from '../rules/tree-index.ts';
import { type PageTree, RAW_TEXT } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import {
  type CompiledDiffRules,
  type DiffRules,
  type NodeSelector,
  nodesLeft,
  selectNodes,
} from './diff-rules.ts';
import { diffFields, type FieldChange, normalized, type PageFields } from './json-diff.ts';
import { diffPictures, type PictureDiff, type PictureSummary } from './picture-diff.ts';
import { collapseText, diffText, type TextDiff, type TextDiffOptions } from './text-diff.ts';

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

const MOST_DEPTH = 8;

const SHADOW_MODE = hashName('shadowrootmode');

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

/** The fields that are watched; `clean` removes what is ignored from each text. */
export function watchFields(
  fields: PageFields,
  { watch, ignore }: WatchedNames,
  clean: (text: string) => string,
): PageFields {
  const isWatched = (name: string): boolean =>
    (watch.fields === 'all' || watch.fields.includes(name)) && !ignore.fields.includes(name);
  const cleaned = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return clean(value);
    if (typeof value !== 'object' || value === null || depth === 0) return value;
    if (Array.isArray(value)) return value.map((each) => cleaned(each, depth - 1));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cleaned(each, depth - 1)]));
  };
  const kept = Object.entries(fields).filter(([name]) => isWatched(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, normalized(cleaned(value, MOST_DEPTH))]));
}

interface WatchedNames {
  readonly watch: Pick<DiffRules['watch'], 'fields'>;
  readonly ignore: { readonly fields: readonly string[] };
}

/** The fields that changed by as much as the threshold says; only numbers have an amount. */
export function changedFields(
  a: PageFields,
  b: PageFields,
  { threshold }: Pick<CompiledDiffRules, 'threshold'>,
): FieldChange[] {
  return diffFields(a, b).filter(
    ({ share, difference }) =>
      share === undefined ||
      difference === undefined ||
      (share >= threshold.share && Math.abs(difference) >= threshold.amount),
  );
}

/**
 * The text that a reader sees of a node: a line for each block, the cells of a row on one line, white space collapsed,
 * no empty lines. Node 0 is the whole page.
 */
export function treeLines(tree: PageTree, node = 0): string[] {
  const { tags, ends } = tree;
  const lines: string[] = [];
  /** Ends of the open blocks, the innermost last. */
  const blocks: number[] = [];
  let line: string[] = [];
  const breakLine = (): void => {
    const text = collapseText(line.join(''));
    if (text !== '') lines.push(text);
    line = [];
  };
  const end = tree.isText(node) ? node + 1 : (ends[node] as number);
  for (let at = node; at < end; at += 1) {
    while (blocks.length > 0 && (blocks.at(-1) as number) <= at) {
      blocks.pop();
      breakLine();
    }
    const tag = tags[at] as number;
    if (tag >= RAW_TEXT) {
      line.push(tree.text(at));
      continue;
    }
    const flags = TAG_FLAGS[tag] as number;
    if (at !== node && (flags & HIDDEN) !== 0 && !isShadowRoot(tree, at)) {
      at = (ends[at] as number) - 1;
    } else if ((flags & CELL) !== 0) line.push(' ');
    else if ((flags & BLOCK) !== 0) {
      breakLine();
      blocks.push(ends[at] as number);
    }
  }
  breakLine();
  return lines;
}

/** A declarative shadow root is part of the page; the content of any other template is not. */
const isShadowRoot = (tree: PageTree, node: number): boolean =>
  tree.tags[node] === TAG.template && tree.attribute(node, SHADOW_MODE) !== null;

export interface TextChange {
  /** `text`, `markdown`, or the selector. */
  readonly name: string;
  readonly diff: TextDiff;
}

/** What changed between two versions of a page, by the rules. */
export interface PageComparison {
  /** True exactly when one of the lists has an entry or the picture changed: the decision is the diff. */
  readonly isChanged: boolean;
  readonly texts: readonly TextChange[];
  readonly fields: readonly FieldChange[];
  readonly picture: PictureDiff | null;
}

export type ComparisonOptions = Pick<TextDiffOptions, 'by' | 'contextChars' | 'shownChars'>;

export const NO_CHANGE: PageComparison = { isChanged: false, texts: [], fields: [], picture: null };

/** The names of what changed, as the column `fields_changed` has them. */
export function changedNames({ texts, fields, picture }: PageComparison): string[] {
  return [
    ...fields.map(({ field }) => field),
    ...texts.map(({ name }) => name),
    ...(picture === null ? [] : ['screenshot']),
  ];
}

/** The figures of a diff of pictures, without the picture of it. */
export function withoutBytes(diff: PictureDiff): PictureSummary {
  const { picture: _bytes, ...summary } = diff;
  return summary;
}

/** Throws EXTRACTION_FAILED when selectors or patterns exceed the budget of a page. */
export function comparePages(
  a: PageView,
  b: PageView,
  rules: CompiledDiffRules,
  now: () => number,
  options: ComparisonOptions = { by: 'word' },
): PageComparison {
  return compareWatched(watchPage(a, rules, now), watchPage(b, rules, now), rules, options);
}

/** The one place that decides whether a page has changed. */
export function compareWatched(
  a: WatchedPage,
  b: WatchedPage,
  { threshold }: Pick<CompiledDiffRules, 'threshold'>,
  options: ComparisonOptions = { by: 'word' },
): PageComparison {
  const reaches = (share: number, amount: number): boolean =>
    share >= threshold.share && amount >= threshold.amount;
  const isSameText = a.textHash !== null && a.textHash === b.textHash;
  const texts = textPairs(a.texts, b.texts).flatMap(({ name, before, after }): TextChange[] => {
    if (isSameText && name === 'text') return [];
    const diff = diffText(before, after, options);
    const isCounted = diff.segments.length > 0 && reaches(diff.share, diff.addedChars + diff.removedChars);
    return isCounted ? [{ name, diff }] : [];
  });
  const fields = changedFields(a.fields, b.fields, { threshold });
  const picture = pictureChange(a.screenshot, b.screenshot);
  const isPictureCounted =
    picture !== null &&
    (picture.share === null ||
      picture.changedPixels === null ||
      reaches(picture.share, picture.changedPixels));
  return {
    isChanged: texts.length > 0 || fields.length > 0 || isPictureCounted,
    texts,
    fields,
    picture: isPictureCounted ? picture : null,
  };
}

/** Null when both are the same, or one is missing: then there is nothing that could be compared. */
function pictureChange(a: Uint8Array | null, b: Uint8Array | null): PictureDiff | null {
  if (a === null || b === null || Buffer.compare(a, b) === 0) return null;
  const diff = diffPictures(a, b);
  return diff.changedPixels === 0 ? null : diff;
}

function textPairs(a: readonly WatchedText[], b: readonly WatchedText[]) {
  return a.map(({ name, text }, at) => ({ name, before: text, after: b[at]?.text ?? '' }));
}
