import { hashName } from '../html/names.ts';
import { RAW_TEXT } from '../tree/page-tree.ts';
import type { Budget } from './budget.ts';
import type { CompiledAlternative, Source } from './compile-alternative.ts';
import type { PageSources } from './page-sources.ts';
import { type Regex, type RegexMatch, regexValue } from './regex.ts';
import { elementHtml, nodeText, parsedJson, rawText, scalarText } from './transforms.ts';

/** A match of a rule, from which its fields are read. */
export type RuleMatch =
  | { readonly kind: 'page' }
  | { readonly kind: 'node'; readonly node: number }
  | {
      readonly kind: 'match';
      readonly regex: Regex;
      readonly match: RegexMatch;
      readonly group: string | number | null;
    }
  | { readonly kind: 'value'; readonly value: unknown };

/** The matches of a rule inside an outer match, in order, at most `limit`. */
export function findMatches(
  { finder, from }: CompiledAlternative,
  around: RuleMatch,
  limit: number,
  sources: PageSources,
  budget: Budget,
): RuleMatch[] {
  switch (finder.kind) {
    case 'const':
      return [{ kind: 'value', value: finder.value }];
    case 'self':
      return [around];
    case 'css':
    case 'xpath': {
      const { index } = sources;
      const node = from.kind === 'around' ? nodeOf(around) : 0;
      if (index === null || node === null) return [];
      if (finder.kind === 'css') {
        return finder.selector
          .select(index, node, limit, budget)
          .map((found) => ({ kind: 'node', node: found }));
      }
      return finder.xpath.find(index, node, limit, budget);
    }
    case 'regex': {
      const text = textAround(from, around, sources, budget);
      if (text === null) return [];
      const { regex, group } = finder;
      return regex.find(text, limit, budget).map((match) => ({ kind: 'match', regex, match, group }));
    }
    case 'jsonpath':
      return finder.query
        .find(jsonAround(from, around, sources, budget), limit, budget)
        .map((value) => ({ kind: 'value', value }));
  }
}

/** The value that a rule takes from a match; null without one. */
export function valueOfMatch(
  { attribute }: CompiledAlternative,
  ruleMatch: RuleMatch,
  sources: PageSources,
  budget: Budget,
): unknown {
  if (ruleMatch.kind === 'value') return ruleMatch.value ?? null;
  if (ruleMatch.kind === 'match') return regexValue(ruleMatch.regex, ruleMatch.match, ruleMatch.group);
  const { index } = sources;
  const node = nodeOf(ruleMatch);
  if (index === null || node === null) return null;
  const { tree } = index;
  switch (attribute) {
    case 'text':
      return nodeText(tree, node, budget);
    case 'rawText':
      return rawText(tree, node, budget);
    case 'html':
    case 'outerHtml':
      return elementHtml(tree, node, attribute === 'outerHtml', budget);
    default:
      return node === 0 || (tree.tags[node] as number) >= RAW_TEXT
        ? null
        : tree.attribute(node, hashName(attribute));
  }
}

function nodeOf(ruleMatch: RuleMatch): number | null {
  if (ruleMatch.kind === 'page') return 0;
  return ruleMatch.kind === 'node' ? ruleMatch.node : null;
}

/** The text that a regular expression searches: of a page, its visible text. */
function textAround(from: Source, around: RuleMatch, sources: PageSources, budget: Budget): string | null {
  const { page, index } = sources;
  if (from.kind === 'html' || from.kind === 'response') return page.body;
  if (from.kind === 'text' || around.kind === 'page') return page.text;
  if (around.kind === 'match') return around.match.groups[0] ?? null;
  if (around.kind === 'node') return index === null ? null : nodeText(index.tree, around.node, budget);
  return scalarText(around.value) ?? JSON.stringify(around.value) ?? null;
}

/** The value that a JSONPath searches: of a page, the JSON response, else the blocks of JSON-LD. */
function jsonAround(from: Source, around: RuleMatch, sources: PageSources, budget: Budget): unknown {
  const { page, index } = sources;
  switch (from.kind) {
    case 'response':
      return page.json;
    case 'json-ld':
      return sources.jsonLd;
    case 'embedded':
      return Object.fromEntries(sources.embedded);
    case 'state':
      return sources.embedded.get(from.name);
    default:
      break;
  }
  if (around.kind === 'page') return page.json === undefined ? sources.jsonLd : page.json;
  if (around.kind === 'value') return around.value;
  if (around.kind === 'match') return parsedJson(around.match.groups[0] ?? '');
  return index === null ? undefined : parsedJson(rawText(index.tree, around.node, budget));
}
