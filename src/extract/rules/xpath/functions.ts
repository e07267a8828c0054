import type { XPathType } from './expression.ts';
import type { XPathPage } from './nodes.ts';
import type { Value } from './value.ts';
import { booleanOf, numberOf, stringOf } from './value.ts';

/** The context of an expression: node, position and size. */
export interface Focus {
  readonly page: XPathPage;
  readonly node: number;
  readonly position: number;
  readonly size: number;
}

export interface XPathFunction {
  readonly least: number;
  readonly most: number;
  readonly type: XPathType;
  /** The first parameter must be nodes. */
  readonly needsNodes?: boolean;
  readonly run: (focus: Focus, values: readonly Value[]) => Value;
}

const XML_SPACE = /[ \t\n\r]+/g;

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
