import { diffArrays } from 'diff';

/** A stretch of tokens: `count` of the earlier list, of the later one, or of both. */
export interface TokenRun {
  readonly kind: 'same' | 'removed' | 'added';
  readonly count: number;
}

export interface TokenDiff {
  readonly runs: readonly TokenRun[];
  /** True when the steps did not suffice: all tokens between the first and the last difference count as replaced. */
  readonly isCoarse: boolean;
}

/** The comparisons that remain for a diff. Counting them ends the same diff always at the same place. */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  spend(steps: number): void {
    this.#left -= steps;
  }
}

/** The search keeps one object for each pair of edit length and diagonal; this bounds them to half a million. */
const MOST_EDITS = 1_000;

class StepsSpent extends Error {}

/** The shortest edit between two lists of tokens, by the algorithm of Myers, within the budget. */
export function diffTokens(a: readonly string[], b: readonly string[], budget: StepBudget): TokenDiff {
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < least - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  budget.spend(start + end);
  const head = run('same', start);
  const tail = run('same', end);
  const middle = search(a.slice(start, a.length - end), b.slice(start, b.length - end), budget);
  return { runs: [...head, ...middle.runs, ...tail], isCoarse: middle.isCoarse };
}

const run = (kind: TokenRun['kind'], count: number): TokenRun[] => (count === 0 ? [] : [{ kind, count }]);

function search(a: readonly string[], b: readonly string[], budget: StepBudget): TokenDiff {
  const replaced = [...run('removed', a.length), ...run('added', b.length)];
  if (a.length === 0 || b.length === 0) return { runs: replaced, isCoarse: false };
  const numbers = new Map<string, number>();
  const numberOf = (token: string): number => {
    const known = numbers.get(token);
    if (known !== undefined) return known;
    numbers.set(token, numbers.size + 1);
    return numbers.size;
  };
  const [left, right] = [a.map(numberOf), b.map(numberOf)];
  budget.spend(left.length + right.length);
  const isSame = (one: number, other: number): boolean => {
    budget.spend(1);
    if (budget.isSpent) throw new StepsSpent();
    return one === other;
  };
  try {
    const found = diffArrays(left, right, { comparator: isSame, maxEditLength: MOST_EDITS });
    if (found === undefined) return { runs: replaced, isCoarse: true };
    const runs = found.map(({ added, removed, count }): TokenRun => {
      return { kind: added ? 'added' : removed ? 'removed' : 'same', count };
    });
    return { runs, isCoarse: false };
  } catch (error) {
    if (error instanceof StepsSpent) return { runs: replaced, isCoarse: true };
    throw error;
  }
}
