import type { Budget } from '../budget.ts';
import type { TreeIndex } from '../tree-index.ts';
import { compileSimple } from './compile-simple.ts';
import type { Combinator, ComplexSelector, CompoundSelector } from './selector.ts';

/** Where and for whom a selector runs. */
export interface SelectScope {
  readonly index: TreeIndex;
  readonly budget: Budget;
  /** What `:scope` is. */
  readonly scope: number;
  /** What a selector that begins with a combinator starts from; changes within `:has`. */
  anchor: number;
}

/** Whether an element matches one simple or compound selector. */
export type Test = (scope: SelectScope, node: number) => boolean;

/**
 * How far a failure reaches. Matching goes from right to left, so an element may fail because of itself (others on the way
 * up or back may still do), because no sibling before it can do, or because nothing above can do either. The last two end
 * the loops around, which keeps `a b c d` linear in the depth of the page instead of a power of it.
 */
export type Outcome = typeof MATCHES | typeof FAILS_HERE | typeof FAILS_SIBLINGS | typeof FAILS_ALL;
export type Match = (scope: SelectScope, node: number) => Outcome;

export const MATCHES = 0;
export const FAILS_HERE = 1;
const FAILS_SIBLINGS = 2;
const FAILS_ALL = 3;

export function compileComplex({ leading, compounds, combinators }: ComplexSelector): Match {
  let match: Match | null = leading === null ? null : isAnchor;
  for (const [place, compound] of compounds.entries()) {
    const combinator = place === 0 ? leading : (combinators[place - 1] ?? null);
    const test = compileCompound(compound);
    match = match === null || combinator === null ? alone(test) : joined(test, combinator, match);
  }
  return match ?? isAnchor;
}

/** Anything but the page itself can be an element. */
export function compileCompound(compound: CompoundSelector): Test {
  const [first, ...rest] = compound.map(compileSimple);
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
