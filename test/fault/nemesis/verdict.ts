import { checkPoliteness } from './check-politeness.ts';
import { checkResults } from './check-results.ts';
import { checkTakeover, gapsOf } from './check-takeover.ts';
import { evidenceOf, type Violation } from './evidence.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { History } from './history.ts';

export interface Verdict {
  /** Nothing when all is as promised. */
  readonly violations: readonly Violation[];
  readonly figures: Figures;
}

export function verdictOn(history: History): Verdict {
  const evidence = evidenceOf(history);
  const gaps = gapsOf(history);
  return {
    violations: [
      ...checkResults(history, evidence),
      ...checkPoliteness(history, evidence),
      ...checkTakeover(gaps, evidence),
    ],
    figures: figuresOf(history, gaps),
  };
}
