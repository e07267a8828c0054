import type { Reporter } from 'vitest/node';

type Modules = Parameters<NonNullable<Reporter['onTestRunEnd']>>[0];

/**
 * Ends the run with one plain line, `N passed, N failed`, for people and scripts that read only the end of the
 * output. A file that does not load and an error outside any test count as failures. Before that line stand the tests
 * that were repeated, with their number: a test that needs repeating has a race or a time limit to be looked at.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(...[modules, unhandledErrors]: Parameters<NonNullable<Reporter['onTestRunEnd']>>): void {
    const closing = closingLines(modules, unhandledErrors.length);
    // At exit, so that it comes after the summary and whatever vitest has to say while it closes.
    process.once('exit', () => process.stdout.write(closing));
  }
}

/** The list of repeated tests and the line with the counts. */
export function closingLines(modules: Modules, unhandledErrors: number): string {
  let passed = 0;
  let failed = unhandledErrors;
  const retried: string[] = [];
  for (const module of modules) {
    let failedHere = 0;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed += 1;
      if (state === 'failed') failedHere += 1;
      const retries = test.diagnostic()?.retryCount ?? 0;
      if (retries > 0)
        retried.push(
          `  ${module.project.name}: ${module.relativeModuleId} > ${test.fullName} (${retries}×, ${state})`,
        );
    }
    if (failedHere === 0 && module.state() === 'failed') failedHere = 1;
    failed += failedHere;
  }
  const list = retried.map((line) => `${line}\n`).join('');
  return `${retried.length} retried${retried.length === 0 ? '' : ':'}\n${list}${passed} passed, ${failed} failed\n`;
}
