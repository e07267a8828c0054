import type { Regex } from '../regex.ts';
import { quoteAt, RuleText } from '../rule-text.ts';

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
export class QueryReader extends RuleText {
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
