import type { Reporter } from 'vitest/node';

/**
 * Ends the run with one plain line, `N passed, N failed`, for people and scripts that read only the end of the
 * output. A file that does not load and an error outside any test count as failures.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(...[modules, unhandledErrors]: Parameters<NonNullable<Reporter['onTestRunEnd']>>): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of modules) {
      let failedHere = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        if (state === 'failed') failedHere += 1;
      }
      if (failedHere === 0 && module.state() === 'failed') failedHere = 1;
      failed += failedHere;
    }
    // At exit, so that it comes after the summary and whatever vitest has to say while it closes.
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
