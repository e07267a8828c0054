import type { Budget } from '../budget.ts';
import { RULE_LIMITS, RuleSyntaxError } from '../rule-text.ts';
import { compareValues, isRegexMatch, NOTHING, type Operated } from './compare.ts';
import {
  type Condition,
  type JsonPathQuery,
  type Operand,
  parseQuery,
  type Segment,
  type Selector,
} from './query.ts';

/** A JSONPath query (RFC 9535) ready to run on any value. */
export interface CompiledJsonPath {
  readonly source: string;
  /** The values found, at most `limit`, in the order of the specification. */
  find(value: unknown, limit: number, budget: Budget): unknown[];
}

/** Throws RuleSyntaxError with the position of the mistake. */
export function compileJsonPath(source: string): CompiledJsonPath {
  if (source.length > RULE_LIMITS.selectorChars) {
    throw new RuleSyntaxError(null, `The path has more than ${RULE_LIMITS.selectorChars} characters.`);
  }
  const query = parseQuery(source);
  return {
    source,
    find: (value, limit, budget) =>
      evaluateQuery(query, { root: value, current: value, budget }).slice(0, limit),
  };
}

/** The values that `$` and `@` stand for. */
interface QueryFocus {
  readonly root: unknown;
  readonly current: unknown;
  readonly budget: Budget;
}

/** The values a query finds, in the order RFC 9535 gives them; the same value may come more than once. */
function evaluateQuery({ from, segments }: JsonPathQuery, focus: QueryFocus): unknown[] {
  let values: unknown[] = [from === '$' ? focus.root : focus.current];
  for (const segment of segments) {
    const next: unknown[] = [];
    for (const value of values) applySegment(segment, value, focus, next);
    values = next;
    if (values.length === 0) break;
  }
  return values;
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

function applySegment(
  { isDescendant, selectors }: Segment,
  value: unknown,
  focus: QueryFocus,
  found: unknown[],
): void {
  if (!isDescendant) {
    for (const selector of selectors) applySelector(selector, value, focus, found);
    return;
  }
  // Without recursion, because a response may nest to any depth.
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    focus.budget.spend(1);
    if (!isContainer(next)) continue;
    for (const selector of selectors) applySelector(selector, next, focus, found);
    const inside = Array.isArray(next) ? (next as unknown[]) : Object.values(next);
    for (let at = inside.length - 1; at >= 0; at--) if (isContainer(inside[at])) waiting.push(inside[at]);
  }
}

function applySelector(selector: Selector, value: unknown, focus: QueryFocus, found: unknown[]): void {
  focus.budget.spend(1);
  if (!isContainer(value)) return;
  switch (selector.kind) {
    case 'name':
      if (!Array.isArray(value) && Object.hasOwn(value, selector.name)) {
        found.push((value as Record<string, unknown>)[selector.name]);
      }
      return;
    case 'index': {
      if (!Array.isArray(value)) return;
      const at = selector.index < 0 ? value.length + selector.index : selector.index;
      if (at >= 0 && at < value.length) found.push(value[at]);
      return;
    }
    case 'slice':
      if (Array.isArray(value)) slice(selector, value, focus.budget, found);
      return;
    case 'any':
    case 'filter': {
      const inside = Array.isArray(value) ? (value as unknown[]) : Object.values(value);
      focus.budget.spend(inside.length);
      for (const each of inside) {
        if (selector.kind === 'any' || isTrue(selector.condition, { ...focus, current: each }))
          found.push(each);
      }
      return;
    }
  }
}

/** RFC 9535, section 2.3.4.2.2. */
function slice(
  { start, end, step }: Selector & { kind: 'slice' },
  values: readonly unknown[],
  budget: Budget,
  found: unknown[],
): void {
  const { length } = values;
  if (step === 0) return;
  const from = placed(start ?? (step > 0 ? 0 : length - 1), length);
  const to = end === null ? (step > 0 ? length : -1) : placed(end, length);
  if (step > 0) {
    const last = Math.min(Math.max(to, 0), length);
    for (let at = Math.min(Math.max(from, 0), length); at < last; at += step) {
      budget.spend(1);
      found.push(values[at]);
    }
  } else {
    const last = Math.min(Math.max(to, -1), length - 1);
    for (let at = Math.min(Math.max(from, -1), length - 1); at > last; at += step) {
      budget.spend(1);
      found.push(values[at]);
    }
  }
}

function placed(index: number, length: number): number {
  return index >= 0 ? index : length + index;
}

function isTrue(condition: Condition, focus: QueryFocus): boolean {
  focus.budget.spend(1);
  switch (condition.kind) {
    case 'or':
      return condition.parts.some((part) => isTrue(part, focus));
    case 'and':
      return condition.parts.every((part) => isTrue(part, focus));
    case 'not':
      return !isTrue(condition.part, focus);
    case 'exists':
      return evaluateQuery(condition.query, focus).length > 0;
    case 'compare':
      return compareValues(
        condition.operator,
        operandValue(condition.left, focus),
        operandValue(condition.right, focus),
        focus.budget,
      );
    case 'matches': {
      const { value, pattern, isWhole } = condition;
      const text = operandValue(value, focus);
      const wanted = 'pattern' in pattern ? pattern : operandValue(pattern, focus);
      return isRegexMatch(text, wanted, isWhole, focus.budget);
    }
  }
}

function operandValue(operand: Operand, focus: QueryFocus): Operated {
  switch (operand.kind) {
    case 'literal':
      return operand.value;
    case 'singular': {
      const values = evaluateQuery(operand.query, focus);
      return values.length === 1 ? values[0] : NOTHING;
    }
    case 'value': {
      const values = evaluateQuery(operand.query, focus);
      return values.length === 1 ? values[0] : NOTHING;
    }
    case 'count':
      return evaluateQuery(operand.query, focus).length;
    case 'length':
      return lengthOf(operandValue(operand.value, focus));
  }
}

function lengthOf(value: Operated): Operated {
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  return isContainer(value) ? Object.keys(value).length : NOTHING;
}
