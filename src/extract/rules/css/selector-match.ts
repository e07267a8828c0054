import type { Budget } from '../budget.ts';
import type { TreeIndex } from '../tree-index.ts';

/** The context of one selection. */
export interface SelectScope {
  readonly index: TreeIndex;
  readonly budget: Budget;
  /** The node that `:scope` matches. */
  readonly scope: number;
  /** The node that a leading combinator refers to; changes within `:has`. */
  anchor: number;
}

/** True when an element matches a simple or compound selector. */
export type Test = (scope: SelectScope, node: number) => boolean;

/**
 * The reach of a failure. Matching goes from right to left, so an element may fail by itself (other ancestors or siblings
 * may still match), for all its preceding siblings, or for all its ancestors as well. The last two end the outer loops,
 * which keeps `a b c d` linear in the depth of the page instead of a power of it.
 */
export type Outcome = typeof MATCHES | typeof FAILS_HERE | typeof FAILS_SIBLINGS | typeof FAILS_ALL;
export type Match = (scope: SelectScope, node: number) => Outcome;

export const MATCHES = 0;
export const FAILS_HERE = 1;
export const FAILS_SIBLINGS = 2;
export const FAILS_ALL = 3;
