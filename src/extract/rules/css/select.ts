import type { Budget } from '../budget.ts';
import { RULE_LIMITS } from '../rule-limits.ts';
import { RuleSyntaxError } from '../rule-problem.ts';
import type { TreeIndex } from '../tree-index.ts';
import { compileComplex, MATCHES, type Match, type SelectScope } from './compile-selector.ts';
import { parseSelector } from './parse-selector.ts';
import type { ComplexSelector } from './selector.ts';

/** A selector ready to run on any page. */
export interface CompiledSelector {
  readonly source: string;
  /**
   * Elements in the order they stand, at most `limit`. Only what is inside `scope` is looked at (the page itself is node
   * 0), but ancestors outside of it count for matching, as in `querySelectorAll`. What begins with `+` or `~` looks at the
   * elements behind `scope`; `:scope` as the thing selected is `scope` itself.
   */
  select(index: TreeIndex, scope: number, limit: number, budget: Budget): number[];
  /** Whether one element matches. */
  isMatch(index: TreeIndex, node: number, budget: Budget): boolean;
}

/** Throws RuleSyntaxError with the place at fault. */
export function compileSelector(source: string): CompiledSelector {
  if (source.length > RULE_LIMITS.selectorChars) {
    throw new RuleSyntaxError(null, `The selector has more than ${RULE_LIMITS.selectorChars} characters.`);
  }
  const list = parseSelector(source);
  const matchers = list.map(compileComplex);
  const reach = list.map(reachOf);
  const isBehind = reach.includes('behind');
  const isInside = reach.includes('inside');
  const isSelf = reach.includes('self');
  const isMatch = (scope: SelectScope, node: number): boolean => isAny(matchers, scope, node);
  return {
    source,
    select(index, scope, limit, budget) {
      const { tree } = index;
      const around: SelectScope = { index, budget, scope, anchor: scope };
      const found: number[] = [];
      const collect = (from: number, to: number): void => {
        budget.spend(to - from);
        for (let node = from; node < to && found.length < limit; node++) {
          if (index.isElement(node) && isMatch(around, node)) found.push(node);
        }
      };
      const end = tree.ends[scope] as number;
      if (isSelf && scope > 0) collect(scope, scope + 1);
      if (isInside || (isSelf && scope === 0)) collect(scope + 1, end);
      if (isBehind && scope > 0) collect(end, tree.ends[tree.parents[scope] as number] as number);
      return found;
    },
    isMatch: (index, node, budget) =>
      index.isElement(node) && isMatch({ index, budget, scope: 0, anchor: 0 }, node),
  };
}

function isAny(matchers: readonly Match[], scope: SelectScope, node: number): boolean {
  for (const match of matchers) if (match(scope, node) === MATCHES) return true;
  return false;
}

function reachOf({ leading, compounds }: ComplexSelector): 'self' | 'inside' | 'behind' {
  if (leading === '+' || leading === '~') return 'behind';
  const isScope = compounds.at(-1)?.some((simple) => simple.kind === 'plain' && simple.name === 'scope');
  return isScope ? 'self' : 'inside';
}
