import { z } from 'zod';
import { invalidRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';

/** Types that a language model of the vendor's own, or a service of theirs, would be needed for. */
const ABSENT = [
  'rawBase64',
  'summary',
  'deterministicJson',
  'branding',
  'product',
  'menu',
  'question',
  'highlights',
  'query',
  'audio',
  'video',
] as const;

const viewport = z.strictObject({
  width: z.number().int().min(100).max(4_096),
  height: z.number().int().min(100).max(4_096),
});

const plain = (type: 'markdown' | 'html' | 'rawHtml' | 'links' | 'images') =>
  z.strictObject({ type: z.literal(type) });

export const screenshotFields = {
  fullPage: z.boolean().optional(),
  quality: z.number().int().min(1).max(100).optional(),
  viewport: viewport.optional(),
};

const formatObject = z.discriminatedUnion('type', [
  plain('markdown'),
  plain('html'),
  plain('rawHtml'),
  plain('links'),
  plain('images'),
  z.strictObject({ type: z.literal('screenshot'), ...screenshotFields }),
  z.strictObject({
    type: z.literal('json'),
    prompt: z.string().max(10_000).optional(),
    schema: z.record(z.string(), z.unknown()).optional(),
    systemPrompt: z.string().max(10_000).optional(),
  }),
  z.strictObject({
    type: z.literal('changeTracking'),
    modes: z.array(z.enum(['git-diff', 'json'])).default([]),
    schema: z.unknown().optional(),
    prompt: z.string().optional(),
    tag: z.string().nullable().default(null),
  }),
  z.strictObject({
    type: z.literal('attributes'),
    selectors: z
      .array(z.strictObject({ selector: z.string().min(1), attribute: z.string().min(1) }))
      .min(1)
      .max(50),
  }),
  ...ABSENT.map((type) => z.looseObject({ type: z.literal(type) })),
]);

export type Format = z.output<typeof formatObject>;
export type FormatOf<Type extends Format['type']> = Extract<Format, { type: Type }>;

const isAbsent = (type: string): boolean => (ABSENT as readonly string[]).includes(type);

/** A format is its name, or an object with its name as `type`; a name stands for the object without options. */
export const formatsField = z
  .array(z.preprocess((given) => (typeof given === 'string' ? { type: given } : given), formatObject))
  .max(20)
  .superRefine((formats, context) => {
    const refuse = (at: number, message: string) => context.addIssue({ code: 'custom', path: [at], message });
    const types = formats.map(({ type }) => type);
    for (const [at, format] of formats.entries()) {
      if (isAbsent(format.type)) refuse(at, `The format "${format.type}" is not available on this server.`);
      else if (types.indexOf(format.type) !== at && format.type !== 'attributes')
        refuse(at, `The format "${format.type}" was given twice.`);
      if (format.type === 'json' && format.schema === undefined) {
        refuse(at, 'The format "json" needs a `schema` here: a prompt alone names no fields.');
      }
      if (format.type !== 'changeTracking') continue;
      if (!types.includes('markdown')) refuse(at, 'The format "changeTracking" needs "markdown" as well.');
      if (format.modes.includes('json'))
        refuse(at, 'The mode "json" of "changeTracking" is not available here.');
      for (const name of ['schema', 'prompt'] as const) {
        if (format[name] != null) refuse(at, `A \`${name}\` of "changeTracking" is not available here.`);
      }
      if (format.tag !== null) refuse(at, 'A `tag` of "changeTracking" is not available here.');
    }
  });

/** An element that no page has: the rules find nothing, and the language model is asked for every field. */
const NOTHING = 'no-such-element';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type JsonWish = Pick<FormatOf<'json'>, 'schema' | 'prompt' | 'systemPrompt'>;

/**
 * `extract` that has a language model fill the fields of a JSON Schema. The prompt goes along as the description of
 * every field.
 */
export function jsonExtract({ schema, prompt, systemPrompt }: JsonWish): object {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  if (names.length === 0) {
    throw invalidRequest([{ field: 'schema', message: 'Must be an object with `properties`.' }]);
  }
  const said = [systemPrompt, prompt].filter((text) => text !== undefined).join('\n');
  const described = names.map((name) => {
    const field = isRecord(properties[name]) ? properties[name] : {};
    const own = typeof field.description === 'string' ? field.description : '';
    const description = [own, said].filter((text) => text !== '').join('\n');
    return [name, description === '' ? field : { ...field, description }] as const;
  });
  const { required: _required, ...rest } = schema ?? {};
  return {
    rules: Object.fromEntries(names.map((name) => [name, { css: NOTHING, required: true }])),
    schema: { ...rest, type: 'object', properties: Object.fromEntries(described) },
    llm: { derived: 'all' },
  };
}

/** `extract` that reads attributes of elements: one field for each selector. */
export function attributeRules({ selectors }: Pick<FormatOf<'attributes'>, 'selectors'>): object {
  return Object.fromEntries(
    selectors.map(({ selector, attribute }, at) => [
      attributeName(at),
      { css: selector, attribute, list: true },
    ]),
  );
}

export const attributeName = (at: number): string => `attribute${at}`;
