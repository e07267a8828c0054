import { nearestName } from '../../../config/nearest-name.ts';
import { RULE_LIMITS } from '../rule-limits.ts';
import { compileIRegexp } from './i-regexp.ts';
import { parseSegments } from './parse-query.ts';
import type { ComparisonOperator, Condition, Operand, Query } from './query.ts';
import type { QueryReader } from './reader.ts';

const OPERATORS: readonly ComparisonOperator[] = ['==', '!=', '<=', '>=', '<', '>'];
const FUNCTIONS = ['length', 'count', 'match', 'search', 'value'];
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** What stands behind the `?` of a filter. */
export function parseCondition(reader: QueryReader, depth: number): Condition {
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
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'condition'; readonly condition: Condition };

function asOperand(reader: QueryReader, part: Term, start: number): Operand {
  if (part.kind === 'operand') return part.operand;
  if (part.kind === 'condition') return reader.fail('`match()` and `search()` cannot be compared.', start);
  if (!isSingular(part.query))
    reader.fail('Only a path to a single value can be compared: names and indexes.', start);
  return { kind: 'singular', query: part.query };
}

function isSingular({ segments }: Query): boolean {
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

function query(reader: QueryReader, depth: number): Query {
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
