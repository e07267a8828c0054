import { nearestName } from '../../../core/config/nearest-name.ts';
import type { Budget } from '../budget.ts';
import { quoteAt, RULE_LIMITS, RuleText } from '../rule-text.ts';
import type { TreeIndex } from '../tree-index.ts';

/** A parsed selector, as plain data. */

/** Descendant, child, next sibling, later sibling. */
export type Combinator = ' ' | '>' | '+' | '~';
type AttributeOperator = '=' | '~=' | '|=' | '^=' | '$=' | '*=' | '!=';

/** Alternatives, separated by commas. */
export type SelectorList = readonly ComplexSelector[];

export interface ComplexSelector {
  /** A leading combinator: `> li` means children of the scope element. */
  readonly leading: Combinator | null;
  /** From left to right; the last one matches the selected element. */
  readonly compounds: readonly CompoundSelector[];
  /** `combinators[i]` stands between `compounds[i]` and the next. */
  readonly combinators: readonly Combinator[];
}

export type CompoundSelector = readonly SimpleSelector[];

export type SimpleSelector =
  | { readonly kind: 'any' }
  | { readonly kind: 'tag'; readonly name: string }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'class'; readonly name: string }
  | AttributeSelector
  | { readonly kind: 'is' | 'not' | 'has'; readonly list: SelectorList }
  | NthSelector
  | { readonly kind: 'contains'; readonly text: string }
  | { readonly kind: 'plain'; readonly name: PlainPseudo };

export interface AttributeSelector {
  readonly kind: 'attribute';
  readonly name: string;
  /** Null matches any element with the attribute. */
  readonly operator: AttributeOperator | null;
  readonly value: string;
  readonly ignoresCase: boolean;
}

export interface NthSelector {
  readonly kind: 'nth';
  readonly name: 'nth-child' | 'nth-last-child' | 'nth-of-type' | 'nth-last-of-type';
  /** Positions `step × n + offset` for n = 0, 1, 2 … */
  readonly step: number;
  readonly offset: number;
  /** Counts only elements that match these. */
  readonly of: SelectorList | null;
}

const PLAIN_PSEUDOS = [
  'root',
  'scope',
  'empty',
  'first-child',
  'last-child',
  'only-child',
  'first-of-type',
  'last-of-type',
  'only-of-type',
  'any-link',
  'link',
  'checked',
  'disabled',
  'enabled',
] as const;
export type PlainPseudo = (typeof PLAIN_PSEUDOS)[number];

/** The context of one selection. */
export interface SelectScope {
  readonly index: TreeIndex;
  readonly budget: Budget;
  /** The node that `:scope` matches. */
  readonly scope: number;
  /** The node that a leading combinator refers to; changes within `:has`. */
  anchor: number;
}

/** True when an element matches a simple or compound selector. */
export type Test = (scope: SelectScope, node: number) => boolean;

/**
 * The reach of a failure. Matching goes from right to left, so an element may fail by itself (other ancestors or siblings
 * may still match), for all its preceding siblings, or for all its ancestors as well. The last two end the outer loops,
 * which keeps `a b c d` linear in the depth of the page instead of a power of it.
 */
export type Outcome = typeof MATCHES | typeof FAILS_HERE | typeof FAILS_SIBLINGS | typeof FAILS_ALL;
export type Match = (scope: SelectScope, node: number) => Outcome;

export const MATCHES = 0;
export const FAILS_HERE = 1;
export const FAILS_SIBLINGS = 2;
export const FAILS_ALL = 3;

const NAME_START = /[a-z_\u0080-\uffff-]/i;
const NAME = /[\w\u0080-\uffff-]/;
const SPACE = /[ \t\n\r\f]/;

/** Reads names, strings and white space of a selector by the rules of CSS. */
class SelectorReader extends RuleText {
  /** Skips white space and comments; returns true when there were any. */
  skipSpace(): boolean {
    const start = this.at;
    for (;;) {
      while (SPACE.test(this.char)) this.at++;
      if (!this.source.startsWith('/*', this.at)) return this.at > start;
      const end = this.source.indexOf('*/', this.at + 2);
      if (end < 0) this.fail('The comment has no end.');
      this.at = end + 2;
    }
  }

  get isAtName(): boolean {
    const { char } = this;
    if (char === '\\') return !/[\n\r\f]/.test(this.source[this.at + 1] ?? '\n');
    if (char !== '-') return NAME_START.test(char);
    const next = this.source[this.at + 1] ?? '';
    return next === '\\' || NAME_START.test(next);
  }

  name(what: string): string {
    if (!this.isAtName) this.unexpected(what);
    return this.nameLetters();
  }

  /** Reads name characters, also after a leading digit, as in ids and unquoted values. */
  nameLetters(): string {
    let name = '';
    for (;;) {
      const { char } = this;
      if (char === '\\') name += this.#escape();
      else if (char !== '' && NAME.test(char)) {
        name += char;
        this.at++;
      } else return name;
    }
  }

  string(): string {
    return this.quotedString((char) => {
      if (char !== '\\') return null;
      if (!/[\n\r\f]/.test(this.source[this.at + 1] ?? '')) return this.#escape();
      // A backslash before the end of a line continues the string there.
      this.at += 2;
      return '';
    });
  }

  #escape(): string {
    const start = this.at;
    this.at++;
    const hex = /^[0-9a-f]{1,6}/i.exec(this.source.slice(this.at, this.at + 6))?.[0];
    if (hex !== undefined) {
      this.at += hex.length;
      if (SPACE.test(this.char)) this.at++;
      const code = Number.parseInt(hex, 16);
      const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : '\ufffd';
    }
    const char = this.source.codePointAt(this.at);
    if (char === undefined) this.fail('A backslash cannot be the last character.', start);
    const text = String.fromCodePoint(char);
    this.at += text.length;
    return text;
  }
}

const OPERATORS: readonly AttributeOperator[] = ['~=', '|=', '^=', '$=', '*=', '!=', '='];
const NTH = ['nth-child', 'nth-last-child', 'nth-of-type', 'nth-last-of-type'] as const;
const WITH_ARGUMENT = ['is', 'where', 'matches', 'not', 'has', 'contains', ...NTH];
const SHOWN_BY_BROWSERS = new Set([
  'hover',
  'focus',
  'active',
  'visited',
  'target',
  'focus-within',
  'focus-visible',
]);

/** Throws RuleSyntaxError with the position of the mistake. */
export function parseSelector(source: string): SelectorList {
  const reader = new SelectorReader(source);
  const list = selectorList(reader, true, 0);
  if (!reader.isAtEnd) reader.unexpected('a selector, a combinator or the end');
  return list;
}

function selectorList(reader: SelectorReader, mayLead: boolean, depth: number): SelectorList {
  if (depth > RULE_LIMITS.selectorNesting) {
    reader.fail(`More than ${RULE_LIMITS.selectorNesting} pairs of brackets inside each other.`);
  }
  const list: ComplexSelector[] = [];
  do {
    reader.skipSpace();
    list.push(complexSelector(reader, mayLead, depth));
  } while (reader.take(','));
  return list;
}

function complexSelector(reader: SelectorReader, mayLead: boolean, depth: number): ComplexSelector {
  const start = reader.at;
  const leading = combinatorSign(reader);
  if (leading !== null && !mayLead) reader.fail('A selector cannot begin with a combinator here.', start);
  reader.skipSpace();
  const compounds = [compoundSelector(reader, depth)];
  const combinators: Combinator[] = [];
  for (;;) {
    const hasSpace = reader.skipSpace();
    const sign = combinatorSign(reader);
    reader.skipSpace();
    if (sign === null && (!hasSpace || reader.isAtEnd || reader.char === ',' || reader.char === ')')) {
      return { leading, compounds, combinators };
    }
    combinators.push(sign ?? ' ');
    compounds.push(compoundSelector(reader, depth));
  }
}

function combinatorSign(reader: SelectorReader): Combinator | null {
  for (const sign of ['>', '+', '~'] as const) if (reader.take(sign)) return sign;
  return null;
}

function compoundSelector(reader: SelectorReader, depth: number): SimpleSelector[] {
  const simples: SimpleSelector[] = [];
  const start = reader.at;
  if (reader.take('*')) simples.push({ kind: 'any' });
  else if (reader.isAtName) simples.push({ kind: 'tag', name: tagName(reader) });
  for (;;) {
    if (reader.take('#')) simples.push({ kind: 'id', id: idName(reader) });
    else if (reader.take('.')) simples.push({ kind: 'class', name: reader.name('the name of a class') });
    else if (reader.take('[')) simples.push(attributeSelector(reader));
    else if (reader.char === ':') simples.push(pseudoClass(reader, depth));
    else break;
  }
  if (simples.length === 0)
    reader.fail(`Expected a selector, found ${quoteAt(reader.source, start)}.${hint(reader)}`);
  return simples;
}

/** Feeds and SVG have elements such as `media:content`; CSS writes the colon with a bar. */
function tagName(reader: SelectorReader): string {
  const name = reader.name('the name of an element').toLowerCase();
  const isPrefix = reader.char === '|' && reader.source[reader.at + 1] !== '=';
  if (!isPrefix) return name;
  reader.at++;
  return `${name}:${reader.name('the name of an element').toLowerCase()}`;
}

function hint({ source, at }: SelectorReader): string {
  if (at > 0) return '';
  if (source.startsWith('/') || source.startsWith('(')) return ' An XPath expression begins with `xpath:`.';
  return source.startsWith('$') ? ' A JSONPath expression begins with `jsonpath:`.' : '';
}

function idName(reader: SelectorReader): string {
  const id = reader.nameLetters();
  return id === '' ? reader.unexpected('an id') : id;
}

function attributeSelector(reader: SelectorReader): AttributeSelector {
  reader.skipSpace();
  let name = reader.name('the name of an attribute').toLowerCase();
  // Frameworks write names such as `v-on:click`, which CSS wants escaped; the colon can mean nothing else here.
  while (reader.take(':')) name += `:${reader.nameLetters().toLowerCase()}`;
  reader.skipSpace();
  if (reader.take(']')) return { kind: 'attribute', name, operator: null, value: '', ignoresCase: false };
  const operator = OPERATORS.find((sign) => reader.take(sign));
  if (operator === undefined) return reader.unexpected('`]` or one of = ~= |= ^= $= *= !=');
  reader.skipSpace();
  const value = reader.isAtString ? reader.string() : reader.nameLetters();
  if (value === '' && !/["']/.test(reader.source[reader.at - 1] ?? '')) reader.unexpected('a value');
  reader.skipSpace();
  const ignoresCase = reader.take('i') || reader.take('I');
  if (!ignoresCase && !reader.take('s')) reader.take('S');
  reader.skipSpace();
  if (!reader.take(']')) {
    reader.fail(
      `Expected \`]\`, found ${quoteAt(reader.source, reader.at)}; values with other signs need quotes.`,
    );
  }
  return { kind: 'attribute', name, operator, value, ignoresCase };
}

function pseudoClass(reader: SelectorReader, depth: number): SimpleSelector {
  const start = reader.at;
  reader.at++;
  if (reader.char === ':') {
    reader.fail(
      'Pseudo-elements select nothing here; write `@text` or `@href` behind the selector, or use `attribute`.',
      start,
    );
  }
  const name = reader.name('the name of a pseudo-class').toLowerCase();
  if (!reader.take('(')) {
    if (isPlain(name)) return { kind: 'plain', name };
    if (WITH_ARGUMENT.includes(name)) reader.fail(`\`:${name}\` needs an argument in brackets.`, start);
    return unknownPseudo(reader, name, start);
  }
  if (isPlain(name)) reader.fail(`\`:${name}\` takes no argument.`, start);
  if (!WITH_ARGUMENT.includes(name)) return unknownPseudo(reader, name, start);
  reader.skipSpace();
  const simple = withArgument(reader, name, depth + 1);
  reader.skipSpace();
  reader.expect(')');
  return simple;
}

function withArgument(reader: SelectorReader, name: string, depth: number): SimpleSelector {
  if (name === 'contains') return { kind: 'contains', text: containedText(reader) };
  if (name === 'not') return { kind: 'not', list: selectorList(reader, false, depth) };
  if (name === 'has') return { kind: 'has', list: selectorList(reader, true, depth) };
  const nth = NTH.find((known) => known === name);
  if (nth === undefined) return { kind: 'is', list: selectorList(reader, false, depth) };
  const { step, offset } = parseNth(reader);
  reader.skipSpace();
  const isOf = /^of[ \t\n\r\f]/i.test(reader.source.slice(reader.at, reader.at + 3));
  if (!isOf) return { kind: 'nth', name: nth, step, offset, of: null };
  if (nth.endsWith('type')) reader.fail(`\`:${nth}\` cannot have \`of\`; use \`:nth-child\`.`);
  reader.at += 2;
  return { kind: 'nth', name: nth, step, offset, of: selectorList(reader, false, depth) };
}

/** Reads the argument of `:contains()`, which may stand in quotes. */
function containedText(reader: SelectorReader): string {
  if (reader.isAtString) return reader.string();
  const end = reader.source.indexOf(')', reader.at);
  const text = reader.source.slice(reader.at, end < 0 ? undefined : end).trim();
  if (text === '') reader.unexpected('a text');
  reader.at = end < 0 ? reader.source.length : end;
  return text;
}

function isPlain(name: string): name is PlainPseudo {
  return (PLAIN_PSEUDOS as readonly string[]).includes(name);
}

function unknownPseudo(reader: SelectorReader, name: string, start: number): never {
  if (SHOWN_BY_BROWSERS.has(name))
    reader.fail(`\`:${name}\` depends on a reader; a stored page has none.`, start);
  const nearest = nearestName(name, [...PLAIN_PSEUDOS, ...WITH_ARGUMENT]);
  const advice = nearest === null ? '' : ` Did you mean \`:${nearest}\`?`;
  return reader.fail(`There is no pseudo-class \`:${name}\`.${advice}`, start);
}

const STEPPED = /^([+-]?\d*)n(?:[ \t\n\r\f]*([+-])[ \t\n\r\f]*(\d+))?/i;
const FIXED = /^[+-]?\d+/;
/** No page has as many elements, and sums stay exact. */
const MOST = 1_000_000_000;

/** Reads `odd`, `even`, `3`, `2n+1`, `-n + 3` … */
function parseNth(reader: SelectorReader): { step: number; offset: number } {
  const rest = reader.source.slice(reader.at, reader.at + 60);
  const word = /^(odd|even)(?![\w-])/i.exec(rest)?.[0];
  if (word !== undefined) {
    reader.at += word.length;
    return { step: 2, offset: word.toLowerCase() === 'odd' ? 1 : 0 };
  }
  const stepped = STEPPED.exec(rest);
  if (stepped !== null) {
    const [whole, step = '', sign = '+', digits = '0'] = stepped;
    reader.at += whole.length;
    const factor = step === '' || step === '+' ? 1 : step === '-' ? -1 : Number(step);
    return { step: clamped(factor), offset: clamped(Number(`${sign}${digits}`)) };
  }
  const fixed = FIXED.exec(rest)?.[0];
  if (fixed === undefined) return reader.unexpected('a position such as `2`, `odd` or `2n+1`');
  reader.at += fixed.length;
  return { step: 0, offset: clamped(Number(fixed)) };
}

function clamped(number: number): number {
  return Math.max(-MOST, Math.min(MOST, number));
}
