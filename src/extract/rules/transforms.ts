import { BaseUrl } from '../html/links.ts';
import { HIDDEN, TAG_FLAGS, VOID } from '../html/names.ts';
import { elementText } from '../structured/element-text.ts';
import { type PageTree, RAW_TEXT, TEXT } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import type { Budget } from './budget.ts';
import { compileJsonPath } from './jsonpath/jsonpath.ts';
import type { RulePage } from './page-sources.ts';
import { checkReplacement, compileRegex, regexValue } from './regex.ts';
import type { NAMED_TRANSFORMS, TransformInput } from './rule-schema.ts';
import { RULE_LIMITS, RuleSyntaxError } from './rule-text.ts';

interface TransformContext {
  readonly page: RulePage;
  readonly budget: Budget;
}

/** Changes a value; null means no value. Throws only when the budget is exceeded. */
export type CompiledTransform = (value: unknown, context: TransformContext) => unknown;

type NamedTransform = (typeof NAMED_TRANSFORMS)[number];

/** Throws RuleSyntaxError for invalid transforms, with the key of the transform in `key`. */
export function compileTransform(input: TransformInput): CompiledTransform {
  if (typeof input === 'string') return NAMED[input];
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  if (given.length !== 1)
    throw new RuleSyntaxError(null, 'Each transform is one thing; put several into the list.');
  const { replace, match, split, join, slice, template, map, jsonpath } = input;
  if (replace !== undefined) {
    const regex = compileRegex(replace.pattern, replace.flags);
    checkReplacement(replace.with, regex);
    return eachText((text, { budget }) => regex.replace(text, replace.with, !replace.first, budget));
  }
  if (match !== undefined) {
    const {
      pattern,
      flags,
      group = null,
    } = typeof match === 'string' ? { pattern: match, flags: undefined } : match;
    const regex = compileRegex(pattern, flags);
    checkGroup(regex, group);
    return eachText((text, { budget }) => {
      const [found] = regex.find(text, 1, budget);
      return found === undefined ? null : regexValue(regex, found, group);
    });
  }
  if (split !== undefined) return splitter(split);
  if (join !== undefined) {
    return (value, { budget }) => {
      if (!Array.isArray(value)) return value;
      const texts = value.map((each) => scalarText(each) ?? '');
      budget.spend(texts.reduce((sum, text) => sum + text.length + join.length, 0) >>> 3);
      return texts.join(join).slice(0, RULE_LIMITS.valueChars);
    };
  }
  if (slice !== undefined) {
    const [from, to] = slice;
    return (value) => (Array.isArray(value) || typeof value === 'string' ? value.slice(from, to) : value);
  }
  if (template !== undefined) {
    const fill = compileTemplate(template);
    return each((value, { page }) => (value === null ? null : fill(value, page.url)));
  }
  if (map !== undefined) {
    const table = new Map<string, unknown>(Object.entries(map));
    return each((value) => {
      const key = scalarText(value);
      return key !== null && table.has(key) ? table.get(key) : value;
    });
  }
  if (jsonpath !== undefined) {
    const query = compileJsonPath(jsonpath);
    return each((value, { budget }) => {
      const json = typeof value === 'string' ? parsedJson(value) : value;
      return query.find(json, 1, budget)[0] ?? null;
    });
  }
  const fallback: unknown = input.default;
  return (value) => (isNothing(value) ? fallback : value);
}

export function checkGroup(
  regex: { groupCount: number; names: ReadonlyMap<string, number> },
  group: string | number | null,
): void {
  const isKnown =
    group === null || (typeof group === 'number' ? group <= regex.groupCount : regex.names.has(group));
  if (!isKnown) throw new RuleSyntaxError(null, `The pattern has no group \`${group}\`.`);
}

/** Null, an empty text or an empty list. */
export function isNothing(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** The text of a scalar value; null for objects, lists and null. */
export function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

type Change = (value: unknown, context: TransformContext) => unknown;

/** Applies a change to every value of a list. */
function each(change: Change): CompiledTransform {
  return (value, context) => {
    context.budget.spend(1);
    if (!Array.isArray(value)) return change(value, context);
    context.budget.spend(value.length);
    return value.map((one: unknown) => change(one, context));
  };
}

function eachText(change: (text: string, context: TransformContext) => unknown): CompiledTransform {
  return each((value, context) => {
    const text = scalarText(value);
    if (text === null) return value;
    context.budget.spend(text.length >>> 4);
    return change(text, context);
  });
}

function splitter(split: string | { pattern: string; flags?: string | undefined }): CompiledTransform {
  const most = RULE_LIMITS.listItems;
  const cut =
    typeof split === 'string'
      ? (text: string): string[] => text.split(split, most)
      : (
          (regex) =>
          (text: string, { budget }: TransformContext) =>
            regex.split(text, most, budget)
        )(compileRegex(split.pattern, split.flags));
  return (value, context) => {
    const parts = (one: unknown): unknown[] => {
      const text = scalarText(one);
      context.budget.spend((text?.length ?? 0) >>> 4);
      return text === null ? [] : cut(text, context);
    };
    return Array.isArray(value) ? value.flatMap(parts).slice(0, most) : value === null ? null : parts(value);
  };
}

const SPACES = /[\s\u00a0]+/g;

const NAMED: Readonly<Record<NamedTransform, CompiledTransform>> = {
  trim: eachText((text) => text.trim()),
  lower: eachText((text) => text.toLowerCase()),
  upper: eachText((text) => text.toUpperCase()),
  collapse: eachText((text) => text.replace(SPACES, ' ').trim()),
  stripTags: eachText((text, { budget }) => {
    budget.spend(text.length);
    return text.includes('<') || text.includes('&') ? nodeText(buildTree(text), 0, budget) : text;
  }),
  absoluteUrl: eachText((text, { page }) => BaseUrl.parse(page.url)?.resolve(text.trim()) ?? null),
  unique: (value, { budget }) => {
    if (!Array.isArray(value)) return value;
    const seen = new Set<string>();
    return value.filter((one: unknown) => {
      const key = JSON.stringify(one) ?? '';
      budget.spend(1 + (key.length >>> 4));
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  },
  first: (value) => (Array.isArray(value) ? ((value as unknown[])[0] ?? null) : value),
  last: (value) => (Array.isArray(value) ? ((value as unknown[]).at(-1) ?? null) : value),
};

const PLACE = /\{([^{}]*)\}/g;

/** A template with placeholders: `{value}`, `{value.name}` for a property, `{url}` of the page. Throws RuleSyntaxError for others. */
function compileTemplate(template: string): (value: unknown, url: string) => string {
  for (const { 1: name = '', index } of template.matchAll(PLACE)) {
    if (name !== 'url' && name !== 'value' && !/^value\.\w+$/.test(name)) {
      throw new RuleSyntaxError(
        index,
        `There is no \`{${name}}\`; the places are {value}, {value.name} and {url}.`,
      );
    }
  }
  return (value, url) =>
    template
      .replace(PLACE, (_whole, name: string) => {
        if (name === 'url') return url;
        return written(name === 'value' ? value : partOf(value, name.slice('value.'.length)));
      })
      .slice(0, RULE_LIMITS.valueChars);
}

function partOf(value: unknown, name: string): unknown {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isThere ? (value as Record<string, unknown>)[name] : null;
}

function written(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * The visible text of a node on one line. For scripts, titles and other hidden elements, their raw text.
 */
export function nodeText(tree: PageTree, node: number, budget: Budget): string {
  const tag = tree.tags[node] as number;
  const isHidden = node > 0 && tag < RAW_TEXT && ((TAG_FLAGS[tag] as number) & HIDDEN) !== 0;
  if (isHidden) return rawText(tree, node, budget).trim();
  budget.spend((tree.ends[node] as number) - node);
  const text = elementText(tree, node, RULE_LIMITS.valueChars);
  budget.spend(text.length >>> 4);
  return text;
}

/** All text inside, white space and scripts included. */
export function rawText(tree: PageTree, node: number, budget: Budget): string {
  const isText = (tree.tags[node] as number) >= RAW_TEXT;
  const end = isText ? node + 1 : (tree.ends[node] as number);
  budget.spend(end - node);
  let text = '';
  for (let at = isText ? node : node + 1; at < end && text.length < RULE_LIMITS.valueChars; at++) {
    if ((tree.tags[at] as number) >= RAW_TEXT) text += tree.text(at);
  }
  budget.spend(text.length >>> 4);
  return text.length > RULE_LIMITS.valueChars ? text.slice(0, RULE_LIMITS.valueChars) : text;
}

/** The outer or inner HTML of a node. */
export function elementHtml(tree: PageTree, node: number, isOuter: boolean, budget: Budget): string {
  const { tags, ends } = tree;
  const isText = (tags[node] as number) >= RAW_TEXT;
  const from = isText || (isOuter && node > 0) ? node : node + 1;
  const to = isText ? node + 1 : (ends[node] as number);
  budget.spend(to - from);
  const open: number[] = [];
  let html = '';
  const closeUpTo = (place: number): void => {
    while (open.length > 0 && (ends[open.at(-1) as number] as number) <= place) {
      html += `</${tree.name(open.pop() as number)}>`;
    }
  };
  for (let at = from; at < to && html.length < RULE_LIMITS.valueChars; at++) {
    closeUpTo(at);
    const tag = tags[at] as number;
    if (tag >= RAW_TEXT) {
      html += tag === TEXT ? escapeText(tree.text(at)) : tree.text(at);
      continue;
    }
    html += startTag(tree, at);
    if (((TAG_FLAGS[tag] as number) & VOID) === 0) open.push(at);
  }
  closeUpTo(to);
  budget.spend(html.length >>> 4);
  return html;
}

export function startTag(tree: PageTree, node: number): string {
  let tag = `<${tree.name(node)}`;
  for (const [name, value] of tree.attributes(node)) tag += ` ${name}="${escapeAttribute(value)}"`;
  return `${tag}>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
}
