import { Budget } from '../../extract/rules/budget.ts';
import { checkSchema } from '../../extract/rules/schema/check-schema.ts';
import { type CompiledSchema, compileSchema } from '../../extract/rules/schema/compile-schema.ts';
import { defined } from '../../lib/defined.ts';
import type { LlmProblem } from './llm.ts';
import { type FieldsSchema, isRecord, type JsonSchema } from './prompt.ts';

export interface Answered {
  readonly values: Readonly<Record<string, unknown>>;
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface Fitting {
  readonly values: Readonly<Record<string, unknown>>;
  readonly evidence: Readonly<Record<string, string>>;
  readonly problems: readonly LlmProblem[];
}

interface FitRules {
  readonly fields: FieldsSchema;
  /** The text that was given to the model. */
  readonly text: string;
  /** Fields whose values need not stand on the page. */
  readonly derived: ReadonlySet<string>;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

const EVIDENCE_CHARS = 500;
const MAX_LEAVES = 10_000;
const MAX_DEPTH = 32;
/** Written in one way here and in another on the page; the quote has to vouch for them. */
const WRITTEN_OTHERWISE: ReadonlySet<unknown> = new Set(['date', 'date-time', 'time', 'duration']);

const SEPARATORS = /[^\p{L}\p{N}]+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Groups of digits; a space parts thousands only. */
const NUMBER = /\d+(?:[.,'’]\d+|[\u00a0\u202f\u2009 ]\d{3}(?!\d))*/g;
const MAX_NUMBERS = 200_000;

/** The schema of one object with these fields, none of them required; or why they make none. */
export function compileFields({ properties, $defs }: FieldsSchema): CompiledSchema | string {
  const schema = { type: 'object', properties, ...defined({ $defs }) };
  const compiled = compileSchema(schema, 'fields');
  if ('schema' in compiled) return compiled.schema;
  const [first] = compiled.problems;
  return `${first?.path ?? 'fields'}: ${first?.message ?? 'not a schema'}`;
}

/** Keeps the values of a model's answer that fit their schema and stand on the page; the others become problems. */
export function keepFitting(answered: Answered, schema: CompiledSchema, rules: FitRules): Fitting {
  const page = new PageWords(rules.text);
  const values: [string, unknown][] = [];
  const evidence: [string, string][] = [];
  const problems: LlmProblem[] = [];
  for (const name of Object.keys(rules.fields.properties)) {
    const value = Object.hasOwn(answered.values, name) ? answered.values[name] : undefined;
    if (value === null || value === undefined) {
      problems.push({ code: 'not-found', field: name, message: 'The model finds no value on the page.' });
      continue;
    }
    const quote = quoteIn(answered.evidence, name, page);
    const why = unfit(schema, name, value, rules) ?? unseen(name, value, quote, page, rules);
    if (why !== null) {
      problems.push({ field: name, ...why });
      continue;
    }
    values.push([name, value]);
    if (quote !== null) evidence.push([name, quote]);
  }
  return { values: Object.fromEntries(values), evidence: Object.fromEntries(evidence), problems };
}

type Why = Pick<LlmProblem, 'code' | 'message'>;

/** A quote that is not on the page proves nothing and is left out. */
function quoteIn(evidence: Readonly<Record<string, unknown>>, name: string, page: PageWords): string | null {
  const quote = Object.hasOwn(evidence, name) ? evidence[name] : null;
  if (typeof quote !== 'string') return null;
  const text = quote.slice(0, EVIDENCE_CHARS).trim();
  return page.hasText(text) ? text : null;
}

function unfit(schema: CompiledSchema, name: string, value: unknown, { clock }: FitRules): Why | null {
  try {
    const [problem] = checkSchema(schema, { [name]: value }, new Budget({ now: clock }));
    if (problem === undefined) return null;
    return { code: 'does-not-fit', message: `The model's value does not fit the schema: ${problem.message}` };
  } catch {
    return { code: 'does-not-fit', message: "The model's value cannot be checked within the limits." };
  }
}

function unseen(
  name: string,
  value: unknown,
  quote: string | null,
  page: PageWords,
  rules: FitRules,
): Why | null {
  if (rules.derived.has(name)) return null;
  const check = new Sighting(page, quote, rules.fields);
  if (check.isSeen(value, rules.fields.properties[name], 0)) return null;
  return { code: 'not-in-page', message: "The model's value does not stand on the page." };
}

/** Whether all of a value stands on the page. What the schema lists or a boolean says is a judgement, and has no text. */
class Sighting {
  readonly #page: PageWords;
  readonly #quote: string | null;
  readonly #fields: FieldsSchema;
  #left = MAX_LEAVES;

  constructor(page: PageWords, quote: string | null, fields: FieldsSchema) {
    this.#page = page;
    this.#quote = quote;
    this.#fields = fields;
  }

  isSeen(value: unknown, written: unknown, depth: number): boolean {
    this.#left--;
    if (this.#left < 0 || depth > MAX_DEPTH) return false;
    const schema = this.#resolved(written);
    if (value === null || typeof value === 'boolean') return true;
    if (Array.isArray(schema.enum) || 'const' in schema) return true;
    if (typeof value === 'string') {
      if (WRITTEN_OTHERWISE.has(schema.format)) return this.#quote !== null;
      return this.#page.hasText(value);
    }
    if (typeof value === 'number') return this.#page.hasNumber(value);
    if (Array.isArray(value)) return value.every((each) => this.isSeen(each, schema.items, depth + 1));
    if (!isRecord(value)) return false;
    const properties = isRecord(schema.properties) ? schema.properties : {};
    return Object.entries(value).every(([name, each]) =>
      this.isSeen(each, Object.hasOwn(properties, name) ? properties[name] : undefined, depth + 1),
    );
  }

  #resolved(written: unknown): JsonSchema {
    if (!isRecord(written)) return {};
    const name =
      typeof written.$ref === 'string' ? /^#\/\$defs\/([^/]+)$/.exec(written.$ref)?.[1] : undefined;
    if (name === undefined) return written;
    const definitions = this.#fields.$defs ?? {};
    return Object.hasOwn(definitions, name) ? (definitions[name] ?? {}) : {};
  }
}

/** The words of a page, for the question whether something stands on it. Case, punctuation and mark-up play no part. */
export class PageWords {
  readonly #words: string;
  readonly #text: string;
  /** Made when first asked for. */
  #numbers: ReadonlySet<number> | null = null;

  constructor(text: string) {
    this.#text = text;
    this.#words = folded(text);
  }

  hasText(value: string): boolean {
    const words = folded(value);
    if (words.trim() === '') return false;
    return this.#words.includes(UNSPACED.test(words) ? words.trim() : words);
  }

  /** Whether a number stands on the page, however it is written: `1.299,50 €` has 1299.5. */
  hasNumber(value: number): boolean {
    this.#numbers ??= numbersIn(this.#text);
    return this.#numbers.has(Math.abs(value));
  }
}

/** Words with one space before, between and after them. */
function folded(text: string): string {
  return ` ${text.normalize('NFKC').toLowerCase().replace(SEPARATORS, ' ').trim()} `;
}

function numbersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [number] of text.normalize('NFKC').matchAll(NUMBER)) {
    if (found.size > MAX_NUMBERS) break;
    for (const reading of readings(number)) found.add(reading);
  }
  return found;
}

/** What a number may mean: `1.299` is either of two, `12.03.2019` is three. */
function readings(written: string): number[] {
  const parts = written.split(/[^\d.,]/);
  const compact = parts.join('');
  // Two numbers beside each other look like thousands.
  const apart = parts.length > 1 ? parts.flatMap((part) => readings(part)) : [];
  const points = compact.match(/[.,]/g) ?? [];
  const last = points.at(-1);
  if (last === undefined) return [Number(compact), ...apart];
  const whole = Number(compact.replace(/[.,]/g, ''));
  const at = compact.lastIndexOf(last);
  const decimal = Number(`${compact.slice(0, at).replace(/[.,]/g, '')}.${compact.slice(at + 1)}`);
  if (points.length === 1)
    return compact.length - at === 4 ? [whole, decimal, ...apart] : [decimal, ...apart];
  if (points.filter((point) => point === last).length === 1) return [decimal, ...apart];
  return [whole, ...compact.split(/[.,]/).map(Number), ...apart];
}
