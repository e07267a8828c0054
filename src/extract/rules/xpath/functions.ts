import type { XPathType } from './expression.ts';
import type { XPathPage } from './nodes.ts';

/** The context of an expression: node, position and size. */
export interface Focus {
  readonly page: XPathPage;
  readonly node: number;
  readonly position: number;
  readonly size: number;
}

interface XPathFunction {
  readonly least: number;
  readonly most: number;
  readonly type: XPathType;
  /** The first parameter must be nodes. */
  readonly needsNodes?: boolean;
  readonly run: (focus: Focus, values: readonly Value[]) => Value;
}

const XML_SPACE = /[ \t\n\r]+/g;

const NUMBER = /^[ \t\n\r]*-?(?:\d+(?:\.\d*)?|\.\d+)[ \t\n\r]*$/;

function text(focus: Focus, values: readonly Value[], place: number): string {
  const value = values[place];
  return stringOf(focus.page, value ?? [focus.node]);
}

function fn(
  type: XPathType,
  least: number,
  most: number,
  run: XPathFunction['run'],
  needsNodes = false,
): XPathFunction {
  return { type, least, most, run, needsNodes };
}

/** The first of the given nodes, or the context node; undefined for an empty set. */
function nodeOf(focus: Focus, values: readonly Value[]): number | undefined {
  const [nodes] = values;
  return nodes === undefined ? focus.node : (nodes as readonly number[])[0];
}

function nameOf(focus: Focus, values: readonly Value[]): string {
  const node = nodeOf(focus, values);
  return node === undefined ? '' : focus.page.name(node);
}

const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b));
const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b));

/** All functions of XPath 1.0. */
export const FUNCTIONS: ReadonlyMap<string, XPathFunction> = new Map(
  Object.entries({
    last: fn('number', 0, 0, ({ size }) => size),
    position: fn('number', 0, 0, ({ position }) => position),
    count: fn('number', 1, 1, (_focus, [nodes]) => (nodes as readonly number[]).length, true),
    id: fn('nodes', 1, 1, ({ page }, [value]) => {
      const ids = Array.isArray(value)
        ? (value as readonly number[]).flatMap((node) => page.text(node).split(XML_SPACE))
        : stringOf(page, value as Value).split(XML_SPACE);
      return page.withIds(new Set(ids.filter((id) => id !== '')));
    }),
    'local-name': fn('string', 0, 1, (focus, values) => nameOf(focus, values).replace(/^[^:]*:/, ''), true),
    'namespace-uri': fn('string', 0, 1, () => '', true),
    name: fn('string', 0, 1, nameOf, true),
    string: fn('string', 0, 1, (focus, values) => text(focus, values, 0)),
    concat: fn('string', 2, 100, (focus, values) => {
      const whole = values.map((value) => stringOf(focus.page, value)).join('');
      focus.page.budget.spend(whole.length >>> 3);
      return whole;
    }),
    'starts-with': fn('boolean', 2, 2, (focus, values) =>
      text(focus, values, 0).startsWith(text(focus, values, 1)),
    ),
    contains: fn('boolean', 2, 2, (focus, values) => text(focus, values, 0).includes(text(focus, values, 1))),
    'substring-before': fn('string', 2, 2, (focus, values) => {
      const whole = text(focus, values, 0);
      const at = whole.indexOf(text(focus, values, 1));
      return at < 0 ? '' : whole.slice(0, at);
    }),
    'substring-after': fn('string', 2, 2, (focus, values) => {
      const whole = text(focus, values, 0);
      const part = text(focus, values, 1);
      const at = whole.indexOf(part);
      return at < 0 ? '' : whole.slice(at + part.length);
    }),
    substring: fn('string', 2, 3, (focus, [value, start, length]) => {
      const letters = [...stringOf(focus.page, value as Value)];
      const from = round(numberOf(focus.page, start as Value));
      const to = length === undefined ? Number.POSITIVE_INFINITY : from + round(numberOf(focus.page, length));
      // Comparisons with NaN are false, which is what the specification asks for.
      return letters.filter((_letter, at) => at + 1 >= from && at + 1 < to).join('');
    }),
    'string-length': fn('number', 0, 1, (focus, values) => [...text(focus, values, 0)].length),
    'normalize-space': fn('string', 0, 1, (focus, values) =>
      text(focus, values, 0).replace(XML_SPACE, ' ').replace(/^ | $/g, ''),
    ),
    translate: fn('string', 3, 3, (focus, values) => {
      const from = [...text(focus, values, 1)];
      const to = [...text(focus, values, 2)];
      const table = new Map<string, string>();
      for (const [at, letter] of from.entries()) if (!table.has(letter)) table.set(letter, to[at] ?? '');
      return Array.from(text(focus, values, 0), (letter) => table.get(letter) ?? letter).join('');
    }),
    boolean: fn('boolean', 1, 1, (_focus, [value]) => booleanOf(value as Value)),
    not: fn('boolean', 1, 1, (_focus, [value]) => !booleanOf(value as Value)),
    true: fn('boolean', 0, 0, () => true),
    false: fn('boolean', 0, 0, () => false),
    lang: fn('boolean', 1, 1, (focus, values) => focus.page.hasLanguage(focus.node, text(focus, values, 0))),
    number: fn('number', 0, 1, (focus, [value]) => numberOf(focus.page, value ?? [focus.node])),
    sum: fn(
      'number',
      1,
      1,
      ({ page }, [nodes]) =>
        (nodes as readonly number[]).reduce((sum, node) => sum + numberOf(page, [node]), 0),
      true,
    ),
    floor: fn('number', 1, 1, ({ page }, [value]) => Math.floor(numberOf(page, value as Value))),
    ceiling: fn('number', 1, 1, ({ page }, [value]) => Math.ceil(numberOf(page, value as Value))),
    round: fn('number', 1, 1, ({ page }, [value]) => round(numberOf(page, value as Value))),
  }),
);

/** Halves go up, as in Math.round, which keeps infinities and NaN as they are. */
function round(number: number): number {
  return Math.round(number);
}

/** Nodes are in document order, each once. */
export type Value = string | number | boolean | readonly number[];

export function isNodes(value: Value): value is readonly number[] {
  return Array.isArray(value);
}

function stringOf(page: XPathPage, value: Value): string {
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
