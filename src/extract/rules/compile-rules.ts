import type { z } from 'zod';
import { nearestName } from '../../core/config/nearest-name.ts';
import { plainWords } from '../../core/config/plain-problems.ts';
import { AlternativeCompiler, type CompiledField, type CompiledRules } from './compile-alternative.ts';
import { type FieldInput, type FieldsInput, KNOWN_KEYS, readShorthand, rulesSchema } from './rule-schema.ts';
import { RULE_LIMITS, type RuleProblem } from './rule-text.ts';
import { compileSchema } from './schema/compile-schema.ts';

/** What the fields of an outer rule are read from; decides which selectors are possible. */
export type Around = 'page' | 'element' | 'text' | 'json';

type Compilation =
  | { readonly rules: CompiledRules; readonly problems: null }
  | { readonly rules: null; readonly problems: readonly RuleProblem[] };

interface CompileOptions {
  /** JSON Schema (draft 2020-12) the result is checked against. */
  readonly schema?: unknown;
  /** Prefix of the paths of problems. */
  readonly path?: string;
}

/**
 * Compiles rules, or lists all their mistakes, without a page, so that bad rules are refused before any fetch. Accepts any
 * value of JSON or YAML; never throws.
 */
export function compileExtractionRules(
  input: unknown,
  { schema, path = 'rules' }: CompileOptions = {},
): Compilation {
  const problems: RuleProblem[] = [];
  const shape = rulesSchema.safeParse(input, { error: plainWords() });
  const fields = shape.success ? new FieldCompiler(problems).fields(shape.data, 'page', path, 0) : [];
  if (!shape.success) problems.push(...shapeProblems(shape.error.issues, input, path));
  const checked = schema === undefined ? null : compileSchema(schema);
  if (checked !== null && 'problems' in checked) problems.push(...checked.problems);
  if (problems.length > 0) return { rules: null, problems: problems.slice(0, RULE_LIMITS.problems) };
  return {
    rules: { fields, schema: checked !== null && 'schema' in checked ? checked.schema : null },
    problems: null,
  };
}

export class FieldCompiler {
  readonly #problems: RuleProblem[];
  #count = 0;

  constructor(problems: RuleProblem[]) {
    this.#problems = problems;
  }

  fields(input: FieldsInput, around: Around, path: string, depth: number): CompiledField[] {
    const names = Object.keys(input);
    if (depth >= RULE_LIMITS.depth) {
      this.problem(path, `More than ${RULE_LIMITS.depth} levels of fields inside each other.`);
      return [];
    }
    if (names.length === 0) this.problem(path, 'There must be at least one field.');
    return names.flatMap((name) => {
      const written = input[name];
      return written === undefined
        ? []
        : (this.#field(name, written, around, `${path}.${name}`, depth) ?? []);
    });
  }

  problem(path: string, message: string, column?: number): void {
    this.#problems.push(column === undefined ? { path, message } : { path, message, column });
  }

  /** Counts a field; returns false beyond the limit. */
  #isCounted(path: string): boolean {
    this.#count++;
    if (this.#count === RULE_LIMITS.fields + 1) {
      this.problem(path, `More than ${RULE_LIMITS.fields} fields and fallbacks.`);
    }
    return this.#count <= RULE_LIMITS.fields;
  }

  #field(
    name: string,
    written: string | FieldInput,
    around: Around,
    path: string,
    depth: number,
  ): CompiledField | null {
    if (!this.#isCounted(path)) return null;
    const compiler = new AlternativeCompiler(this, around, depth);
    if (typeof written === 'string') {
      const { input, offset } = readShorthand(written);
      const alternative = compiler.compile(input, path, { offset, written });
      return alternative === null ? null : fieldOf(name, path, {}, [alternative]);
    }
    this.#refuseContradictions(written, path);
    const first = compiler.compile(written, path);
    const fallbacks = (written.fallbacks ?? []).flatMap((fallback, at) => {
      const place = `${path}.fallbacks.${at}`;
      if (!this.#isCounted(place)) return [];
      const inherited = { transforms: written.transforms, fields: written.fields };
      if (typeof fallback !== 'string') return compiler.compile({ ...inherited, ...fallback }, place) ?? [];
      const { input, offset } = readShorthand(fallback);
      return compiler.compile({ ...inherited, ...input }, place, { offset, written: fallback }) ?? [];
    });
    return first === null ? null : fieldOf(name, path, written, [first, ...fallbacks]);
  }

  #refuseContradictions(
    { list, index, limit, required, fields, type, transforms, ...rest }: FieldInput,
    path: string,
  ): void {
    if (list && index !== undefined) this.problem(`${path}.index`, '`list` takes all, `index` one of them.');
    if (!list && limit !== undefined)
      this.problem(`${path}.limit`, 'Only a list has a limit; say `list: true`.');
    if (required && rest.default !== undefined) {
      this.problem(
        `${path}.default`,
        'A field with a default is never missing; leave out `required` or `default`.',
      );
    }
    if (fields === undefined) return;
    if (type !== undefined)
      this.problem(`${path}.type`, 'A field with `fields` is an object; its fields have types.');
    if (transforms !== undefined)
      this.problem(`${path}.transforms`, 'A field with `fields` is an object; transform its fields.');
  }
}

function fieldOf(
  name: string,
  path: string,
  { list = false, index = 0, limit = RULE_LIMITS.listItems, required = false, type, ...rest }: FieldInput,
  alternatives: CompiledField['alternatives'],
): CompiledField {
  return {
    name,
    path,
    alternatives,
    isList: list,
    index,
    limit,
    isRequired: required,
    type: type ?? null,
    fallbackValue: rest.default,
  };
}

type Issue = z.core.$ZodIssue;

/** Turns issues of the rule schema into problems with paths and suggestions. */
function shapeProblems(issues: readonly Issue[], input: unknown, root: string): RuleProblem[] {
  return issues
    .flatMap((issue) => problemsOf(issue, input, []))
    .slice(0, RULE_LIMITS.problems)
    .map(({ path, message }) => ({ path: [root, ...path].join('.'), message }));
}

interface Found {
  readonly path: readonly string[];
  readonly message: string;
}

function problemsOf(issue: Issue, input: unknown, outer: readonly string[]): Found[] {
  const path = [...outer, ...issue.path.map(String)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, path) }));
  }
  if (issue.code === 'invalid_union') {
    const value = valueAt(input, path);
    const branch = closest(issue.errors, typeof value === 'object' && value !== null);
    if (branch !== undefined) return branch.flatMap((inner) => problemsOf(inner, input, path));
    return [{ path, message: expectation(path) }];
  }
  const text = issue.message.replace(/\.$/, '');
  return [{ path, message: `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.` }];
}

/** The issues of the union member that fits the value best: an object was not meant as a string. */
function closest(errors: readonly (readonly Issue[])[], isObject: boolean): readonly Issue[] | undefined {
  const fitting = errors.filter((branch) =>
    branch.every((issue) => issue.path.length > 0 || !isOtherForm(issue)),
  );
  return isObject || fitting.length > 0 ? fitting[0] : undefined;
}

function isOtherForm(issue: Issue): boolean {
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function placeOf(path: readonly string[]): keyof typeof KNOWN_KEYS {
  const list = path.at(-2);
  if (list === 'transforms') return 'transform';
  return list === 'fallbacks' ? 'alternative' : 'field';
}

function unknownKey(key: string, path: readonly string[]): string {
  const place = placeOf(path);
  const isInside = /^(?:replace|match|split)$/.test(path.at(-1) ?? '') && path.at(-3) === 'transforms';
  const known: readonly string[] = isInside
    ? ['pattern', 'flags', 'with', 'first', 'group']
    : KNOWN_KEYS[place];
  if (place === 'alternative' && KNOWN_KEYS.field.includes(key)) {
    return `\`${key}\` is said once, for the field, and not for a fallback.`;
  }
  const nearest = nearestName(key, known);
  return nearest === null
    ? `There is no \`${key}\` here; there is ${known.join(', ')}.`
    : `There is no \`${key}\`; did you mean \`${nearest}\`?`;
}

function expectation(path: readonly string[]): string {
  const place = placeOf(path);
  if (place === 'transform')
    return `Must be the name of a transform or an object with one of ${KNOWN_KEYS.transform.join(', ')}.`;
  return 'Must be a selector (a text) or an object.';
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  let value = input;
  for (const name of path) {
    value =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}
