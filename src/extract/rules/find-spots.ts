import { hashName } from '../name-table.ts';
import { RAW_TEXT } from '../tree/page-tree.ts';
import type { Budget } from './budget.ts';
import type { CompiledAlternative, Source } from './compiled-rules.ts';
import { elementHtml } from './element-html.ts';
import { nodeText, rawText } from './node-text.ts';
import type { PageSources } from './page-sources.ts';
import type { Regex, RegexMatch } from './regex.ts';
import { matchValue } from './regex-value.ts';
import { parsedJson, textOf } from './transforms.ts';

/** A thing that a rule found, or that its fields are read from. */
export type Spot =
  | { readonly kind: 'page' }
  | { readonly kind: 'node'; readonly node: number }
  | {
      readonly kind: 'match';
      readonly regex: Regex;
      readonly match: RegexMatch;
      readonly group: string | number | null;
    }
  | { readonly kind: 'value'; readonly value: unknown };

/** What a rule finds from where it stands, in order, at most `limit`. */
export function findSpots(
  { finder, from }: CompiledAlternative,
  around: Spot,
  limit: number,
  sources: PageSources,
  budget: Budget,
): Spot[] {
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

/** What a rule takes of a thing it found; null when there is nothing to take. */
export function spotValue(
  { attribute }: CompiledAlternative,
  spot: Spot,
  sources: PageSources,
  budget: Budget,
): unknown {
  if (spot.kind === 'value') return spot.value ?? null;
  if (spot.kind === 'match') return matchValue(spot.regex, spot.match, spot.group);
  const { index } = sources;
  const node = nodeOf(spot);
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

function nodeOf(spot: Spot): number | null {
  if (spot.kind === 'page') return 0;
  return spot.kind === 'node' ? spot.node : null;
}

/** What a regular expression reads: at the page, the text a reader sees. */
function textAround(from: Source, around: Spot, sources: PageSources, budget: Budget): string | null {
  const { page, index } = sources;
  if (from.kind === 'html' || from.kind === 'response') return page.body;
  if (from.kind === 'text' || around.kind === 'page') return page.text;
  if (around.kind === 'match') return around.match.groups[0] ?? null;
  if (around.kind === 'node') return index === null ? null : nodeText(index.tree, around.node, budget);
  return textOf(around.value) ?? JSON.stringify(around.value) ?? null;
}

/** What a JSONPath reads: at the page, the response when that is JSON, else the blocks of JSON-LD. */
function jsonAround(from: Source, around: Spot, sources: PageSources, budget: Budget): unknown {
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
