import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rulesSchema } from '../rule-schema.ts';
import { countingBudget } from '../rules.fixture.ts';
import { checkSchema } from './check-schema.ts';
import { compileSchema } from './compile-schema.ts';

function paths(schema: unknown, value: unknown): string[] {
  const compiled = compileSchema(schema);
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  return checkSchema(compiled.schema, value, countingBudget()).map(({ path }) => path);
}

/** As text, because an object with `then` looks like a promise. */
const CONDITION: unknown = JSON.parse('{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":5}}');

describe('JSON Schema names the paths that do not fit', () => {
  it.each<[unknown, unknown, string[]]>([
    [true, 1, []],
    [false, 1, ['']],
    [{ type: 'integer' }, 1.5, ['']],
    [{ type: ['string', 'null'] }, null, []],
    [{ const: { a: [1] } }, { a: [1] }, []],
    [{ enum: [1, 'a'] }, 'b', ['']],
    [{ minimum: 1, maximum: 3 }, 4, ['']],
    [{ exclusiveMinimum: 1 }, 1, ['']],
    [{ exclusiveMaximum: 1 }, 0.5, []],
    [{ multipleOf: 0.1 }, 0.3, []],
    [{ multipleOf: 2 }, 3, ['']],
    [{ minLength: 2 }, '😀', ['']],
    [{ pattern: '^a' }, 'ba', ['']],
    [{ pattern: '^a' }, 5, []],
    [{ items: { type: 'number' } }, [1, 'a', 2, null], ['1', '3']],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1, 'b'], ['2']],
    [{ minItems: 1, maxItems: 2 }, [], ['']],
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, 1, { b: 2, a: 1 }], ['2']],
    [{ contains: { const: 1 } }, [2], ['']],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], ['']],
    [{ contains: { const: 1 }, minContains: 0 }, [], []],
    [{ required: ['a'] }, {}, ['a']],
    [{ properties: { a: { properties: { b: { type: 'string' } } } } }, { a: { b: 1 } }, ['a.b']],
    [{ properties: { a: true }, additionalProperties: { type: 'number' } }, { a: 'x', b: 'x' }, ['b']],
    [
      { patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
      { x1: 'a', y: 1 },
      ['x1', 'y'],
    ],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ['ab']],
    [{ minProperties: 1 }, {}, ['']],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['b']],
    [{ dependentSchemas: { a: { required: ['c'] } } }, { a: 1 }, ['c']],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, ['']],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, ['']],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, ['']],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 1, []],
    [{ not: { type: 'string' } }, 'a', ['']],
    [CONDITION, 'a', ['']],
    [CONDITION, 6, []],
    [{ format: 'email', title: 'x' }, 'no address', []],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'string' } } }, 1, ['']],
    [
      { properties: { next: { $ref: '#' }, value: { type: 'number' } } },
      { next: { next: { value: 'a' } } },
      ['next.next.value'],
    ],
  ])('%j on %j', (schema, value, expected) => {
    expect(paths(schema, value)).toEqual(expected);
  });
});

it('the shape of rules can itself be shown as a JSON Schema', () => {
  const shown = JSON.stringify(z.toJSONSchema(rulesSchema, { io: 'input' }));
  for (const key of ['jsonpath', 'fallbacks', 'transforms', 'additionalProperties":false'])
    expect(shown).toContain(key);
});
