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
