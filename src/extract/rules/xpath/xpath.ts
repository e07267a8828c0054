import type { Budget } from '../budget.ts';
import { RULE_LIMITS } from '../rule-limits.ts';
import { RuleSyntaxError } from '../rule-problem.ts';
import type { TreeIndex } from '../tree-index.ts';
import { evaluate } from './evaluate.ts';
import type { ValueType } from './expression.ts';
import { isAttribute, nodeNumber, treeNodeOf, XPathPage } from './nodes.ts';
import { parseXPath, typeOf } from './parse-xpath.ts';

/** One thing an expression found: an element or text of the tree, or a plain value (attributes give theirs). */
export type XPathItem =
  | { readonly kind: 'node'; readonly node: number }
  | { readonly kind: 'value'; readonly value: string | number | boolean };

/** An XPath 1.0 expression ready to run on any page. */
export interface CompiledXPath {
  readonly source: string;
  readonly type: ValueType;
  /**
   * What it finds from a node of the tree, in document order, at most `limit`. An expression that is no path (`count(//a)`)
   * gives one value.
   */
  find(index: TreeIndex, node: number, limit: number, budget: Budget): XPathItem[];
}

/** Throws RuleSyntaxError with the place at fault. */
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
