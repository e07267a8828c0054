import type { Regex } from '../regex.ts';

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
