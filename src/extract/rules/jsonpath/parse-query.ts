import { nearestName } from '../../../core/config/nearest-name.ts';
import { RULE_LIMITS } from '../rule-text.ts';
import { compileIRegexp } from './compare.ts';
import {
  type ComparisonOperator,
  type Condition,
  type JsonPathQuery,
  type Operand,
  QueryReader,
  type Segment,
  type Selector,
} from './query.ts';

/** Throws RuleSyntaxError with the position of the mistake. */
export function parseQuery(source: string): JsonPathQuery {
  const reader = new QueryReader(source);
  if (!reader.take('$')) reader.unexpected('`$`');
  const query: JsonPathQuery = { from: '$', segments: parseSegments(reader, 0) };
  if (!reader.isAtEnd) reader.unexpected('`.`, `[` or the end');
  return query;
}

/** Parses the segments after `$` or `@`; white space belongs to them only before another segment. */
export function parseSegments(reader: QueryReader, depth: number): Segment[] {
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
