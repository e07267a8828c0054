/** Which keywords of JSON Schema (draft 2020-12) are checked, and what each must look like. */

export const JSON_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'] as const;
export type JsonTypeName = (typeof JSON_TYPES)[number];

/** Annotations: they do not affect validation. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'format',
]);

/** Keywords with one schema, a list of schemas, or a schema per name. */
export const WITH_SCHEMA = [
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
] as const;
export const WITH_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
export const WITH_NAMED_SCHEMAS = ['properties', 'patternProperties', 'dependentSchemas'] as const;
/** Keywords that apply a schema to the same value, so a cycle of them would not terminate. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

export const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
] as const;
export const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

export const KEYWORDS: ReadonlySet<string> = new Set([
  ...ANNOTATIONS,
  ...WITH_SCHEMA,
  ...WITH_SCHEMAS,
  ...WITH_NAMED_SCHEMAS,
  ...COUNTS,
  ...NUMBERS,
  '$ref',
  'type',
  'enum',
  'const',
  'pattern',
  'required',
  'dependentRequired',
  'uniqueItems',
]);
