import { Budget, type BudgetOptions } from './budget.ts';
import type { CompiledAlternative, CompiledField, CompiledRules } from './compiled-rules.ts';
import { findSpots, type Spot, spotValue } from './find-spots.ts';
import { OutputMeter } from './output-meter.ts';
import { PageSources, type RulePage } from './page-sources.ts';
import { RULE_LIMITS } from './rule-limits.ts';
import type { RuleProblem } from './rule-problem.ts';
import { isDeeperThan } from './rule-schema.ts';
import { checkSchema } from './schema/check-schema.ts';
import { isNothing } from './transforms.ts';
import { typedValue } from './typed-value.ts';

export interface RuleResult {
  /** Every field of the rules: null, or an empty list, where nothing was found. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Required fields without a value, values that are not of their type, what a limit cut off, what the schema refuses. */
  readonly problems: readonly RuleProblem[];
  /** By field (`items.price`): the rule that gave its first value. */
  readonly found: Readonly<Record<string, FoundBy>>;
}

export interface FoundBy {
  /** As it was written: `css:.price`; `default` when it was the default. */
  readonly source: string;
  /** 0 for the rule itself, 1 for its first fallback …; -1 for the default. */
  readonly alternative: number;
}

/**
 * Reads a page by rules: pure, and bounded by the budget. Throws only EXTRACTION_FAILED, when the budget or the size of
 * the result ends; everything else that goes wrong is a problem, and the other fields stand.
 */
export function applyRules(rules: CompiledRules, page: RulePage, options: BudgetOptions): RuleResult {
  const budget = new Budget(options);
  const reading = new Reading(new PageSources(page), budget);
  const value = reading.fields(rules.fields, { kind: 'page' }, '');
  if (rules.schema !== null) {
    budget.at = 'schema';
    for (const problem of checkSchema(rules.schema, value, budget))
      reading.problem(problem.path, problem.message);
  }
  return { value, problems: reading.problems, found: Object.fromEntries(reading.found) };
}

/** What an alternative gave: a value, or why it is none. */
type Yield = { readonly value: unknown } | { readonly why: string | null };

class Reading {
  readonly problems: RuleProblem[] = [];
  readonly found = new Map<string, FoundBy>();
  readonly #sources: PageSources;
  readonly #budget: Budget;
  readonly #meter: OutputMeter;

  constructor(sources: PageSources, budget: Budget) {
    this.#sources = sources;
    this.#budget = budget;
    this.#meter = new OutputMeter(budget);
  }

  problem(path: string, message: string): void {
    if (this.problems.length < RULE_LIMITS.problems) this.problems.push({ path, message });
  }

  fields(fields: readonly CompiledField[], spot: Spot, path: string): Record<string, unknown> {
    // Names come from outside: one that means something to JavaScript must stay a name.
    const value: Record<string, unknown> = {};
    for (const field of fields) {
      Object.defineProperty(value, field.name, {
        value: this.#field(field, spot, path === '' ? field.name : `${path}.${field.name}`),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return value;
  }

  #field(field: CompiledField, spot: Spot, path: string): unknown {
    this.#budget.at = field.path;
    let why: string | null = null;
    for (const [place, alternative] of field.alternatives.entries()) {
      const result = this.#alternative(field, alternative, spot, path);
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
    return field.isList ? [] : null;
  }

  #note({ path }: CompiledField, by: FoundBy): void {
    const name = path.replace(/^rules\./, '').replaceAll('.fields.', '.');
    if (!this.found.has(name)) this.found.set(name, by);
  }

  #alternative(field: CompiledField, alternative: CompiledAlternative, around: Spot, path: string): Yield {
    const wanted = field.isList ? field.limit + 1 : field.index < 0 ? RULE_LIMITS.listItems : field.index + 1;
    const spots = findSpots(alternative, around, wanted, this.#sources, this.#budget);
    if (field.isList) {
      const kept = spots.slice(0, field.limit);
      const result = this.#list(field, alternative, kept, path);
      if (spots.length > field.limit && field.limit === RULE_LIMITS.listItems && 'value' in result) {
        this.problem(path, `Only the first ${field.limit} values are kept.`);
      }
      return result;
    }
    const spot = spots.at(field.index);
    if (spot === undefined) return { why: null };
    if (alternative.fields !== null) return { value: this.fields(alternative.fields, spot, path) };
    return this.#finish(field, alternative, spotValue(alternative, spot, this.#sources, this.#budget), path);
  }

  #list(field: CompiledField, alternative: CompiledAlternative, spots: readonly Spot[], path: string): Yield {
    const { fields } = alternative;
    if (fields !== null) {
      const values = spots.map((spot, at) => this.fields(fields, spot, `${path}.${at}`));
      return values.length === 0 ? { why: null } : { value: values };
    }
    const values = spots.map((spot) => spotValue(alternative, spot, this.#sources, this.#budget));
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

  /** Of a list, the values that can be read stay; the others are named. */
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
