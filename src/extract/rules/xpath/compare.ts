import type { XPathPage } from './nodes.ts';
import { booleanOf, isNodes, numberOf, stringOf, type Value } from './value.ts';

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** XPath 1.0, section 3.4: with nodes, it is enough that one of them (or one pair) compares so. */
export function compare(page: XPathPage, operator: Comparison, one: Value, other: Value): boolean {
  if (isNodes(one)) {
    return isNodes(other)
      ? compareNodes(page, operator, one, other)
      : compareEach(page, operator, one, other, false);
  }
  if (isNodes(other)) return compareEach(page, operator, other, one, true);
  return compareSingle(page, operator, one, other);
}

function compareEach(
  page: XPathPage,
  operator: Comparison,
  nodes: readonly number[],
  value: Exclude<Value, readonly number[]>,
  isTurned: boolean,
): boolean {
  if (typeof value === 'boolean') {
    const has = booleanOf(nodes);
    return isTurned ? compareSingle(page, operator, value, has) : compareSingle(page, operator, has, value);
  }
  return nodes.some((node) => {
    page.budget.spend(1);
    const text = page.text(node);
    const single = typeof value === 'number' ? numberOf(page, text) : text;
    return isTurned
      ? compareSingle(page, operator, value, single)
      : compareSingle(page, operator, single, value);
  });
}

function compareNodes(
  page: XPathPage,
  operator: Comparison,
  one: readonly number[],
  other: readonly number[],
): boolean {
  if (one.length === 0 || other.length === 0) return false;
  const texts = one.map((node) => page.text(node));
  const others = other.map((node) => page.text(node));
  page.budget.spend(texts.length + others.length);
  if (operator === '=') {
    const known = new Set(texts);
    return others.some((text) => known.has(text));
  }
  // Two different texts are found unless all of both are the same one.
  if (operator === '!=') return new Set([...texts, ...others]).size > 1;
  const numbers = texts.map((text) => numberOf(page, text)).filter((number) => !Number.isNaN(number));
  const otherNumbers = others.map((text) => numberOf(page, text)).filter((number) => !Number.isNaN(number));
  if (numbers.length === 0 || otherNumbers.length === 0) return false;
  // Only the ends matter: some pair is smaller exactly when the smallest of one is smaller than the largest of the other.
  return operator.startsWith('<')
    ? compareSingle(page, operator, least(numbers), most(otherNumbers))
    : compareSingle(page, operator, most(numbers), least(otherNumbers));
}

const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b));
const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b));

function compareSingle(page: XPathPage, operator: Comparison, one: Value, other: Value): boolean {
  if (operator === '=' || operator === '!=') return isEqual(page, one, other) === (operator === '=');
  const left = numberOf(page, one);
  const right = numberOf(page, other);
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

function isEqual(page: XPathPage, one: Value, other: Value): boolean {
  if (typeof one === 'boolean' || typeof other === 'boolean') return booleanOf(one) === booleanOf(other);
  if (typeof one === 'number' || typeof other === 'number')
    return numberOf(page, one) === numberOf(page, other);
  return stringOf(page, one) === stringOf(page, other);
}
