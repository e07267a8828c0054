import { quoteAt, RuleSyntaxError } from '../rule-problem.ts';

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
