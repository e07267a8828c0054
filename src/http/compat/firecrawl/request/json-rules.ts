import { invalidRequest } from '../../../../capabilities/jobs/invalid-request.ts';
import type { FormatOf } from './formats.ts';

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
