import { quoteAt, RuleSyntaxError } from '../rule-text.ts';

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

export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'operator' | 'sign' | 'end';
  readonly text: string;
  readonly at: number;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /\d+(?:\.\d*)?|\.\d+/y;
const NAME = /[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff-]*/y;
const SIGNS = [
  '::',
  '//',
  '!=',
  '<=',
  '>=',
  '..',
  '/',
  '|',
  '+',
  '-',
  '=',
  '<',
  '>',
  '(',
  ')',
  '[',
  ']',
  '@',
  ',',
  '.',
  '*',
  ':',
  '$',
];
const WORD_OPERATORS = new Set(['and', 'or', 'mod', 'div']);
/** Tokens after which a name or a star is an operand; after all others they are operators. */
const BEFORE_OPERAND = new Set([
  '$',
  '::',
  '//',
  '!=',
  '<=',
  '>=',
  '/',
  '|',
  '+',
  '-',
  '=',
  '<',
  '>',
  '(',
  '[',
  '@',
  ',',
  ':',
]);

/** Splits an expression into tokens by XPath 1.0, section 3.7. The last token marks the end. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const at1 = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0] ?? '';
  };
  for (;;) {
    at += at1(SPACE).length;
    if (at >= source.length) break;
    const token = nextToken(source, at, tokens.at(-1), at1);
    tokens.push(token);
    at += token.kind === 'string' ? token.text.length + 2 : token.text.length;
  }
  tokens.push({ kind: 'end', text: '', at: source.length });
  return tokens;
}

function nextToken(
  source: string,
  at: number,
  last: Token | undefined,
  read: (pattern: RegExp) => string,
): Token {
  const char = source[at] as string;
  if (char === '"' || char === "'") {
    const end = source.indexOf(char, at + 1);
    if (end < 0) throw new RuleSyntaxError(at, 'The string has no end.');
    return { kind: 'string', text: source.slice(at + 1, end), at };
  }
  const number = read(NUMBER);
  if (number !== '') return { kind: 'number', text: number, at };
  const isAfterOperand =
    last !== undefined &&
    last.kind !== 'operator' &&
    !(last.kind === 'sign' && BEFORE_OPERAND.has(last.text));
  const name = read(NAME);
  if (name !== '') {
    if (isAfterOperand && !WORD_OPERATORS.has(name)) {
      throw new RuleSyntaxError(at, `Expected an operator, found \`${name}\`.`);
    }
    return { kind: isAfterOperand ? 'operator' : 'name', text: name, at };
  }
  const sign = SIGNS.find((text) => source.startsWith(text, at));
  if (sign === undefined) throw new RuleSyntaxError(at, `Unexpected ${quoteAt(source, at)}.`);
  return { kind: sign === '*' && isAfterOperand ? 'operator' : 'sign', text: sign, at };
}
