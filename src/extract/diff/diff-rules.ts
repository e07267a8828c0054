import { z } from 'zod';
import type { Budget } from '../rules/budget.ts';
import { type CompiledSelector, compileSelector } from '../rules/css/compile-selector.ts';
import {
  addRegexExcess,
  compileRegex,
  MAX_REGEX_EXCESS,
  type Regex,
  type RegexExcess,
} from '../rules/regex.ts';
import { RuleSyntaxError } from '../rules/rule-text.ts';
import { TreeIndex } from '../rules/tree-index.ts';
import { type CompiledXPath, compileXPath, type XPathItem } from '../rules/xpath/xpath.ts';
import type { PageTree } from '../tree/page-tree.ts';

const MOST_ENTRIES = 50;
const MOST_CHARS = 1_000;
const MOST_NAME_CHARS = 200;

const entries = (chars: number) => z.array(z.string().min(1).max(chars)).max(MOST_ENTRIES);

const XPATH = /^\s*(?:\.?\/|\()/;

const selectors = entries(MOST_CHARS).superRefine((list, context) => {
  for (const [at, selector] of list.entries()) {
    const message = problemOf(() => compileNodeSelector(selector));
    if (message !== null) context.addIssue({ code: 'custom', path: [at], message, input: selector });
  }
});

const patterns = entries(MOST_CHARS).superRefine((list, context) => {
  const total: RegexExcess = { instructions: 0, unicodeClasses: 0 };
  for (const [at, pattern] of list.entries()) {
    addRegexExcess(pattern, total);
    const isExpensive =
      total.instructions > MAX_REGEX_EXCESS.instructions ||
      total.unicodeClasses > MAX_REGEX_EXCESS.unicodeClasses;
    const message = isExpensive
      ? 'The repetitions of the patterns are too large together.'
      : problemOf(() => compileRegex(pattern));
    if (message === null) continue;
    context.addIssue({ code: 'custom', path: [at], message, input: pattern });
    if (isExpensive) return;
  }
});

/** Watched unless a rule says otherwise. */
export const DEFAULT_FIELDS: readonly string[] = ['title', 'price', 'currency', 'availability'];

const watchSchema = z
  .strictObject({
    text: z.boolean().default(false).describe('The visible text of the page.'),
    markdown: z
      .boolean()
      .default(false)
      .describe('The main content as Markdown, which has the addresses of links as well.'),
    selectors: selectors
      .default([])
      .describe(
        'The text of the elements that a CSS selector or an XPath expression (one that begins with `/`, `(` or `./`) finds, each for itself.',
      ),
    fields: z
      .union([z.literal('all'), entries(MOST_NAME_CHARS)])
      .default([])
      .describe(
        'Values by name: `title`, `price`, `currency`, `availability`, and extracted fields; or `all`.',
      ),
    screenshot: z.boolean().default(false).describe('The pixels of the screenshot.'),
  })
  .refine(
    ({ text, markdown, selectors: list, fields, screenshot }) =>
      text || markdown || screenshot || list.length > 0 || fields.length > 0,
    'Name at least one thing to watch.',
  )
  .meta({ id: 'WatchRules' })
  .default({ text: true, markdown: false, selectors: [], fields: [...DEFAULT_FIELDS], screenshot: false })
  .describe(
    'What of a page is compared. Unless given: the text, the title, and the price with its currency and availability.',
  )
  .meta({ examples: [{ text: true, fields: ['title', 'price', 'availability'] }] });

const ignoreSchema = z
  .strictObject({
    patterns: patterns
      .default([])
      .describe(
        'Regular expressions (RE2) whose matches are removed from each line and from each text of a field.',
      ),
    selectors: selectors.default([]).describe('Elements, by CSS or XPath, that are removed from the page.'),
    fields: entries(MOST_NAME_CHARS).default([]).describe('Fields that are not compared.'),
  })
  .meta({ id: 'IgnoreRules' })
  .default({ patterns: [], selectors: [], fields: [] })
  .describe('What never counts as a change.')
  .meta({ examples: [{ patterns: ['\\d+ visitors'], selectors: ['.ad', 'footer'] }] });

const thresholdSchema = z
  .strictObject({
    share: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .describe('Least share that changes: of the characters, of the larger number, of the pixels.'),
    amount: z
      .number()
      .min(0)
      .max(1e12)
      .default(0)
      .describe('Least amount that changes: characters, the difference of two numbers, pixels.'),
  })
  .meta({ id: 'ChangeThreshold' })
  .default({ share: 0, amount: 0 })
  .describe(
    'Smaller changes do not count. Each thing that is watched is measured for itself and must reach both. A field that is no number counts however little of it changes.',
  )
  .meta({ examples: [{ share: 0.05 }] });

/** Which parts of two pages are compared, which are ignored, and how much has to change. */
export const diffRulesSchema = z.strictObject({
  watch: watchSchema,
  ignore: ignoreSchema,
  threshold: thresholdSchema,
});

export type DiffRules = z.output<typeof diffRulesSchema>;

export const DEFAULT_RULES: DiffRules = diffRulesSchema.parse({});

/** Rules ready to run on any page. */
export interface CompiledDiffRules {
  readonly watch: Omit<DiffRules['watch'], 'selectors'> & { readonly selectors: readonly NodeSelector[] };
  readonly ignore: {
    readonly patterns: readonly Regex[];
    readonly selectors: readonly NodeSelector[];
    readonly fields: readonly string[];
  };
  readonly threshold: DiffRules['threshold'];
}

/** For rules that the schema has accepted. */
export function compileDiffRules({ watch, ignore, threshold }: DiffRules): CompiledDiffRules {
  return {
    watch: { ...watch, selectors: watch.selectors.map(compileNodeSelector) },
    ignore: {
      patterns: ignore.patterns.map((pattern) => compileRegex(pattern)),
      selectors: ignore.selectors.map(compileNodeSelector),
      fields: ignore.fields,
    },
    threshold,
  };
}

function compileNodeSelector(source: string): NodeSelector {
  return XPATH.test(source)
    ? { kind: 'xpath', source, xpath: compileXPath(source) }
    : { kind: 'css', source, selector: compileSelector(source) };
}

function problemOf(compile: () => unknown): string | null {
  try {
    compile();
    return null;
  } catch (error) {
    if (!(error instanceof RuleSyntaxError)) throw error;
    return error.position === null ? error.message : `Column ${error.position + 1}: ${error.message}`;
  }
}

/** Chooses elements of a page, by CSS or XPath. */
export type NodeSelector =
  | { readonly kind: 'css'; readonly source: string; readonly selector: CompiledSelector }
  | { readonly kind: 'xpath'; readonly source: string; readonly xpath: CompiledXPath };

/** What a selector finds on a page, in document order; attributes and computed values as values. */
export function selectNodes(selector: NodeSelector, index: TreeIndex, budget: Budget): readonly XPathItem[] {
  budget.at = selector.source;
  const { count } = index.tree;
  if (selector.kind === 'xpath') return selector.xpath.find(index, 0, count, budget);
  return selector.selector.select(index, 0, count, budget).map((node) => ({ kind: 'node', node }));
}

/** By node: 1 for those that no selector finds; null when every node is left. */
export function nodesLeft(
  tree: PageTree,
  selectors: readonly NodeSelector[],
  budget: Budget,
): Uint8Array | null {
  if (selectors.length === 0) return null;
  const index = new TreeIndex(tree);
  const left = new Uint8Array(tree.count).fill(1);
  let isWhole = true;
  for (const selector of selectors) {
    for (const found of selectNodes(selector, index, budget)) {
      if (found.kind !== 'node' || found.node === 0) continue;
      left.fill(0, found.node, tree.isText(found.node) ? found.node + 1 : tree.ends[found.node]);
      isWhole = false;
    }
  }
  return isWhole ? null : left;
}
