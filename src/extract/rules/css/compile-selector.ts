import type { Budget } from '../budget.ts';
import { RULE_LIMITS, RuleSyntaxError } from '../rule-text.ts';
import type { TreeIndex } from '../tree-index.ts';
import { compileSimple } from './compile-simple.ts';
import {
  type Combinator,
  type ComplexSelector,
  type CompoundSelector,
  FAILS_ALL,
  FAILS_HERE,
  FAILS_SIBLINGS,
  MATCHES,
  type Match,
  type Outcome,
  parseSelector,
  type SelectScope,
  type Test,
} from './selector.ts';

/** A selector ready to run on any page. */
export interface CompiledSelector {
  readonly source: string;
  /**
   * Matching elements in document order, at most `limit`. Only descendants of `scope` are searched (the page itself is node
   * 0), but ancestors outside of it count for matching, as in `querySelectorAll`. A selector that begins with `+` or `~`
   * searches the siblings after `scope`; a selected `:scope` is `scope` itself.
   */
  select(index: TreeIndex, scope: number, limit: number, budget: Budget): number[];
  /** True when one element matches. */
  isMatch(index: TreeIndex, node: number, budget: Budget): boolean;
}

/** Throws RuleSyntaxError with the position of the mistake. */
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

export function compileComplex({ leading, compounds, combinators }: ComplexSelector): Match {
  let match: Match | null = leading === null ? null : isAnchor;
  for (const [place, compound] of compounds.entries()) {
    const combinator = place === 0 ? leading : (combinators[place - 1] ?? null);
    const test = compileCompound(compound);
    match = match === null || combinator === null ? alone(test) : joined(test, combinator, match);
  }
  return match ?? isAnchor;
}

/** Matches any node except the page itself (node 0). */
export function compileCompound(compound: CompoundSelector): Test {
  const [first, ...rest] = compound.map((simple) => compileSimple(simple, compileComplex));
  if (first === undefined) return (_scope, node) => node > 0;
  if (rest.length === 0) return (scope, node) => node > 0 && first(scope, node);
  return (scope, node) => {
    if (node === 0 || !first(scope, node)) return false;
    for (const test of rest) if (!test(scope, node)) return false;
    return true;
  };
}

const isAnchor: Match = (scope, node) => (node === scope.anchor ? MATCHES : FAILS_HERE);

function alone(test: Test): Match {
  return (scope, node) => (test(scope, node) ? MATCHES : FAILS_HERE);
}

function joined(test: Test, combinator: Combinator, left: Match): Match {
  const relate = RELATIONS[combinator];
  return (scope, node) => (test(scope, node) ? relate(scope, node, left) : FAILS_HERE);
}

type Relation = (scope: SelectScope, node: number, left: Match) => Outcome;

const RELATIONS: Readonly<Record<Combinator, Relation>> = {
  ' ': (scope, node, left) => {
    const { parents } = scope.index.tree;
    for (let above = parents[node] as number; above >= 0; above = parents[above] as number) {
      scope.budget.spend(1);
      const outcome = left(scope, above);
      if (outcome === MATCHES || outcome === FAILS_ALL) return outcome;
    }
    return FAILS_ALL;
  },
  '>': (scope, node, left) => {
    scope.budget.spend(1);
    const above = scope.index.tree.parents[node] as number;
    return above < 0 ? FAILS_ALL : left(scope, above);
  },
  '+': (scope, node, left) => {
    scope.budget.spend(1);
    const before = node === 0 ? -1 : scope.index.previous(node);
    return before < 0 ? FAILS_SIBLINGS : left(scope, before);
  },
  '~': (scope, node, left) => {
    if (node === 0) return FAILS_SIBLINGS;
    const { index, budget } = scope;
    for (let before = index.previous(node); before >= 0; before = index.previous(before)) {
      budget.spend(1);
      const outcome = left(scope, before);
      if (outcome !== FAILS_HERE) return outcome;
    }
    return FAILS_SIBLINGS;
  },
};
