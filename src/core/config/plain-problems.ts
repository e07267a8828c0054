import { core, type z } from 'zod';
import { nearestName } from './nearest-name.ts';

/**
 * What is wrong with one value. `text` is either what follows the name of the field (`is required`, `must be at least
 * 1`), or a sentence of its own, which begins with a capital letter or a sign.
 */
export interface PlainProblem {
  readonly path: readonly string[];
  readonly text: string;
}

export type PlainParse<T> =
  | { readonly data: T; readonly problems: null }
  | {
      readonly data: null;
      readonly problems: readonly PlainProblem[];
      /** Problems that are only counted, because there are too many to list. */
      readonly unlisted: number;
    };

/**
 * Parses with a schema, and says in plain words what is wrong: the one place where issues of zod become text that
 * people read. No text repeats a value, because any value could be a secret. Words are found for the first `most` problems
 * only: the sender of a request decides how many there are.
 */
export function parsePlainly<T extends z.ZodType>(
  schema: T,
  input: unknown,
  most = Number.POSITIVE_INFINITY,
): PlainParse<z.output<T>> {
  const context = { async: false, error: plainWords() };
  const parsed = safely(() => schema._zod.run({ value: input, issues: [] }, context));
  if (parsed === null) return { data: null, problems: [{ path: [], text: NOT_COMPARABLE }], unlisted: 0 };
  if (parsed instanceof Promise) throw new TypeError('The schema is asynchronous.');
  const { value, issues } = parsed;
  if (issues.length === 0) return { data: value as z.output<T>, problems: null };
  const problems: PlainProblem[] = [];
  let count = 0;
  for (const raw of issues) {
    count += raw.code === 'unrecognized_keys' ? raw.keys.length : 1;
    if (problems.length >= most) continue;
    const issue = raw.code === 'unrecognized_keys' ? { ...raw, keys: raw.keys.slice(0, most) } : raw;
    problems.push(...problemsIn(core.util.finalizeIssue(issue, context, core.config()), [], most));
  }
  const listed = problems.slice(0, most);
  return { data: null, problems: listed, unlisted: Math.max(0, count - listed.length) };
}

const NOT_COMPARABLE =
  'An object has the field `length` or `size` where text, a number or a list is expected.';

/**
 * The checks of lengths look at everything that has a length, also at objects in the place of texts; comparing a length
 * that is an object itself throws. Null then.
 */
function safely<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    // Any other error is a fault of the schema, and is not to look like one of the request.
    if (error instanceof TypeError && /primitive value/.test(error.message)) return null;
    throw error;
  }
}

/** The problem as a sentence about the field of this name; the sentence of a whole value stands alone. */
export function sentenceOf(text: string, name: string): string {
  if (!/^[a-z]/.test(text)) return text;
  const subject = name === '' ? 'The value' : `\`${name}\``;
  return `${subject} ${text}${/[.?!]$/.test(text) ? '' : '.'}`;
}

/** Comparing names costs time, and the sender of a request decides how many fields it has. */
const MAX_COMPARED_FIELDS = 50;
const MAX_COMPARED_CHARS = 64;
/** The forms of a union are worded while a value is parsed, also those that no answer will show. */
const MAX_WORDED_KEYS = 100;

/** An error map for one parse: the words for every issue that the schema itself has none for. */
export function plainWords(): z.core.$ZodErrorMap {
  let comparisonsLeft = MAX_COMPARED_FIELDS;
  return (issue) => {
    switch (issue.code) {
      case 'invalid_type':
        return issue.input === undefined ? 'is required' : `must be ${kindName(issue.expected, issue.inst)}`;
      case 'too_small':
        return `must ${bound(issue.origin, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')}`;
      case 'too_big':
        return `must ${bound(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')}`;
      case 'invalid_value':
        if (issue.input === undefined) return 'is required';
        return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
      case 'invalid_format':
        return FORMAT_WORDS[issue.format] ?? 'is not valid';
      case 'not_multiple_of':
        return `must be a multiple of ${issue.divisor}`;
      case 'invalid_union':
        return wordsOfUnion(issue);
      case 'unrecognized_keys':
        return issue.keys
          .slice(0, MAX_WORDED_KEYS)
          .map((key) => {
            if (key.length > MAX_COMPARED_CHARS || comparisonsLeft === 0) return UNKNOWN_FIELD;
            comparisonsLeft -= 1;
            return unknownField(key, issue.inst);
          })
          .join('\n');
      default:
        return 'is not valid';
    }
  };
}

const UNKNOWN_FIELD = 'is not a known field';

const FORMAT_WORDS: Readonly<Record<string, string>> = {
  url: 'must be a URL',
  datetime: 'must be a time like 2026-01-31T12:00:00Z',
  email: 'must be an e-mail address',
  uuid: 'must be a UUID',
};

const KIND_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a date',
};

interface SchemaParts {
  readonly _zod?: {
    readonly def?: {
      readonly format?: unknown;
      readonly checks?: readonly SchemaParts[];
      readonly shape?: unknown;
      readonly innerType?: unknown;
      readonly in?: unknown;
    };
  };
}

const definitionOf = (schema: unknown) => (schema as SchemaParts | undefined)?._zod?.def;

/** zod says of a whole number that it must be a number; that it must be a whole one is a check of the schema. */
function kindName(expected: string, schema: unknown): string {
  const checks = [schema, ...(definitionOf(schema)?.checks ?? [])];
  const isWhole = expected === 'number' && checks.some((each) => definitionOf(each)?.format === 'safeint');
  return KIND_NAMES[isWhole ? 'int' : expected] ?? expected;
}

function bound(origin: string, limit: number | bigint, comparison: string): string {
  if (origin !== 'string' && origin !== 'array' && origin !== 'set') return `be ${comparison} ${limit}`;
  const unit = origin === 'string' ? 'character' : 'entr';
  if (comparison === 'at least' && limit === 1) return 'not be empty';
  const ending = unit === 'entr' ? (limit === 1 ? 'y' : 'ies') : limit === 1 ? '' : 's';
  return `have ${comparison} ${limit} ${unit}${ending}`;
}

type UnionIssue = Extract<Parameters<z.core.$ZodErrorMap>[0], { code: 'invalid_union' }>;

/** The forms that would fit, in one sentence, where each says in so many words what it must be. */
function wordsOfUnion({ input, errors, ...issue }: UnionIssue): string {
  if (input === undefined) return 'is required';
  const { discriminator, options } = issue as { discriminator?: string; options?: readonly unknown[] };
  if (discriminator !== undefined) return `must be one of ${(options ?? []).map(String).join(', ')}`;
  const forms = errors.map(([first]) => (first?.path.length === 0 ? first.message : ''));
  const kinds = forms.flatMap((text) => (text.startsWith('must be ') ? [text.slice(8)] : []));
  return kinds.length === 0 ? 'is not valid' : `must be ${[...new Set(kinds)].join(', or ')}`;
}

/** `schema` is the object in which the field is unknown. */
function unknownField(key: string, schema: unknown): string {
  const shape = shapeOf(schema);
  const nearest = nearestName(key, Object.keys(shape));
  if (nearest !== null) return `${UNKNOWN_FIELD}; did you mean \`${nearest}\`?`;
  const inside = Object.keys(shape).find((name) => Object.hasOwn(shapeOf(shape[name]), key));
  return inside === undefined ? UNKNOWN_FIELD : `${UNKNOWN_FIELD} here; it belongs into \`${inside}\``;
}

/** The fields of an object schema, also of one that has a default or may be null; empty for every other schema. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  let inner = schema;
  for (let depth = 0; depth < 8; depth += 1) {
    const def = definitionOf(inner);
    if (def === undefined) return {};
    if (typeof def.shape === 'object' && def.shape !== null) return def.shape as Record<string, unknown>;
    inner = def.innerType ?? def.in;
  }
  return {};
}

/** One problem for each unknown key; of a union, those of the form that was meant. */
function problemsIn(issue: z.core.$ZodIssue, above: readonly string[], most: number): PlainProblem[] {
  const path = [...above, ...issue.path.map(String)];
  if (issue.code === 'unrecognized_keys') {
    const texts = issue.message.split('\n');
    return issue.keys
      .slice(0, most)
      .map((key, at) => ({ path: [...path, key], text: texts[at] ?? UNKNOWN_FIELD }));
  }
  if (issue.code === 'invalid_union') {
    // The form that was meant is the one in which something stands wrong, rather than that the value has another form.
    const meant = issue.errors.find((form) =>
      form.every(({ code, path: at }) => at.length > 0 || code === 'unrecognized_keys' || code === 'custom'),
    );
    if (meant !== undefined && meant.length > 0) {
      return meant.slice(0, most).flatMap((each) => problemsIn(each, path, most));
    }
  }
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return [{ path, text: asPredicate(message) }];
}

/** `Must be a name.` is said of a field as well. */
const asPredicate = (message: string): string =>
  /^Must\b[^.]*\.?$/.test(message) ? `must${message.slice(4).replace(/\.$/, '')}` : message;
