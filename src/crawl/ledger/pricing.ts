import type { Attempt } from '../../core/model/attempt.ts';
import { isOurs, type PriceTable, priceOf } from '../../core/model/prices.ts';
import type { Completion } from '../../core/ports/store.ts';

/**
 * The completion with what its attempt costs. A task costs what the attempts of its trace cost together, and a task that
 * fails on this side costs nothing, so what was charged for its earlier attempts is refunded. An attempt that the trace
 * does not keep, because it does not count, costs nothing either.
 */
export function pricedCompletion(completion: Completion, prices: PriceTable): Completion {
  const { used, trace, end } = completion;
  if (used === undefined || end.state === 'ready' || trace.at(-1) !== used) return completion;
  const earlier = trace.slice(0, -1);
  if (end.state === 'failed' && isOurs(end.errorCode)) {
    return { ...completion, trace: [...earlier.map(withoutCost), used], microcredits: -costOf(earlier) };
  }
  const microcredits = priceOf(used, prices);
  if (microcredits === 0) return completion;
  return { ...completion, trace: [...earlier, { ...used, microcredits }], microcredits };
}

const costOf = (attempts: readonly Attempt[]) =>
  attempts.reduce((sum, { microcredits = 0 }) => sum + microcredits, 0);

const withoutCost = ({ microcredits: _, ...attempt }: Attempt): Attempt => attempt;
