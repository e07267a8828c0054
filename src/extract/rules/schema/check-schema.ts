import type { Budget } from '../budget.ts';
import { isSame } from '../jsonpath/compare.ts';
import { RULE_LIMITS, type RuleProblem } from '../rule-text.ts';
import type { CompiledSchema, JsonTypeName, SchemaNode } from './compile-schema.ts';

/** Violations of a schema by a value, each with its path; empty when the value is valid. */
export function checkSchema(schema: CompiledSchema, value: unknown, budget: Budget): RuleProblem[] {
  const check = new SchemaCheck(budget);
  check.value(schema, value, '');
  return check.problems;
}

class SchemaCheck {
  readonly problems: RuleProblem[] = [];
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  value(node: SchemaNode, value: unknown, path: string): void {
    this.#budget.spend(1);
    if (!node.isPossible) {
      this.#problem(path, 'No value is allowed here.');
      return;
    }
    if (node.reference !== null) this.value(node.reference, value, path);
    if (node.types !== null && !node.types.some((type) => isOfType(type, value))) {
      this.#problem(path, `Must be ${node.types.join(' or ')}, is ${typeName(value)}.`);
      return;
    }
    if (node.values !== null && !node.values.some((each) => isSame(each, value, this.#budget))) {
      this.#problem(path, `Must be ${node.values.length === 1 ? '' : 'one of '}${brief(node.values)}.`);
    }
    if (typeof value === 'string') this.#text(node, value, path);
    else if (typeof value === 'number') this.#number(node, value, path);
    else if (Array.isArray(value)) this.#array(node, value, path);
    else if (typeof value === 'object' && value !== null)
      this.#object(node, value as Record<string, unknown>, path);
    this.#combined(node, value, path);
  }

  #problem(path: string, message: string): void {
    if (this.problems.length < RULE_LIMITS.problems) this.problems.push({ path, message });
  }

  #fits(node: SchemaNode, value: unknown): boolean {
    const check = new SchemaCheck(this.#budget);
    check.value(node, value, '');
    return check.problems.length === 0;
  }

  #count(node: SchemaNode, what: string, count: number, path: string, unit: string): void {
    const least = node.limits.get(`min${what}`);
    const most = node.limits.get(`max${what}`);
    if (least !== undefined && count < least)
      this.#problem(path, `Must have at least ${least} ${unit}, has ${count}.`);
    if (most !== undefined && count > most)
      this.#problem(path, `Must have at most ${most} ${unit}, has ${count}.`);
  }

  #text(node: SchemaNode, text: string, path: string): void {
    if (node.limits.has('minLength') || node.limits.has('maxLength')) {
      this.#count(node, 'Length', [...text].length, path, 'characters');
    }
    const pattern = node.pattern === null ? undefined : node.patterns.get(node.pattern);
    if (pattern !== undefined && !pattern.isIn(text, this.#budget)) {
      this.#problem(path, `Must match the pattern ${pattern.pattern}.`);
    }
  }

  #number({ limits }: SchemaNode, number: number, path: string): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = Object.fromEntries(limits);
    if (minimum !== undefined && number < minimum) this.#problem(path, `Must be at least ${minimum}.`);
    if (maximum !== undefined && number > maximum) this.#problem(path, `Must be at most ${maximum}.`);
    if (exclusiveMinimum !== undefined && number <= exclusiveMinimum) {
      this.#problem(path, `Must be above ${exclusiveMinimum}.`);
    }
    if (exclusiveMaximum !== undefined && number >= exclusiveMaximum) {
      this.#problem(path, `Must be below ${exclusiveMaximum}.`);
    }
    if (multipleOf !== undefined && !isMultiple(number, multipleOf)) {
      this.#problem(path, `Must be a multiple of ${multipleOf}.`);
    }
  }

  #array(node: SchemaNode, values: readonly unknown[], path: string): void {
    this.#count(node, 'Items', values.length, path, 'items');
    const first = node.lists.get('prefixItems') ?? [];
    const rest = node.schemas.get('items');
    for (const [at, value] of values.entries()) {
      const schema = first[at] ?? rest;
      if (schema !== undefined) this.value(schema, value, joined(path, at));
    }
    const contains = node.schemas.get('contains');
    if (contains !== undefined) this.#contains(node, contains, values, path);
    if (node.isUnique) this.#unique(values, path);
  }

  #contains({ limits }: SchemaNode, schema: SchemaNode, values: readonly unknown[], path: string): void {
    const count = values.filter((value) => this.#fits(schema, value)).length;
    const least = limits.get('minContains') ?? 1;
    const most = limits.get('maxContains') ?? values.length;
    if (count >= least && count <= most) return;
    const wanted = count < least ? `at least ${least}` : `at most ${most}`;
    this.#problem(path, `Must contain ${wanted} of what \`contains\` says, has ${count}.`);
  }

  #unique(values: readonly unknown[], path: string): void {
    for (let at = 1; at < values.length; at++) {
      for (let before = 0; before < at; before++) {
        if (!isSame(values[before], values[at], this.#budget)) continue;
        this.#problem(joined(path, at), `Is the same as item ${before}.`);
        return;
      }
    }
  }

  #object(node: SchemaNode, object: Record<string, unknown>, path: string): void {
    const names = Object.keys(object);
    this.#count(node, 'Properties', names.length, path, 'properties');
    for (const name of node.required) {
      if (!Object.hasOwn(object, name)) this.#problem(joined(path, name), 'Is required and missing.');
    }
    for (const [name, others] of node.dependentRequired) {
      if (!Object.hasOwn(object, name)) continue;
      for (const other of others) {
        if (!Object.hasOwn(object, other))
          this.#problem(joined(path, other), `Is required where \`${name}\` is.`);
      }
    }
    for (const [name, schema] of node.named.get('dependentSchemas') ?? []) {
      if (Object.hasOwn(object, name)) this.value(schema, object, path);
    }
    for (const name of names) this.#property(node, name, object[name], joined(path, name));
  }

  #property(node: SchemaNode, name: string, value: unknown, path: string): void {
    const nameSchema = node.schemas.get('propertyNames');
    if (nameSchema !== undefined && !this.#fits(nameSchema, name))
      this.#problem(path, 'Its name is not allowed.');
    const own = node.named.get('properties')?.get(name);
    if (own !== undefined) this.value(own, value, path);
    let isKnown = own !== undefined;
    for (const [pattern, schema] of node.named.get('patternProperties') ?? []) {
      if (!node.patterns.get(pattern)?.isIn(name, this.#budget)) continue;
      isKnown = true;
      this.value(schema, value, path);
    }
    const other = node.schemas.get('additionalProperties');
    if (isKnown || other === undefined) return;
    if (other.isPossible) this.value(other, value, path);
    else this.#problem(path, 'Is not a property of the schema.');
  }

  #combined(node: SchemaNode, value: unknown, path: string): void {
    for (const schema of node.lists.get('allOf') ?? []) this.value(schema, value, path);
    const anyOf = node.lists.get('anyOf');
    if (anyOf !== undefined && !anyOf.some((schema) => this.#fits(schema, value))) {
      this.#problem(path, 'Fits none of the schemas in `anyOf`.');
    }
    const one = node.lists.get('oneOf');
    if (one !== undefined) {
      const count = one.filter((schema) => this.#fits(schema, value)).length;
      if (count !== 1)
        this.#problem(path, `Must fit exactly one of the schemas in \`oneOf\`, fits ${count}.`);
    }
    const not = node.schemas.get('not');
    if (not !== undefined && this.#fits(not, value)) this.#problem(path, 'Fits what `not` forbids.');
    const condition = node.schemas.get('if');
    if (condition === undefined) return;
    const branch = node.schemas.get(this.#fits(condition, value) ? 'then' : 'else');
    if (branch !== undefined) this.value(branch, value, path);
  }
}

function joined(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`;
}

function isOfType(type: JsonTypeName, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** 0.3 is a multiple of 0.1, though not in binary. */
function isMultiple(number: number, step: number): boolean {
  const times = number / step;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
}

function brief(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
