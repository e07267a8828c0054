import { z } from 'zod';
import { RULE_LIMITS } from './rule-text.ts';

export const VALUE_TYPES = [
  'string',
  'number',
  'integer',
  'price',
  'currency',
  'date',
  'url',
  'email',
  'phone',
  'bool',
  'json',
] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export const NAMED_TRANSFORMS = [
  'trim',
  'lower',
  'upper',
  'collapse',
  'stripTags',
  'absoluteUrl',
  'unique',
  'first',
  'last',
] as const;

const { selectorChars, transforms: mostTransforms, fallbacks: mostFallbacks, listItems } = RULE_LIMITS;
const text = z.string().max(selectorChars);
const selector = text.min(1);
const flags = z
  .string()
  .max(3)
  .optional()
  .describe('Of the pattern: `i` ignores case, `m` lets ^ and $ match at lines, `s` lets . match line ends.');
const group = z
  .union([z.int().min(0).max(99), z.string().min(1).max(100)])
  .optional()
  .describe('The group of the pattern to take, by number or name.');

const patternOptions = { pattern: selector, flags };

const objectTransform = z
  .strictObject({
    replace: z
      .strictObject({ ...patternOptions, with: text.default(''), first: z.boolean().default(false) })
      .optional()
      .describe('Replaces what a pattern (RE2) finds; `$1`, `$<name>` and `$&` stand for its groups.'),
    match: z
      .union([selector, z.strictObject({ ...patternOptions, group })])
      .optional()
      .describe(
        'Keeps what a pattern (RE2) finds: its first group, or all of it; named groups make an object.',
      ),
    split: z
      .union([selector, z.strictObject(patternOptions)])
      .optional()
      .describe('Makes a list of a text; at a text, or at a pattern.'),
    join: text.optional().describe('Makes a text of a list.'),
    slice: z
      .tuple([z.int()], z.int())
      .refine((ends) => ends.length <= 2, 'One or two whole numbers: where to start and where to stop.')
      .optional()
      .describe(
        'Part of a list or of a text, from the first number up to the second; negative ones count from the end.',
      ),
    default: z.json().optional().describe('Taken instead of nothing or an empty text.'),
    template: selector
      .optional()
      .describe('A text around the value: `https://example.com/{value}`; also `{url}` and `{value.name}`.'),
    map: z
      .record(z.string(), z.json())
      .optional()
      .describe('Other values for known ones; unknown ones stay as they are.'),
    jsonpath: selector.optional().describe('Reads the value as JSON and takes what the path finds first.'),
  })
  .describe('One thing to do to a value.');

const transform = z.union([z.enum(NAMED_TRANSFORMS), objectTransform]);

const SOURCES = /^(?:html|text|json-ld|embedded|response|embedded:.{1,100}|__\w{1,80})$/;

const alternativeShape = {
  css: text.optional().describe('A CSS selector; empty means the element itself.'),
  xpath: selector.optional().describe('An XPath 1.0 expression.'),
  regex: selector.optional().describe('A regular expression in RE2 syntax.'),
  jsonpath: selector.optional().describe('A JSONPath query (RFC 9535).'),
  const: z.json().optional().describe('A fixed value.'),
  from: z
    .string()
    .regex(
      SOURCES,
      'Must be html, text, json-ld, embedded, response, embedded:NAME or a name such as __NEXT_DATA__.',
    )
    .optional()
    .describe('What of the page is read, instead of what is around.'),
  attribute: z
    .string()
    .min(1)
    .max(RULE_LIMITS.nameChars)
    .optional()
    .describe(
      'What of an element is taken: `text`, `rawText`, `html`, `outerHtml` or the name of an attribute.',
    ),
  flags,
  group,
  transforms: z
    .array(transform)
    .max(mostTransforms)
    .optional()
    .describe('What is done to the value, in order.'),
};

const alternative = z.strictObject({
  ...alternativeShape,
  get fields() {
    return fieldsSchema.optional().describe('Fields within each thing found; the value is an object.');
  },
});

const fieldObject = z.strictObject({
  ...alternativeShape,
  get fields() {
    return fieldsSchema.optional().describe('Fields within each thing found; the value is an object.');
  },
  list: z.boolean().optional().describe('All that is found, as a list, instead of the first.'),
  index: z.int().optional().describe('Which of the things found; 0 is the first, -1 the last.'),
  limit: z.int().min(1).max(listItems).optional().describe('At most so many values of a list.'),
  fallbacks: z
    .array(z.union([selector, alternative]))
    .max(mostFallbacks)
    .optional()
    .describe('Tried in order when nothing usable was found before.'),
  required: z.boolean().optional().describe('Nothing found is a problem of the result.'),
  type: z.enum(VALUE_TYPES).optional().describe('What the value is read as.'),
  default: z.json().optional().describe('The value when nothing was found.'),
});

const fieldsSchema: z.ZodType<FieldsInput> = z
  .record(z.string().min(1).max(RULE_LIMITS.nameChars), z.union([selector, fieldObject]))
  .describe(
    'Fields by name: each a selector (`h1`, `a@href`, `xpath:…`, `regex:…`, `jsonpath:…`) or an object.',
  );

export type TransformInput = z.output<typeof transform>;

export interface AlternativeInput {
  readonly css?: string | undefined;
  readonly xpath?: string | undefined;
  readonly regex?: string | undefined;
  readonly jsonpath?: string | undefined;
  readonly const?: unknown;
  readonly from?: string | undefined;
  readonly attribute?: string | undefined;
  readonly flags?: string | undefined;
  readonly group?: string | number | undefined;
  readonly transforms?: readonly TransformInput[] | undefined;
  readonly fields?: FieldsInput | undefined;
}

export interface FieldInput extends AlternativeInput {
  readonly list?: boolean | undefined;
  readonly index?: number | undefined;
  readonly limit?: number | undefined;
  readonly fallbacks?: readonly (string | AlternativeInput)[] | undefined;
  readonly required?: boolean | undefined;
  readonly type?: ValueType | undefined;
  readonly default?: unknown;
}

export type FieldsInput = Readonly<Record<string, string | FieldInput>>;

/** True when a value nests deeper than `most`. Not recursive, so any value is safe. */
export function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap((each) => (each !== null && typeof each === 'object' ? Object.values(each) : []));
  }
  return false;
}

/** Recursive: only for values that are not too deep. */
function hasName(value: unknown, name: string): boolean {
  if (value === null || typeof value !== 'object') return false;
  return Object.hasOwn(value, name) || Object.values(value).some((inside) => hasName(inside, name));
}

/** Each level of fields is an object in `fields` in an object, plus what a value or a transform may hold. */
const MOST_NESTING = RULE_LIMITS.depth * 2 + RULE_LIMITS.jsonDepth;

/** The shape of rules, for requests and their documentation. Selectors are checked by `compileExtractionRules`. */
export const rulesSchema = z
  .preprocess((value, context) => {
    if (isDeeperThan(value, MOST_NESTING)) {
      context.issues.push({ code: 'custom', message: 'The rules are nested too deep.', input: null });
    } else if (hasName(value, '__proto__')) {
      context.issues.push({ code: 'custom', message: '`__proto__` cannot be a name.', input: null });
    }
    return value;
  }, fieldsSchema)
  .describe('What to take out of a page, by field.');

/** The keys allowed at each level, for suggestions about misspelt ones. */
export const KNOWN_KEYS = {
  field: Object.keys(fieldObject.shape),
  alternative: Object.keys(alternative.shape),
  transform: Object.keys(objectTransform.shape),
} as const;

const PREFIX = /^(css|xpath|regex|jsonpath):\s*/;
/** `a.more@href`: the attribute to read. */
const ATTRIBUTE = /\s*@([\w:.-]+)\s*$/;

interface Shorthand {
  readonly input: AlternativeInput;
  /** Length of the prefix before the selector, so that columns count from the start of the shorthand. */
  readonly offset: number;
}

/** Reads a rule written as one string: a CSS selector unless a prefix names another kind, with an optional `@attribute`. */
export function readShorthand(text: string): Shorthand {
  const [prefix = '', kind = 'css'] = PREFIX.exec(text) ?? [];
  const selector = text.slice(prefix.length);
  if (kind !== 'css') return { input: { [kind]: selector }, offset: prefix.length };
  const suffix = ATTRIBUTE.exec(selector);
  if (suffix === null) return { input: { css: selector }, offset: prefix.length };
  const { 1: attribute = '', index } = suffix;
  return { input: { css: selector.slice(0, index), attribute }, offset: prefix.length };
}
