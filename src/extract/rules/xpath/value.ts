import type { XPathPage } from './nodes.ts';

/** Nodes are in document order, each once. */
export type Value = string | number | boolean | readonly number[];

const NUMBER = /^[ \t\n\r]*-?(?:\d+(?:\.\d*)?|\.\d+)[ \t\n\r]*$/;

export function isNodes(value: Value): value is readonly number[] {
  return Array.isArray(value);
}

export function stringOf(page: XPathPage, value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return written(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  const [first] = value;
  return first === undefined ? '' : page.text(first);
}

export function numberOf(page: XPathPage, value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const text = stringOf(page, value);
  return NUMBER.test(text) ? Number(text) : Number.NaN;
}

export function booleanOf(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0 && !Number.isNaN(value);
  return value.length > 0;
}

/** XPath knows no exponents. */
function written(number: number): string {
  if (Object.is(number, -0)) return '0';
  const text = String(number);
  if (!text.includes('e')) return text;
  if (Math.abs(number) >= 1) return BigInt(number).toString();
  const [digits = '', exponent = '0'] = text.split('e-');
  const places = Number(exponent) + (digits.split('.')[1]?.length ?? 0);
  return places > 100 ? number.toFixed(100).replace(/0+$/, '0') : number.toFixed(places);
}

type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** XPath 1.0, section 3.4: with node sets, one node (or one pair) that compares true is enough. */
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
  // Some pair differs unless all texts of both sets are the same.
  if (operator === '!=') return new Set([...texts, ...others]).size > 1;
  const numbers = texts.map((text) => numberOf(page, text)).filter((number) => !Number.isNaN(number));
  const otherNumbers = others.map((text) => numberOf(page, text)).filter((number) => !Number.isNaN(number));
  if (numbers.length === 0 || otherNumbers.length === 0) return false;
  // Only the extremes matter: some pair is smaller exactly when the smallest of one is smaller than the largest of the other.
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
