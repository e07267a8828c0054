import { nearestName } from '../../../core/config/nearest-name.ts';
import type { Regex } from '../regex.ts';
import { quoteAt, RULE_LIMITS, RuleText } from '../rule-text.ts';
import { compileIRegexp } from './compare.ts';

/** A parsed JSONPath query (RFC 9535), as plain data. */
export interface JsonPathQuery {
  /** `$` is the root value, `@` the current value of a filter. */
  readonly from: '$' | '@';
  readonly segments: readonly Segment[];
}

export interface Segment {
  /** True for `..`: applies to the value and all its descendants. */
  readonly isDescendant: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly start: number | null;
      readonly end: number | null;
      readonly step: number;
    }
  | { readonly kind: 'filter'; readonly condition: Condition };

export type Condition =
  | { readonly kind: 'or' | 'and'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | { readonly kind: 'exists'; readonly query: JsonPathQuery }
  | {
      readonly kind: 'compare';
      readonly operator: ComparisonOperator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | {
      readonly kind: 'matches';
      readonly isWhole: boolean;
      readonly value: Operand;
      readonly pattern: Regex | Operand;
    };

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** An operand of a comparison: one value, or `NOTHING`. */
export type Operand =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  /** A singular query: at most one value. */
  | { readonly kind: 'singular'; readonly query: JsonPathQuery }
  | { readonly kind: 'length'; readonly value: Operand }
  | { readonly kind: 'count' | 'value'; readonly query: JsonPathQuery };

const BLANK = /[ \t\n\r]*/y;
const INTEGER = /-?\d+/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SHORT_NAME =
  /[A-Za-z_\u0080-\ud7ff\ue000-\uffff\u{10000}-\u{10ffff}][\w\u0080-\ud7ff\ue000-\uffff\u{10000}-\u{10ffff}]*/uy;
const FUNCTION_NAME = /[a-z][a-z0-9_]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '/': '/',
  '\\': '\\',
};

/** Reads the tokens of a query by the grammar of RFC 9535. */
class QueryReader extends RuleText {
  skipBlank(): void {
    this.read(BLANK);
  }

  shortName(): string | null {
    return this.read(SHORT_NAME);
  }

  /** The name of a function call at this position; null without one. */
  functionName(): string | null {
    const start = this.at;
    const name = this.read(FUNCTION_NAME);
    if (name !== null && this.take('(')) return name;
    this.at = start;
    return null;
  }

  /** An index or slice bound; null without one at this position. */
  integer(): number | null {
    const start = this.at;
    const text = this.read(INTEGER);
    if (text === null) return null;
    if (/^-?0\d|^-0$/.test(text))
      this.fail(`\`${text}\` is no index: no zeros in front, no minus zero.`, start);
    const number = Number(text);
    return Number.isSafeInteger(number) ? number : this.fail(`\`${text}\` is too large for an index.`, start);
  }

  number(): number | null {
    const start = this.at;
    const text = this.read(NUMBER);
    if (text === null) return null;
    if (/\d/.test(this.char)) this.fail('Numbers have no zeros in front.', start);
    return Number(text);
  }

  string(): string {
    return this.quotedString((char, quote) => {
      if (char < ' ') this.fail(`${quoteAt(this.source, this.at)} must be escaped in a string.`);
      return char === '\\' ? this.#escape(quote) : null;
    });
  }

  #escape(quote: string): string {
    const start = this.at;
    const char = this.source[this.at + 1] ?? '';
    this.at += 2;
    if (char === quote) return quote;
    const plain = ESCAPES[char];
    if (plain !== undefined) return plain;
    if (char !== 'u') this.fail(`There is no escape \`\\${char}\`.`, start);
    const high = this.#unit(start);
    if (high >= 0xdc00 && high <= 0xdfff) this.fail('Half of a surrogate pair.', start);
    if (high < 0xd800 || high > 0xdbff) return String.fromCharCode(high);
    if (!this.take('\\u')) this.fail('Half of a surrogate pair.', start);
    const low = this.#unit(start);
    if (low < 0xdc00 || low > 0xdfff) this.fail('Half of a surrogate pair.', start);
    return String.fromCharCode(high, low);
  }

  #unit(start: number): number {
    const digits = this.source.slice(this.at, this.at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) this.fail('`\\u` needs four hexadecimal digits.', start);
    this.at += 4;
    return Number.parseInt(digits, 16);
  }
}

/** Throws RuleSyntaxError with the position of the mistake. */
export function parseQuery(source: string): JsonPathQuery {
  const reader = new QueryReader(source);
  if (!reader.take('$')) reader.unexpected('`$`');
  const query: JsonPathQuery = { from: '$', segments: parseSegments(reader, 0) };
  if (!reader.isAtEnd) reader.unexpected('`.`, `[` or the end');
  return query;
}

/** Parses the segments after `$` or `@`; white space belongs to them only before another segment. */
function parseSegments(reader: QueryReader, depth: number): Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const start = reader.at;
    reader.skipBlank();
    if (reader.take('..')) segments.push({ isDescendant: true, selectors: afterDots(reader, depth, true) });
    else if (reader.take('.'))
      segments.push({ isDescendant: false, selectors: afterDots(reader, depth, false) });
    else if (reader.take('[')) segments.push({ isDescendant: false, selectors: bracketed(reader, depth) });
    else {
      reader.at = start;
      return segments;
    }
  }
}

function afterDots(reader: QueryReader, depth: number, mayBracket: boolean): Selector[] {
  if (reader.take('*')) return [{ kind: 'any' }];
  if (mayBracket && reader.take('[')) return bracketed(reader, depth);
  const name = reader.shortName();
  return name === null
    ? reader.unexpected(
        mayBracket ? 'a name, `*` or `[`' : 'a name or `*`; other names go in brackets and quotes',
      )
    : [{ kind: 'name', name }];
}

function bracketed(reader: QueryReader, depth: number): Selector[] {
  const selectors: Selector[] = [];
  do {
    reader.skipBlank();
    selectors.push(selector(reader, depth));
    reader.skipBlank();
  } while (reader.take(','));
  reader.expect(']');
  return selectors;
}

function selector(reader: QueryReader, depth: number): Selector {
  if (reader.isAtString) return { kind: 'name', name: reader.string() };
  if (reader.take('*')) return { kind: 'any' };
  if (reader.take('?')) return { kind: 'filter', condition: parseCondition(reader, depth + 1) };
  const start = reader.integer();
  const afterStart = reader.at;
  reader.skipBlank();
  if (!reader.take(':')) {
    reader.at = afterStart;
    return start === null
      ? reader.unexpected('a name in quotes, `*`, an index, a slice or a filter')
      : { kind: 'index', index: start };
  }
  reader.skipBlank();
  const end = reader.integer();
  reader.skipBlank();
  if (!reader.take(':')) return { kind: 'slice', start, end, step: 1 };
  reader.skipBlank();
  return { kind: 'slice', start, end, step: reader.integer() ?? 1 };
}

const OPERATORS: readonly ComparisonOperator[] = ['==', '!=', '<=', '>=', '<', '>'];
const FUNCTIONS = ['length', 'count', 'match', 'search', 'value'];
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses the expression after the `?` of a filter. */
function parseCondition(reader: QueryReader, depth: number): Condition {
  if (depth > RULE_LIMITS.selectorNesting) {
    reader.fail(`More than ${RULE_LIMITS.selectorNesting} brackets inside each other.`);
  }
  return joined(reader, '||', 'or', () => joined(reader, '&&', 'and', () => basic(reader, depth)));
}

function joined(reader: QueryReader, sign: string, kind: 'or' | 'and', part: () => Condition): Condition {
  reader.skipBlank();
  const first = part();
  const parts = [first];
  for (;;) {
    const end = reader.at;
    reader.skipBlank();
    if (!reader.take(sign)) {
      reader.at = end;
      return parts.length === 1 ? first : { kind, parts };
    }
    reader.skipBlank();
    parts.push(part());
  }
}

function basic(reader: QueryReader, depth: number): Condition {
  if (reader.take('!')) {
    reader.skipBlank();
    return { kind: 'not', part: reader.char === '(' ? inBrackets(reader, depth) : test(reader, depth) };
  }
  return reader.char === '(' ? inBrackets(reader, depth) : comparisonOrTest(reader, depth);
}

function inBrackets(reader: QueryReader, depth: number): Condition {
  reader.expect('(');
  const condition = parseCondition(reader, depth + 1);
  reader.skipBlank();
  reader.expect(')');
  return condition;
}

function test(reader: QueryReader, depth: number): Condition {
  const start = reader.at;
  const part = term(reader, depth);
  return asTest(reader, part, start);
}

function asTest(reader: QueryReader, part: Term, start: number): Condition {
  if (part.kind === 'condition') return part.condition;
  if (part.kind === 'query') return { kind: 'exists', query: part.query };
  return reader.fail('A value alone is no condition; compare it with something.', start);
}

function comparisonOrTest(reader: QueryReader, depth: number): Condition {
  const start = reader.at;
  const part = term(reader, depth);
  const end = reader.at;
  reader.skipBlank();
  const operator = OPERATORS.find((sign) => reader.take(sign));
  if (operator === undefined) {
    reader.at = end;
    return asTest(reader, part, start);
  }
  reader.skipBlank();
  const left = asOperand(reader, part, start);
  const rightStart = reader.at;
  return { kind: 'compare', operator, left, right: asOperand(reader, term(reader, depth), rightStart) };
}

type Term =
  | { readonly kind: 'operand'; readonly operand: Operand }
  | { readonly kind: 'query'; readonly query: JsonPathQuery }
  | { readonly kind: 'condition'; readonly condition: Condition };

function asOperand(reader: QueryReader, part: Term, start: number): Operand {
  if (part.kind === 'operand') return part.operand;
  if (part.kind === 'condition') return reader.fail('`match()` and `search()` cannot be compared.', start);
  if (!isSingular(part.query))
    reader.fail('Only a path to a single value can be compared: names and indexes.', start);
  return { kind: 'singular', query: part.query };
}

function isSingular({ segments }: JsonPathQuery): boolean {
  return segments.every(
    ({ isDescendant, selectors: [first, ...rest] }) =>
      !isDescendant && rest.length === 0 && (first?.kind === 'name' || first?.kind === 'index'),
  );
}

function term(reader: QueryReader, depth: number): Term {
  if (reader.isAtString) return operand({ kind: 'literal', value: reader.string() });
  if (reader.char === '@' || reader.char === '$') return { kind: 'query', query: query(reader, depth) };
  const number = reader.number();
  if (number !== null) return operand({ kind: 'literal', value: number });
  const start = reader.at;
  const called = reader.functionName();
  if (called !== null) return call(reader, called, start, depth);
  const word = reader.shortName();
  const literal = word === null ? undefined : LITERALS.get(word);
  if (literal !== undefined) return operand({ kind: 'literal', value: literal });
  reader.at = start;
  return reader.unexpected('a path from `@` or `$`, a value or a function');
}

function operand(value: Operand): Term {
  return { kind: 'operand', operand: value };
}

function query(reader: QueryReader, depth: number): JsonPathQuery {
  const from = reader.char === '@' ? '@' : '$';
  reader.at++;
  return { from, segments: parseSegments(reader, depth) };
}

function call(reader: QueryReader, name: string, start: number, depth: number): Term {
  if (depth >= RULE_LIMITS.selectorNesting) {
    reader.fail(`More than ${RULE_LIMITS.selectorNesting} brackets inside each other.`);
  }
  if (!FUNCTIONS.includes(name)) {
    const nearest = nearestName(name, FUNCTIONS);
    reader.fail(
      `There is no function \`${name}()\`.${nearest === null ? '' : ` Did you mean \`${nearest}()\`?`}`,
      start,
    );
  }
  const places: number[] = [];
  const parameters: Term[] = [];
  reader.skipBlank();
  if (reader.char !== ')') {
    do {
      reader.skipBlank();
      places.push(reader.at);
      parameters.push(term(reader, depth + 1));
      reader.skipBlank();
    } while (reader.take(','));
  }
  reader.expect(')');
  const wanted = name === 'match' || name === 'search' ? 2 : 1;
  const [first, second] = parameters;
  if (first === undefined || parameters.length !== wanted) {
    return reader.fail(`\`${name}()\` takes ${wanted === 1 ? 'one parameter' : 'two parameters'}.`, start);
  }
  if (name === 'count' || name === 'value') {
    if (first.kind !== 'query') return reader.fail(`\`${name}()\` takes a path.`, places[0]);
    return operand({ kind: name, query: first.query });
  }
  const value = asOperand(reader, first, places[0] ?? start);
  if (second === undefined) return operand({ kind: 'length', value });
  const pattern = asOperand(reader, second, places[1] ?? start);
  const isFixed = pattern.kind === 'literal' && typeof pattern.value === 'string';
  return {
    kind: 'condition',
    condition: {
      kind: 'matches',
      isWhole: name === 'match',
      value,
      pattern: isFixed ? compileIRegexp(pattern.value as string, places[1] ?? start) : pattern,
    },
  };
}
