/** A parsed XPath expression, as plain data. There are no variables, so the type of every part is known before any page. */

export type XPathType = 'nodes' | 'string' | 'number' | 'boolean';

export type Axis =
  | 'ancestor'
  | 'ancestor-or-self'
  | 'attribute'
  | 'child'
  | 'descendant'
  | 'descendant-or-self'
  | 'following'
  | 'following-sibling'
  | 'parent'
  | 'preceding'
  | 'preceding-sibling'
  | 'self';

export type NodeTest =
  /** By name in lower case; null is any, `svg:` any with that prefix. */
  | { readonly kind: 'name'; readonly name: string | null; readonly isPrefix: boolean }
  | { readonly kind: 'node' | 'text' | 'nothing' };

export interface Step {
  readonly axis: Axis;
  readonly test: NodeTest;
  readonly predicates: readonly Expression[];
}

export type BinaryOperator =
  | 'or'
  | 'and'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | 'div'
  | 'mod';

export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'negative'; readonly operand: Expression }
  | { readonly kind: 'union'; readonly parts: readonly Expression[] }
  | { readonly kind: 'call'; readonly name: string; readonly parameters: readonly Expression[] }
  | PathExpression;

export interface PathExpression {
  readonly kind: 'path';
  /** The start: the context node, the root, or the result of an expression. */
  readonly from: 'here' | 'root' | Expression;
  /** Predicates of the start expression. */
  readonly predicates: readonly Expression[];
  readonly steps: readonly Step[];
}
