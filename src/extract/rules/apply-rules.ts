import { hashName } from '../html/names.ts';
import { RAW_TEXT } from '../tree/page-tree.ts';
import { parseEmail, parsePhone } from '../values/contact.ts';
import { parseDate } from '../values/date/date.ts';
import { parseNumber } from '../values/number.ts';
import { normalizeUrl, parseBoolean } from '../values/plain-values.ts';
import { parseCurrency, parsePrice } from '../values/price/price.ts';
import { Budget, type BudgetOptions, OutputMeter } from './budget.ts';
import type { CompiledAlternative, CompiledField, CompiledRules, Source } from './compile-alternative.ts';
import { PageSources, type RulePage } from './page-sources.ts';
import { type Regex, type RegexMatch, regexValue } from './regex.ts';
import { isDeeperThan, type ValueType } from './rule-schema.ts';
import { RULE_LIMITS, type RuleProblem } from './rule-text.ts';
import { checkSchema } from './schema/check-schema.ts';
import { elementHtml, isNothing, nodeText, parsedJson, rawText, scalarText } from './transforms.ts';

export interface RuleResult {
  /** Every field of the rules: null, or an empty list, where nothing was found. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Required fields without a value, values that are not of their type, what a limit cut off, what the schema refuses. */
  readonly problems: readonly RuleProblem[];
  /** By field (`items.price`): the rule that gave its first value. */
  readonly found: Readonly<Record<string, RuleOrigin>>;
}

interface RuleOrigin {
  /** As it was written: `css:.price`; `default` when it was the default. */
  readonly source: string;
  /** 0 for the rule itself, 1 for its first fallback …; -1 for the default. */
  readonly alternative: number;
}

/**
 * Applies rules to a page: pure, and bounded by the budget. Throws only EXTRACTION_FAILED, when the budget or the size
 * limit of the result is exceeded; other failures are problems of one field and leave the others intact.
 */
export function applyExtractionRules(
  rules: CompiledRules,
  page: RulePage,
  options: BudgetOptions,
): RuleResult {
  const budget = new Budget(options);
  const reading = new Reading(new PageSources(page), budget);
  const value = reading.fields(rules.fields, { kind: 'page' }, '');
  if (rules.schema !== null) {
    budget.at = 'schema';
    for (const problem of checkSchema(rules.schema, reading.withoutMissing(value), budget))
      reading.problem(problem.path, problem.message);
  }
  return { value, problems: reading.problems, found: Object.fromEntries(reading.found) };
}

/** The result of an alternative: a value, or the reason why it has none. */
type Yield = { readonly value: unknown } | { readonly why: string | null };

class Reading {
  readonly problems: RuleProblem[] = [];
  readonly found = new Map<string, RuleOrigin>();
  readonly #sources: PageSources;
  readonly #budget: Budget;
  readonly #meter: OutputMeter;
  /** For each record, its fields without a match. */
  readonly #missing = new Map<unknown, Set<string>>();

  constructor(sources: PageSources, budget: Budget) {
    this.#sources = sources;
    this.#budget = budget;
    this.#meter = new OutputMeter(budget);
  }

  problem(path: string, message: string): void {
    if (this.problems.length < RULE_LIMITS.problems) this.problems.push({ path, message });
  }

  fields(fields: readonly CompiledField[], ruleMatch: RuleMatch, path: string): Record<string, unknown> {
    // Names come from users: define own properties, also for names such as `__proto__`.
    const value: Record<string, unknown> = {};
    const missing = new Set<string>();
    this.#missing.set(value, missing);
    for (const field of fields) {
      const found = this.#field(field, ruleMatch, path === '' ? field.name : `${path}.${field.name}`);
      if (found === undefined) missing.add(field.name);
      Object.defineProperty(value, field.name, {
        value: found === undefined ? (field.isList ? [] : null) : found,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return value;
  }

  /** The value as a schema sees it: a field without a match is absent, while a result has null or an empty list. */
  withoutMissing(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each: unknown) => this.withoutMissing(each));
    const missing = this.#missing.get(value);
    if (missing === undefined) return value;
    const entries = Object.entries(value as Record<string, unknown>).filter(([name]) => !missing.has(name));
    return Object.fromEntries(entries.map(([name, each]) => [name, this.withoutMissing(each)]));
  }

  /** Undefined without a match. */
  #field(field: CompiledField, ruleMatch: RuleMatch, path: string): unknown {
    this.#budget.at = field.path;
    let why: string | null = null;
    for (const [place, alternative] of field.alternatives.entries()) {
      const result = this.#alternative(field, alternative, ruleMatch, path);
      if ('value' in result) {
        this.#note(field, { source: alternative.label, alternative: place });
        return result.value;
      }
      why ??= result.why;
    }
    if (field.fallbackValue !== undefined) {
      this.#note(field, { source: 'default', alternative: -1 });
      this.#meter.add(field.fallbackValue);
      return field.fallbackValue;
    }
    if (field.isRequired)
      this.problem(path, why === null ? 'Is required and was not found.' : `Is required; ${why}`);
    else if (why !== null) this.problem(path, `${why.charAt(0).toUpperCase()}${why.slice(1)}`);
    return undefined;
  }

  #note({ path }: CompiledField, by: RuleOrigin): void {
    const name = path.replace(/^rules\./, '').replaceAll('.fields.', '.');
    if (!this.found.has(name)) this.found.set(name, by);
  }

  #alternative(
    field: CompiledField,
    alternative: CompiledAlternative,
    around: RuleMatch,
    path: string,
  ): Yield {
    const wanted = field.isList ? field.limit + 1 : field.index < 0 ? RULE_LIMITS.listItems : field.index + 1;
    const matches = findMatches(alternative, around, wanted, this.#sources, this.#budget);
    if (field.isList) {
      const kept = matches.slice(0, field.limit);
      const result = this.#list(field, alternative, kept, path);
      if (matches.length > field.limit && field.limit === RULE_LIMITS.listItems && 'value' in result) {
        this.problem(path, `Only the first ${field.limit} values are kept.`);
      }
      return result;
    }
    const ruleMatch = matches.at(field.index);
    if (ruleMatch === undefined) return { why: null };
    if (alternative.fields !== null) return { value: this.fields(alternative.fields, ruleMatch, path) };
    return this.#finish(
      field,
      alternative,
      valueOfMatch(alternative, ruleMatch, this.#sources, this.#budget),
      path,
    );
  }

  #list(
    field: CompiledField,
    alternative: CompiledAlternative,
    matches: readonly RuleMatch[],
    path: string,
  ): Yield {
    const { fields } = alternative;
    if (fields !== null) {
      const values = matches.map((ruleMatch, at) => this.fields(fields, ruleMatch, `${path}.${at}`));
      return values.length === 0 ? { why: null } : { value: values };
    }
    const values = matches.map((ruleMatch) =>
      valueOfMatch(alternative, ruleMatch, this.#sources, this.#budget),
    );
    return this.#finish(
      field,
      alternative,
      values.filter((value) => value !== null),
      path,
    );
  }

  #finish(field: CompiledField, { transforms }: CompiledAlternative, raw: unknown, path: string): Yield {
    let value = raw;
    const context = { page: this.#sources.page, budget: this.#budget };
    for (const transform of transforms) value = transform(value, context);
    if (Array.isArray(value)) value = value.filter((each: unknown) => !isNothing(each));
    if (isNothing(value)) return { why: null };
    const typed = field.type === null ? { value } : this.#typed(field, value, path);
    if (!('value' in typed)) return typed;
    if (typeof typed.value === 'object' && isDeeperThan(typed.value, RULE_LIMITS.jsonDepth)) {
      return { why: `what was found nests deeper than ${RULE_LIMITS.jsonDepth} levels.` };
    }
    this.#meter.add(typed.value);
    return typed;
  }

  /** Converts to the type of the field. In lists, values of another type are dropped and reported. */
  #typed({ type, isList }: CompiledField, value: unknown, path: string): Yield {
    if (type === null) return { value };
    const { page } = this.#sources;
    if (!Array.isArray(value) || (type === 'json' && !isList)) {
      const typed = typedValue(type, value, page);
      return typed === null && !(type === 'json' && value === 'null')
        ? { why: notOfType(type, value) }
        : { value: typed };
    }
    const kept: unknown[] = [];
    for (const [at, each] of (value as unknown[]).entries()) {
      this.#budget.spend(20);
      const typed = typedValue(type, each, page);
      if (typed === null) this.problem(`${path}.${at}`, `${notOfType(type, each)} It was left out.`);
      else kept.push(typed);
    }
    return kept.length === 0 ? { why: null } : { value: kept };
  }
}

function notOfType(type: string, value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const brief = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return `${JSON.stringify(brief)} cannot be read as ${type}.`;
}

/** Converts a value to a type; null when that is not possible. */
function typedValue(type: ValueType, value: unknown, page: RulePage): unknown {
  if (type === 'json') return jsonOf(value);
  // Values of the type need no conversion.
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (type === 'number' || type === 'price') return value;
    if (type === 'integer') return Number.isInteger(value) ? value : null;
  }
  if (typeof value === 'boolean' && type === 'bool') return value;
  const text = scalarText(value);
  return text === null ? null : READERS[type](text, page);
}

type Reader = (text: string, page: RulePage) => unknown;

const localeOf = ({ language }: RulePage): string | undefined => language ?? undefined;

const READERS: Readonly<Record<Exclude<ValueType, 'json'>, Reader>> = {
  string: (text) => text,
  number: (text, page) => parseNumber(text, { locale: localeOf(page) })?.value ?? null,
  integer: (text, page) => {
    const value = parseNumber(text, { locale: localeOf(page) })?.value ?? null;
    return Number.isInteger(value) ? value : null;
  },
  price: (text, page) => parsePrice(text, { locale: localeOf(page) })?.amount ?? null,
  currency: (text, page) => parseCurrency(text, { locale: localeOf(page) }),
  date: (text, page) => parseDate(text, { fetchedAt: page.fetchedAt, locale: localeOf(page) })?.iso ?? null,
  url: (text, page) => normalizeUrl(text, { base: page.url }),
  email: (text) => parseEmail(text)?.value ?? null,
  phone: (text, page) => parsePhone(text, { locale: localeOf(page) })?.value ?? null,
  bool: (text) => parseBoolean(text),
};

function jsonOf(value: unknown): unknown {
  const json = typeof value === 'string' ? parsedJson(value) : value;
  return json === undefined || isDeeperThan(json, RULE_LIMITS.jsonDepth) ? null : json;
}

/** A match of a rule, from which its fields are read. */
type RuleMatch =
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
function findMatches(
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
function valueOfMatch(
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
