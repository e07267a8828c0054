import { nearestName } from '../../core/config/nearest-name.ts';
import type { QueryField } from '../../core/model/query-fields.ts';
import {
  COMPARISONS,
  type QueryCondition,
  type QueryValue,
  TEXT_TESTS,
} from '../../core/ports/query-store.ts';
import { type FieldProblem, invalidRequest } from '../jobs/request/invalid-request.ts';

export const CONDITION_LIMITS = {
  depth: 8,
  /** Comparisons in one query. */
  comparisons: 100,
  /** Values in one query, those of lists included. */
  values: 2_000,
  textChars: 4_096,
} as const;

/** The operators of a request. `ne`, `notIn` and `isNotNull` are the negations of others. */
export const OPERATORS = [...COMPARISONS, 'ne', 'in', 'notIn', ...TEXT_TESTS, 'isNull', 'isNotNull'] as const;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isKind = <T extends string>(kinds: readonly T[], op: string): op is T =>
  (kinds as readonly string[]).includes(op);

/** A condition that every row fulfils. */
const TRUE: QueryCondition = { kind: 'and', of: [] };

/** Checks the conditions of a request: `{field, op, value}`, `{and: […]}`, `{or: […]}`, `{not: {…}}`. */
export class ConditionParser {
  readonly #fieldOf: (name: unknown, at: string) => QueryField | undefined;
  readonly #problems: QueryProblems;
  #comparisons = 0;
  #values = 0;

  constructor(fieldOf: (name: unknown, at: string) => QueryField | undefined, problems: QueryProblems) {
    this.#fieldOf = fieldOf;
    this.#problems = problems;
  }

  parse(given: unknown, at: string, depth = 0): QueryCondition {
    if (depth > CONDITION_LIMITS.depth) {
      this.#problems.add(at, `must not be nested deeper than ${CONDITION_LIMITS.depth} levels`);
      return TRUE;
    }
    if (!isObject(given)) {
      this.#problems.add(at, 'must be an object with `field` and `op`, or with `and`, `or` or `not`');
      return TRUE;
    }
    const [name, ...others] = Object.keys(given).filter((key) => ['and', 'or', 'not'].includes(key));
    if (name === undefined) return this.#comparison(given, at);
    if (others.length > 0 || Object.keys(given).length > 1) {
      this.#problems.add(at, `\`${name}\` must stand alone in its object`);
      return TRUE;
    }
    if (name === 'not') return { kind: 'not', of: this.parse(given.not, `${at}.not`, depth + 1) };
    const list = given[name];
    if (!Array.isArray(list) || list.length === 0 || list.length > CONDITION_LIMITS.comparisons) {
      this.#problems.add(
        `${at}.${name}`,
        `must be a list of 1 to ${CONDITION_LIMITS.comparisons} conditions`,
      );
      return TRUE;
    }
    const of = list.map((each, index) => this.parse(each, `${at}.${name}.${index}`, depth + 1));
    return { kind: name as 'and' | 'or', of };
  }

  #comparison(given: Readonly<Record<string, unknown>>, at: string): QueryCondition {
    this.#comparisons += 1;
    if (this.#comparisons > CONDITION_LIMITS.comparisons) {
      if (this.#comparisons === CONDITION_LIMITS.comparisons + 1) {
        this.#problems.add('where', `must have at most ${CONDITION_LIMITS.comparisons} comparisons`);
      }
      return TRUE;
    }
    for (const key of Object.keys(given)) {
      if (!['field', 'op', 'value'].includes(key)) {
        const near = suggestion(key, ['field', 'op', 'value', 'and', 'or', 'not']);
        this.#problems.add(`${at}.${shortened(key)}`, `is not known here${near}`);
      }
    }
    const field = this.#fieldOf(given.field, `${at}.field`);
    const { op = 'eq', value } = given;
    if (typeof op !== 'string' || !isKind(OPERATORS, op)) {
      const near = typeof op === 'string' ? suggestion(op, OPERATORS) : '';
      this.#problems.add(`${at}.op`, `must be one of ${OPERATORS.join(', ')}${near}`);
      return TRUE;
    }
    return field === undefined ? TRUE : this.#typed(field, op, value, at);
  }

  #typed(field: QueryField, op: (typeof OPERATORS)[number], value: unknown, at: string): QueryCondition {
    const not = (of: QueryCondition): QueryCondition => ({ kind: 'not', of });
    if (op === 'isNull' || op === 'isNotNull') {
      if (value !== undefined) this.#problems.add(`${at}.value`, `must be left out with \`${op}\``);
      const isNull: QueryCondition = { kind: 'isNull', field };
      return op === 'isNull' ? isNull : not(isNull);
    }
    if (op === 'in' || op === 'notIn') {
      if (!Array.isArray(value) || value.length === 0) {
        this.#problems.add(`${at}.value`, `must be a list of one or more values with \`${op}\``);
        return TRUE;
      }
      const values = value
        .slice(0, CONDITION_LIMITS.values + 1)
        .flatMap((each, index) => this.#value(each, field, `${at}.value.${index}`) ?? []);
      const isIn: QueryCondition = { kind: 'in', field, values };
      return op === 'in' ? isIn : not(isIn);
    }
    if (value === null && (op === 'eq' || op === 'ne')) {
      this.#problems.add(`${at}.value`, `is null; use \`${op === 'eq' ? 'isNull' : 'isNotNull'}\``);
      return TRUE;
    }
    if (isKind(TEXT_TESTS, op)) {
      if (field.type !== 'text' && field.type !== 'json') {
        this.#problems.add(`${at}.op`, `"${field.name}" is of type ${field.type}; \`${op}\` needs a text`);
        return TRUE;
      }
      const part = this.#value(value, { ...field, type: 'text' }, `${at}.value`);
      if (part === '') this.#problems.add(`${at}.value`, 'must not be empty');
      return { kind: op, field, value: String(part ?? '') };
    }
    const compared = this.#value(value, field, `${at}.value`) ?? '';
    return op === 'ne' ? not({ kind: 'eq', field, value: compared }) : { kind: op, field, value: compared };
  }

  /** The value as the field has it; undefined, and a problem, when it is of another type. */
  #value(given: unknown, { name, type }: QueryField, at: string): QueryValue | undefined {
    this.#values += 1;
    if (this.#values > CONDITION_LIMITS.values) {
      if (this.#values === CONDITION_LIMITS.values + 1) {
        this.#problems.add('where', `must have at most ${CONDITION_LIMITS.values} values`);
      }
      return undefined;
    }
    const value = type === 'time' ? timeOf(given) : given;
    const isText = typeof value === 'string';
    if (
      isText &&
      (value.length > CONDITION_LIMITS.textChars || value.includes('\0') || !value.isWellFormed())
    ) {
      const most = CONDITION_LIMITS.textChars;
      this.#problems.add(at, `must be at most ${most} characters of well-formed text without U+0000`);
      return undefined;
    }
    const isFitting =
      (isText && (type === 'text' || type === 'json')) ||
      (typeof value === 'number' && Number.isFinite(value) && type !== 'text' && type !== 'boolean') ||
      (typeof value === 'boolean' && (type === 'boolean' || type === 'json'));
    if (isFitting) return value as QueryValue;
    const expected = {
      text: 'a text',
      number: 'a number',
      boolean: 'true or false',
      time: 'a time such as 2026-01-31 or 2026-01-31T12:00:00Z',
      json: 'a text, a number, true or false',
    }[type];
    this.#problems.add(at, `must be ${expected}: "${name}" is of type ${type}`);
    return undefined;
  }
}

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** Epoch milliseconds of ISO 8601, UTC where it names no zone; numbers are such milliseconds already. */
function timeOf(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  if (!TIME.test(given)) return undefined;
  const hasZone = given.length === 10 || /(?:Z|[+-]\d{2}:\d{2})$/.test(given);
  const time = Date.parse(hasZone ? given : `${given}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** The problems of a request, each under the field that has it. */
export class QueryProblems {
  readonly #problems: FieldProblem[] = [];

  add(field: string, message: string): void {
    this.#problems.push({ field, message });
  }

  /** Throws VALIDATION_FAILED when there are any. */
  refuse(): void {
    if (this.#problems.length > 0) throw invalidRequest(this.#problems);
  }
}

/** The known name that was probably meant, as the end of a sentence; empty when none is near. */
export function suggestion(given: string, known: Iterable<string>): string {
  const near = nearestName(given.slice(0, 100), known);
  return near === null ? '' : `; did you mean "${near}"?`;
}

export const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
