import type { Budget } from '../budget.ts';
import { RULE_LIMITS, RuleSyntaxError } from '../rule-text.ts';
import type { TreeIndex } from '../tree-index.ts';
import type { Expression, PathExpression, Step, XPathType } from './expression.ts';
import { booleanOf, compare, type Focus, FUNCTIONS, isNodes, numberOf, type Value } from './functions.ts';
import { isAttribute, nodeNumber, REVERSE_AXES, treeNodeOf, walkAxis, XPathPage } from './nodes.ts';
import { parseXPath, typeOf } from './parse-xpath.ts';

/** One result of an expression: a node of the tree, or a plain value (attributes give their value). */
export type XPathItem =
  | { readonly kind: 'node'; readonly node: number }
  | { readonly kind: 'value'; readonly value: string | number | boolean };

/** An XPath 1.0 expression ready to run on any page. */
export interface CompiledXPath {
  readonly source: string;
  readonly type: XPathType;
  /**
   * Results from a context node, in document order, at most `limit`. An expression that is no path (`count(//a)`) gives one
   * value.
   */
  find(index: TreeIndex, node: number, limit: number, budget: Budget): XPathItem[];
}

/** Throws RuleSyntaxError with the position of the mistake. */
export function compileXPath(source: string): CompiledXPath {
  if (source.length > RULE_LIMITS.selectorChars) {
    throw new RuleSyntaxError(null, `The expression has more than ${RULE_LIMITS.selectorChars} characters.`);
  }
  if (source.trim() === '') throw new RuleSyntaxError(null, 'The expression is empty.');
  const expression = parseXPath(source);
  return {
    source,
    type: typeOf(expression),
    find(index, node, limit, budget) {
      const page = new XPathPage(index, budget);
      const value = evaluate(expression, { page, node: nodeNumber(node), position: 1, size: 1 });
      if (typeof value !== 'object') return [{ kind: 'value', value }];
      return value
        .slice(0, limit)
        .map((found) =>
          isAttribute(found)
            ? { kind: 'value', value: page.text(found) }
            : { kind: 'node', node: treeNodeOf(found) },
        );
    },
  };
}

/** The value of an expression in a context. Throws only when the budget is exceeded. */
function evaluate(expression: Expression, focus: Focus): Value {
  const { page } = focus;
  page.budget.spend(1);
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'negative':
      return -numberOf(page, evaluate(expression.operand, focus));
    case 'union':
      return ordered(expression.parts.flatMap((part) => evaluate(part, focus) as number[]));
    case 'call': {
      const values = expression.parameters.map((parameter) => evaluate(parameter, focus));
      return FUNCTIONS.get(expression.name)?.run(focus, values) ?? '';
    }
    case 'path':
      return evaluatePath(expression, focus);
    case 'binary':
      return evaluateBinary(expression, focus);
  }
}

function evaluateBinary(expression: Expression & { kind: 'binary' }, focus: Focus): Value {
  const { operator, left, right } = expression;
  const { page } = focus;
  if (operator === 'or') return booleanOf(evaluate(left, focus)) || booleanOf(evaluate(right, focus));
  if (operator === 'and') return booleanOf(evaluate(left, focus)) && booleanOf(evaluate(right, focus));
  const one = evaluate(left, focus);
  const other = evaluate(right, focus);
  switch (operator) {
    case '+':
      return numberOf(page, one) + numberOf(page, other);
    case '-':
      return numberOf(page, one) - numberOf(page, other);
    case '*':
      return numberOf(page, one) * numberOf(page, other);
    case 'div':
      return numberOf(page, one) / numberOf(page, other);
    case 'mod':
      return numberOf(page, one) % numberOf(page, other);
    default:
      return compare(page, operator, one, other);
  }
}

function evaluatePath({ from, predicates, steps }: PathExpression, focus: Focus): readonly number[] {
  const { page } = focus;
  let nodes: readonly number[];
  if (from === 'here') nodes = [focus.node];
  else if (from === 'root') nodes = [nodeNumber(0)];
  else {
    const value = evaluate(from, focus);
    nodes = isNodes(value) ? value : [];
    for (const predicate of predicates) nodes = filtered(page, nodes, predicate);
  }
  for (let place = 0; place < steps.length; place++) {
    const step = shortcut(steps, place);
    if (step !== steps[place]) place++;
    nodes = takeStep(page, nodes, step as Step);
    if (nodes.length === 0) break;
  }
  return nodes;
}

/** `//a` is two steps that one walk can do, unless a predicate counts positions among the children of each parent. */
function shortcut(steps: readonly Step[], place: number): Step | undefined {
  const step = steps[place];
  const next = steps[place + 1];
  const isBoth =
    step?.axis === 'descendant-or-self' &&
    step.test.kind === 'node' &&
    step.predicates.length === 0 &&
    next?.axis === 'child' &&
    next.predicates.length === 0;
  return isBoth ? { ...next, axis: 'descendant' } : step;
}

function takeStep(
  page: XPathPage,
  nodes: readonly number[],
  { axis, test, predicates }: Step,
): readonly number[] {
  const isReverse = REVERSE_AXES.has(axis);
  const isDeep = (axis === 'descendant' || axis === 'descendant-or-self') && predicates.length === 0;
  const found: number[] = [];
  let coveredTo = -1;
  for (const node of nodes) {
    const treeNode = treeNodeOf(node);
    // Descendants of a node that was walked already are in the result.
    const isCovering = isDeep && !isAttribute(node);
    if (isCovering && treeNode < coveredTo) continue;
    if (isCovering) coveredTo = page.index.tree.ends[treeNode] as number;
    let walked: readonly number[] = walkAxis(page, node, axis, test);
    for (const predicate of predicates) walked = filtered(page, walked, predicate);
    if (isReverse) for (let at = walked.length - 1; at >= 0; at--) found.push(walked[at] as number);
    else for (const each of walked) found.push(each);
  }
  return nodes.length > 1 ? ordered(found) : found;
}

/** Keeps the nodes for which a predicate holds; a number means the position, in the order given. */
function filtered(page: XPathPage, nodes: readonly number[], predicate: Expression): readonly number[] {
  if (predicate.kind === 'literal' && typeof predicate.value === 'number') {
    const one = nodes[predicate.value - 1];
    return one === undefined ? [] : [one];
  }
  const size = nodes.length;
  return nodes.filter((node, at) => {
    const value = evaluate(predicate, { page, node, position: at + 1, size });
    return typeof value === 'number' ? value === at + 1 : booleanOf(value);
  });
}

/** Document order, each once. */
function ordered(nodes: number[]): number[] {
  let isOrdered = true;
  for (let at = 1; at < nodes.length && isOrdered; at++)
    isOrdered = (nodes[at - 1] as number) < (nodes[at] as number);
  if (isOrdered) return nodes;
  const sorted = Float64Array.from(nodes).sort();
  const unique: number[] = [];
  for (const node of sorted) if (node !== unique.at(-1)) unique.push(node);
  return unique;
}
