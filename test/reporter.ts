import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';
import { closingLines, outcomeOf } from './outcome.ts';

/**
 * Ends the run with one plain line, `N passed, N failed`, for people and scripts that read only the end of the output.
 * Before that line stand the tests that were repeated: a test that needs repeating has a race or a time limit to be looked
 * at. When TEST_OUTCOME_FILE names a file, the outcome is written there and nothing is printed.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(...[modules, unhandledErrors]: Parameters<NonNullable<Reporter['onTestRunEnd']>>): void {
    const outcome = outcomeOf(modules, unhandledErrors.length);
    const file = process.env.TEST_OUTCOME_FILE;
    if (file !== undefined) writeFileSync(file, JSON.stringify(outcome));
    // At exit, so that it comes after the summary and whatever vitest has to say while it closes.
    else process.once('exit', () => process.stdout.write(closingLines(outcome)));
  }
}
