import type { Budget } from '../budget.ts';
import { compileRegex, type Regex } from '../regex.ts';
import { RuleSyntaxError } from '../rule-text.ts';
import type { ComparisonOperator } from './query.ts';

/** The value of a path without a result: equal only to itself. */
export const NOTHING = Symbol('nothing');
/** A JSON value or `NOTHING`. */
export type Operated = unknown;

export function compareValues(
  operator: ComparisonOperator,
  left: Operated,
  right: Operated,
  budget: Budget,
): boolean {
  switch (operator) {
    case '==':
      return isSame(left, right, budget);
    case '!=':
      return !isSame(left, right, budget);
    case '<':
      return isLess(left, right);
    case '>':
      return isLess(right, left);
    case '<=':
      return isLess(left, right) || isSame(left, right, budget);
    case '>=':
      return isLess(right, left) || isSame(left, right, budget);
  }
}

/** Numbers and strings have an order, nothing else; strings go by code points, not by UTF-16 units. */
function isLess(left: Operated, right: Operated): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right;
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    if (left[at] !== right[at]) return (left.codePointAt(at) ?? 0) < (right.codePointAt(at) ?? 0);
  }
  return left.length < right.length;
}

/** Deep equality of JSON, without recursion. */
export function isSame(left: unknown, right: unknown, budget: Budget): boolean {
  const waiting: [unknown, unknown][] = [[left, right]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    budget.spend(1);
    const [one, other] = pair;
    if (one === other) continue;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (Array.isArray(one) !== Array.isArray(other)) return false;
    const names = Object.keys(one);
    if (names.length !== Object.keys(other).length) return false;
    for (const name of names) {
      if (!Object.hasOwn(other, name)) return false;
      waiting.push([(one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]]);
    }
  }
  return true;
}

/** A pattern that is no string, or invalid, matches nothing. */
export function isRegexMatch(
  text: Operated,
  pattern: Operated | Regex,
  isWhole: boolean,
  budget: Budget,
): boolean {
  if (typeof text !== 'string') return false;
  const regex =
    typeof pattern === 'string' ? compiled(pattern, budget) : (pattern as Regex | null | undefined);
  if (regex === null || typeof regex !== 'object' || typeof regex.isIn !== 'function') return false;
  return isWhole ? regex.isAll(text, budget) : regex.isIn(text, budget);
}

function compiled(pattern: string, budget: Budget): Regex | null {
  budget.spend(1_000 + pattern.length * 10);
  try {
    return compileIRegexp(pattern, 0);
  } catch (error) {
    if (error instanceof RuleSyntaxError) return null;
    throw error;
  }
}

/** A pattern of RFC 9485; `.` means anything but the two line ends there. Throws RuleSyntaxError at the given position. */
export function compileIRegexp(pattern: string, at: number): Regex {
  // The empty pattern matches the empty text.
  const source = pattern === '' ? '(?:)' : withDots(pattern);
  try {
    return compileRegex(source);
  } catch (error) {
    if (error instanceof RuleSyntaxError) throw new RuleSyntaxError(at, error.message);
    throw error;
  }
}

function withDots(pattern: string): string {
  let result = '';
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] as string;
    if (char === '\\') {
      result += char + (pattern[at + 1] ?? '');
      at++;
    } else if (char === '.' && !isInClass) result += '[^\\n\\r]';
    else {
      if (char === '[') isInClass = true;
      else if (char === ']') isInClass = false;
      result += char;
    }
  }
  return result;
}
