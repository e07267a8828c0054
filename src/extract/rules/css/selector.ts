import type { Budget } from '../budget.ts';
import { RuleText } from '../rule-text.ts';
import type { TreeIndex } from '../tree-index.ts';

/** A parsed selector, as plain data. */

/** Descendant, child, next sibling, later sibling. */
export type Combinator = ' ' | '>' | '+' | '~';
export type AttributeOperator = '=' | '~=' | '|=' | '^=' | '$=' | '*=' | '!=';

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

export const PLAIN_PSEUDOS = [
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
export class SelectorReader extends RuleText {
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
