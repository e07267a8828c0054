import { nearestName } from '../../../core/config/nearest-name.ts';
import { compileRegex, type Regex } from '../regex.ts';
import { RULE_LIMITS, type RuleProblem, RuleSyntaxError } from '../rule-text.ts';

/** Which keywords of JSON Schema (draft 2020-12) are checked, and what each must look like. */

const JSON_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'] as const;
export type JsonTypeName = (typeof JSON_TYPES)[number];

/** Annotations: they do not affect validation. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
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
const WITH_SCHEMA = [
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
] as const;
const WITH_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
const WITH_NAMED_SCHEMAS = ['properties', 'patternProperties', 'dependentSchemas'] as const;
/** Keywords that apply a schema to the same value, so a cycle of them would not terminate. */
const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
] as const;
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

const KEYWORDS: ReadonlySet<string> = new Set([
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

/** A compiled schema. Its parts refer to each other as in the document, cycles included. */
export interface SchemaNode {
  /** False for the schema `false`, which no value satisfies. */
  isPossible: boolean;
  types: readonly JsonTypeName[] | null;
  /** The plain keywords: numbers, names, values. */
  readonly limits: Map<string, number>;
  readonly schemas: Map<string, SchemaNode>;
  readonly lists: Map<string, readonly SchemaNode[]>;
  readonly named: Map<string, ReadonlyMap<string, SchemaNode>>;
  /** The compiled expressions of `pattern` and `patternProperties`, by their source. */
  readonly patterns: Map<string, Regex>;
  pattern: string | null;
  values: readonly unknown[] | null;
  required: readonly string[];
  dependentRequired: ReadonlyMap<string, readonly string[]>;
  isUnique: boolean;
  reference: SchemaNode | null;
}

export type CompiledSchema = SchemaNode;

/** The schema, or its mistakes with their paths. Keywords that would not be checked are refused, never ignored. */
export function compileSchema(
  schema: unknown,
  path = 'schema',
): { schema: CompiledSchema } | { problems: RuleProblem[] } {
  const compiler = new SchemaCompiler(schema, path);
  const root = compiler.compile();
  return compiler.problems.length === 0 ? { schema: root } : { problems: compiler.problems };
}

function emptyNode(): SchemaNode {
  return {
    isPossible: true,
    types: null,
    limits: new Map(),
    schemas: new Map(),
    lists: new Map(),
    named: new Map(),
    patterns: new Map(),
    pattern: null,
    values: null,
    required: [],
    dependentRequired: new Map(),
    isUnique: false,
    reference: null,
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

class SchemaCompiler {
  readonly problems: RuleProblem[] = [];
  readonly #root: unknown;
  readonly #path: string;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #references: { node: SchemaNode; reference: string; path: string }[] = [];

  constructor(root: unknown, path: string) {
    this.#root = root;
    this.#path = path;
  }

  compile(): SchemaNode {
    const root = this.#node(this.#root, this.#path, 0);
    // The target of a reference may contain further references.
    for (let next = this.#references.pop(); next !== undefined; next = this.#references.pop())
      this.#resolve(next);
    if (this.problems.length === 0) this.#refuseCircles(root);
    return root;
  }

  #problem(path: string, message: string, column?: number): void {
    if (this.problems.length < RULE_LIMITS.problems) {
      this.problems.push(column === undefined ? { path, message } : { path, message, column });
    }
  }

  #node(schema: unknown, path: string, depth: number): SchemaNode {
    const node = emptyNode();
    if (typeof schema === 'boolean') {
      node.isPossible = schema;
      return node;
    }
    if (!isRecord(schema)) {
      this.#problem(path, 'A schema is an object, true or false.');
      return node;
    }
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    this.#nodes.set(schema, node);
    if (this.#nodes.size > RULE_LIMITS.schemaParts || depth > RULE_LIMITS.schemaDepth) {
      const limit =
        depth > RULE_LIMITS.schemaDepth
          ? `${RULE_LIMITS.schemaDepth} levels`
          : `${RULE_LIMITS.schemaParts} parts`;
      this.#problem(path, `The schema has more than ${limit}.`);
      return node;
    }
    for (const [keyword, value] of Object.entries(schema))
      this.#keyword(node, keyword, value, `${path}.${keyword}`, depth);
    return node;
  }

  #keyword(node: SchemaNode, keyword: string, value: unknown, path: string, depth: number): void {
    if (!KEYWORDS.has(keyword)) {
      const nearest = nearestName(keyword, KEYWORDS);
      this.#problem(
        path,
        `This keyword is not checked here.${nearest === null ? '' : ` Did you mean \`${nearest}\`?`}`,
      );
    } else if (isOneOf(WITH_SCHEMA, keyword)) node.schemas.set(keyword, this.#node(value, path, depth + 1));
    else if (isOneOf(WITH_SCHEMAS, keyword)) {
      if (!Array.isArray(value) || value.length === 0) this.#problem(path, 'Must be a list of schemas.');
      else
        node.lists.set(
          keyword,
          value.map((each, at) => this.#node(each, `${path}.${at}`, depth + 1)),
        );
    } else if (isOneOf(WITH_NAMED_SCHEMAS, keyword)) {
      if (isRecord(value)) node.named.set(keyword, this.#namedNodes(keyword, node, value, path, depth));
      else this.#problem(path, 'Must be an object of schemas.');
    } else if (isOneOf(COUNTS, keyword)) {
      if (Number.isInteger(value) && (value as number) >= 0) node.limits.set(keyword, value as number);
      else this.#problem(path, 'Must be a whole number from 0 on.');
    } else if (isOneOf(NUMBERS, keyword)) {
      const isUsable = typeof value === 'number' && (keyword !== 'multipleOf' || value > 0);
      if (isUsable) node.limits.set(keyword, value);
      else this.#problem(path, keyword === 'multipleOf' ? 'Must be a number above 0.' : 'Must be a number.');
    } else this.#other(node, keyword, value, path);
  }

  #namedNodes(
    keyword: string,
    node: SchemaNode,
    schemas: Record<string, unknown>,
    path: string,
    depth: number,
  ): Map<string, SchemaNode> {
    const nodes = new Map<string, SchemaNode>();
    for (const [name, schema] of Object.entries(schemas)) {
      nodes.set(name, this.#node(schema, `${path}.${name}`, depth + 1));
      if (keyword === 'patternProperties') this.#pattern(node, name, `${path}.${name}`);
    }
    return nodes;
  }

  #pattern(node: SchemaNode, pattern: string, path: string): void {
    try {
      node.patterns.set(pattern, compileRegex(pattern));
    } catch (error) {
      if (!(error instanceof RuleSyntaxError)) throw error;
      this.#problem(path, error.message, error.position === null ? undefined : error.position + 1);
    }
  }

  #other(node: SchemaNode, keyword: string, value: unknown, path: string): void {
    switch (keyword) {
      case '$ref':
        if (typeof value === 'string') this.#references.push({ node, reference: value, path });
        else this.#problem(path, 'Must be a text.');
        return;
      case 'type': {
        const types = Array.isArray(value) ? (value as unknown[]) : [value];
        const wrong = types.find((type) => !isOneOf(JSON_TYPES, type));
        if (types.length > 0 && wrong === undefined) node.types = types as JsonTypeName[];
        else
          this.#problem(
            path,
            `There is no type ${JSON.stringify(wrong) ?? ''}; the types are ${JSON_TYPES.join(', ')}.`,
          );
        return;
      }
      case 'enum':
        if (Array.isArray(value)) node.values = value as unknown[];
        else this.#problem(path, 'Must be a list of values.');
        return;
      case 'const':
        node.values = [value];
        return;
      case 'pattern':
        if (typeof value === 'string') {
          node.pattern = value;
          this.#pattern(node, value, path);
        } else this.#problem(path, 'Must be a text.');
        return;
      case 'required':
        if (isStrings(value)) node.required = value;
        else this.#problem(path, 'Must be a list of names.');
        return;
      case 'uniqueItems':
        if (typeof value === 'boolean') node.isUnique = value;
        else this.#problem(path, 'Must be true or false.');
        return;
      case 'dependentRequired':
        if (isRecord(value) && Object.values(value).every(isStrings)) {
          node.dependentRequired = new Map(Object.entries(value as Record<string, string[]>));
        } else this.#problem(path, 'Must be an object of lists of names.');
    }
  }

  #resolve({ node, reference, path }: { node: SchemaNode; reference: string; path: string }): void {
    if (!/^#(?:\/|$)/.test(reference)) {
      this.#problem(path, 'Only references within the schema are followed: `#` or `#/$defs/name`.');
      return;
    }
    let target: unknown = this.#root;
    for (const step of reference.split('/').slice(1)) {
      const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const isThere = typeof target === 'object' && target !== null && Object.hasOwn(target, name);
      target = isThere ? (target as Record<string, unknown>)[name] : undefined;
    }
    if (target === undefined) this.#problem(path, `There is nothing at \`${reference}\`.`);
    else node.reference = this.#node(target, `${this.#path}(${reference})`, 0);
  }

  /** Refuses schemas that refer to themselves for the same value, whose check would not terminate. */
  #refuseCircles(root: SchemaNode): void {
    const done = new Set<SchemaNode>();
    const open = new Set<SchemaNode>();
    const visit = (node: SchemaNode, depth: number): boolean => {
      if (open.has(node)) return true;
      if (done.has(node) || depth > RULE_LIMITS.schemaParts) return false;
      open.add(node);
      const isCircle = inPlaceOf(node).some((next) => visit(next, depth + 1));
      open.delete(node);
      done.add(node);
      return isCircle;
    };
    if ([root, ...this.#nodes.values()].some((node) => visit(node, 0))) {
      this.#problem(this.#path, 'A `$ref` leads back to itself without going into a property or an item.');
    }
  }
}

function inPlaceOf(node: SchemaNode): SchemaNode[] {
  const next = node.reference === null ? [] : [node.reference];
  for (const [keyword, schema] of node.schemas) if (IN_PLACE.has(keyword)) next.push(schema);
  for (const [keyword, schemas] of node.lists) if (IN_PLACE.has(keyword)) next.push(...schemas);
  for (const [keyword, schemas] of node.named) if (IN_PLACE.has(keyword)) next.push(...schemas.values());
  return next;
}

function isOneOf<T extends string>(names: readonly T[], name: unknown): name is T {
  return (names as readonly unknown[]).includes(name);
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
