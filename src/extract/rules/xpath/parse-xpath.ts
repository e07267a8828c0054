import { nearestName } from '../../../core/config/nearest-name.ts';
import { quoteAt, RULE_LIMITS, RuleSyntaxError } from '../rule-text.ts';
import {
  type Axis,
  type BinaryOperator,
  type Expression,
  type NodeTest,
  type PathExpression,
  type Step,
  type Token,
  tokenize,
  type XPathType,
} from './expression.ts';
import { FUNCTIONS } from './functions.ts';

const AXES: readonly Axis[] = [
  'ancestor',
  'ancestor-or-self',
  'attribute',
  'child',
  'descendant',
  'descendant-or-self',
  'following',
  'following-sibling',
  'parent',
  'preceding',
  'preceding-sibling',
  'self',
];
const NODE_TYPES = new Set(['node', 'text', 'comment', 'processing-instruction']);
/** The operators by how strongly they bind, the weakest first. */
const LEVELS: readonly (readonly BinaryOperator[])[] = [
  ['or'],
  ['and'],
  ['=', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', 'div', 'mod'],
];
const ANY: NodeTest = { kind: 'node' };
const DESCENDANTS: Step = { axis: 'descendant-or-self', test: ANY, predicates: [] };
/** Limit of chained operators, which are evaluated recursively. */
const MOST_OPERATORS = 500;

/** Throws RuleSyntaxError with the position of the mistake. */
export function parseXPath(source: string): Expression {
  return new XPathParser(source).whole();
}

export function typeOf(expression: Expression): XPathType {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string' ? 'string' : 'number';
    case 'binary':
      return /^(?:[-+*]|div|mod)$/.test(expression.operator) ? 'number' : 'boolean';
    case 'negative':
      return 'number';
    case 'call':
      return FUNCTIONS.get(expression.name)?.type ?? 'string';
    case 'union':
    case 'path':
      return 'nodes';
  }
}

class XPathParser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;
  #operators = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokenize(source);
  }

  whole(): Expression {
    const expression = this.#expression();
    if (this.#token.kind !== 'end') this.#unexpected('an operator or the end');
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #peek(distance: number): Token | undefined {
    return this.#tokens[this.#next + distance];
  }

  #fail(message: string, at = this.#token.at): never {
    throw new RuleSyntaxError(at, message);
  }

  #unexpected(wanted: string): never {
    const { kind, text, at } = this.#token;
    const found =
      kind === 'name' || kind === 'operator' || kind === 'number' ? `\`${text}\`` : quoteAt(this.#source, at);
    return this.#fail(`Expected ${wanted}, found ${found}.`);
  }

  #isSign(text: string): boolean {
    const { kind, text: found } = this.#token;
    return (kind === 'sign' || kind === 'operator') && found === text;
  }

  #take(text: string): boolean {
    if (!this.#isSign(text)) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#unexpected(`\`${text}\``);
  }

  #expression(): Expression {
    if (++this.#depth > RULE_LIMITS.selectorNesting) {
      this.#fail(`More than ${RULE_LIMITS.selectorNesting} expressions inside each other.`);
    }
    const expression = this.#binary(0);
    this.#depth--;
    return expression;
  }

  #binary(level: number): Expression {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = operators.find((sign) => this.#take(sign));
      if (operator === undefined) return left;
      if (++this.#operators > MOST_OPERATORS) this.#fail(`More than ${MOST_OPERATORS} operators.`);
      left = { kind: 'binary', operator, left, right: this.#binary(level + 1) };
    }
  }

  #unary(): Expression {
    let isNegative = false;
    let hasSign = false;
    while (this.#take('-')) {
      isNegative = !isNegative;
      hasSign = true;
    }
    const operand = this.#union();
    if (!hasSign) return operand;
    const negative: Expression = { kind: 'negative', operand };
    return isNegative ? negative : { kind: 'negative', operand: negative };
  }

  #union(): Expression {
    const start = this.#token.at;
    const first = this.#path();
    if (!this.#isSign('|')) return first;
    const parts = [this.#nodes(first, start, '`|` joins')];
    while (this.#take('|')) {
      const { at } = this.#token;
      parts.push(this.#nodes(this.#path(), at, '`|` joins'));
    }
    return { kind: 'union', parts };
  }

  #nodes(expression: Expression, at: number, who: string): Expression {
    const type = typeOf(expression);
    return type === 'nodes' ? expression : this.#fail(`${who} sets of nodes; this is a ${type}.`, at);
  }

  #path(): Expression {
    const { kind, text, at } = this.#token;
    if (kind === 'sign' && text === '$') this.#fail('There are no variables here.');
    if (!this.#isAtPrimary()) return this.#locationPath();
    const primary = this.#primary();
    const predicates: Expression[] = [];
    while (this.#isSign('[')) {
      this.#nodes(primary, at, 'A predicate picks from');
      predicates.push(this.#predicate());
    }
    const steps: Step[] = [];
    if (this.#isSign('/') || this.#isSign('//')) {
      this.#nodes(primary, at, 'A path leads on from');
      if (this.#take('//')) steps.push(DESCENDANTS);
      else this.#next++;
      this.#relativePath(steps);
    }
    return predicates.length === 0 && steps.length === 0
      ? primary
      : { kind: 'path', from: primary, predicates, steps };
  }

  #isAtPrimary(): boolean {
    const { kind, text } = this.#token;
    if (kind === 'string' || kind === 'number' || this.#isSign('(')) return true;
    if (kind !== 'name') return false;
    if (this.#isSignAt(1, ':') && this.#peek(2)?.kind === 'name' && this.#isSignAt(3, '(')) {
      this.#fail(`There is no function \`${text}:${this.#peek(2)?.text}()\` in XPath 1.0.`);
    }
    return !NODE_TYPES.has(text) && this.#isSignAt(1, '(');
  }

  #isSignAt(distance: number, text: string): boolean {
    const token = this.#peek(distance);
    return token?.kind === 'sign' && token.text === text;
  }

  #primary(): Expression {
    const { kind, text } = this.#token;
    if (kind === 'string' || kind === 'number') {
      this.#next++;
      return { kind: 'literal', value: kind === 'string' ? text : Number(text) };
    }
    if (this.#take('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    return this.#call();
  }

  #call(): Expression {
    const { text: name, at } = this.#token;
    const known = FUNCTIONS.get(name);
    if (known === undefined) {
      const nearest = nearestName(name, FUNCTIONS.keys());
      this.#fail(
        `There is no function \`${name}()\` in XPath 1.0.${nearest === null ? '' : ` Did you mean \`${nearest}()\`?`}`,
      );
    }
    this.#next += 2;
    const parameters: Expression[] = [];
    const starts: number[] = [];
    if (!this.#isSign(')')) {
      do {
        starts.push(this.#token.at);
        parameters.push(this.#expression());
      } while (this.#take(','));
    }
    this.#expect(')');
    const { least, most, needsNodes } = known;
    if (parameters.length < least || parameters.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      this.#fail(`\`${name}()\` takes ${wanted} parameters, not ${parameters.length}.`, at);
    }
    const [first] = parameters;
    if (needsNodes && first !== undefined) this.#nodes(first, starts[0] ?? at, `\`${name}()\` takes`);
    return { kind: 'call', name, parameters };
  }

  #locationPath(): PathExpression {
    const steps: Step[] = [];
    if (this.#take('//')) {
      steps.push(DESCENDANTS);
      this.#relativePath(steps);
      return { kind: 'path', from: 'root', predicates: [], steps };
    }
    if (!this.#take('/')) {
      this.#relativePath(steps);
      return { kind: 'path', from: 'here', predicates: [], steps };
    }
    if (this.#isAtStep()) this.#relativePath(steps);
    return { kind: 'path', from: 'root', predicates: [], steps };
  }

  #isAtStep(): boolean {
    const { kind, text } = this.#token;
    return kind === 'name' || (kind === 'sign' && ['*', '@', '.', '..'].includes(text));
  }

  #relativePath(steps: Step[]): void {
    for (;;) {
      steps.push(this.#step());
      if (this.#take('//')) steps.push(DESCENDANTS);
      else if (!this.#take('/')) return;
    }
  }

  #step(): Step {
    if (this.#take('..')) return { axis: 'parent', test: ANY, predicates: [] };
    if (this.#take('.')) return { axis: 'self', test: ANY, predicates: [] };
    if (!this.#isAtStep()) this.#unexpected('a step such as `div`, `@href` or `text()`');
    const axis = this.#axis();
    const test = this.#nodeTest();
    const predicates: Expression[] = [];
    while (this.#isSign('[')) predicates.push(this.#predicate());
    return { axis, test, predicates };
  }

  #axis(): Axis {
    if (this.#take('@')) return 'attribute';
    if (!this.#isSignAt(1, '::')) return 'child';
    const { text } = this.#token;
    const axis = AXES.find((known) => known === text);
    if (axis === undefined) {
      if (text === 'namespace')
        this.#fail('The axis `namespace::` has nothing to show: pages here have no namespaces.');
      const nearest = nearestName(text, AXES);
      this.#fail(
        `There is no axis \`${text}::\`.${nearest === null ? '' : ` Did you mean \`${nearest}::\`?`}`,
      );
    }
    this.#next += 2;
    return axis;
  }

  #nodeTest(): NodeTest {
    if (this.#take('*')) return { kind: 'name', name: null, isPrefix: false };
    const { kind, text } = this.#token;
    if (kind !== 'name') this.#unexpected('a name, `*` or `text()`');
    this.#next++;
    if (NODE_TYPES.has(text) && this.#isSign('(')) return this.#nodeType(text);
    const name = text.toLowerCase();
    if (!this.#isSign(':')) return { kind: 'name', name, isPrefix: false };
    this.#next++;
    if (this.#take('*')) return { kind: 'name', name: `${name}:`, isPrefix: true };
    const local = this.#token;
    if (local.kind !== 'name') this.#unexpected('a name');
    this.#next++;
    return { kind: 'name', name: `${name}:${local.text.toLowerCase()}`, isPrefix: false };
  }

  #nodeType(name: string): NodeTest {
    this.#next++;
    if (name === 'processing-instruction' && this.#token.kind === 'string') this.#next++;
    this.#expect(')');
    // The tree has no comments and processing instructions.
    return name === 'node' || name === 'text' ? { kind: name } : { kind: 'nothing' };
  }

  #predicate(): Expression {
    this.#expect('[');
    const expression = this.#expression();
    this.#expect(']');
    return expression;
  }
}
