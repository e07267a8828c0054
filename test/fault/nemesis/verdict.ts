import { checkCalls } from './check-calls.ts';
import { checkGentle } from './check-gentle.ts';
import { checkPlatform } from './check-platform.ts';
import { checkPoliteness } from './check-politeness.ts';
import { checkLeftovers, checkProcesses } from './check-processes.ts';
import { checkRecovery, recoveriesOf } from './check-recovery.ts';
import { checkResults } from './check-results.ts';
import { checkTakeover, gapsOf } from './check-takeover.ts';
import { evidenceOf, type Violation } from './evidence.ts';
import { kindOf } from './faults/faults.ts';
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
  const recoveries = recoveriesOf(history);
  return {
    violations: [
      ...checkResults(history, evidence),
      ...checkCalls(history, evidence),
      ...checkPoliteness(history, evidence),
      ...checkTakeover(gaps, evidence),
      ...checkRecovery(recoveries, evidence),
      ...checkProcesses(history, evidence),
      ...checkPlatform(history, evidence),
      ...checkGentle(history, evidence),
      ...checkLeftovers(history.leftovers),
      ...checkFaults(history),
    ],
    figures: figuresOf(history, gaps, recoveries),
  };
}

/** A run that hurt nothing shows nothing. */
function checkFaults({ actions, expected }: History): Violation[] {
  const kinds = new Set(actions.map(kindOf)).size;
  const troubles = expected.troubles.map((what) => ({ check: 'run', what }));
  if (troubles.length > 0) return troubles;
  if (actions.length >= expected.leastFaults && kinds >= expected.leastKinds) return [];
  const wanted = `${expected.leastFaults} of ${expected.leastKinds} kinds`;
  return [{ check: 'faults', what: `${actions.length} faults of ${kinds} kinds were done, not ${wanted}` }];
}
