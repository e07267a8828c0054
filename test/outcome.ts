import type { Reporter } from 'vitest/node';

type Modules = Parameters<NonNullable<Reporter['onTestRunEnd']>>[0];

/** A test file of one project that failed. */
export interface FailedFile {
  readonly project: string;
  /** Relative to the root of the project. */
  readonly path: string;
  readonly passed: number;
  readonly failed: number;
}

/** What came of one run of tests. */
export interface RunOutcome {
  readonly passed: number;
  /** A file that does not load and an error outside of any test count as one failure each. */
  readonly failed: number;
  /** One line for each test that was repeated. */
  readonly retried: readonly string[];
  readonly failedFiles: readonly FailedFile[];
}

/** More failed files than this are a broken program, not races: none of them is run again. */
export const MOST_SECOND_RUNS = 4;

export function outcomeOf(modules: Modules, unhandledErrors: number): RunOutcome {
  let passed = 0;
  let failed = unhandledErrors;
  const retried: string[] = [];
  const failedFiles: FailedFile[] = [];
  for (const module of modules) {
    const here = { passed: 0, failed: 0 };
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed' || state === 'failed') here[state] += 1;
      const retries = test.diagnostic()?.retryCount ?? 0;
      if (retries > 0)
        retried.push(
          `${module.project.name}: ${module.relativeModuleId} > ${test.fullName} (${retries}×, ${state})`,
        );
    }
    if (here.failed === 0 && module.state() === 'failed') here.failed = 1;
    passed += here.passed;
    failed += here.failed;
    if (here.failed > 0)
      failedFiles.push({ project: module.project.name, path: module.relativeModuleId, ...here });
  }
  return { passed, failed, retried, failedFiles };
}

/** Whether the files that failed are few enough to be run again, and no error lies outside of them. */
export const mayRunAgain = ({ failed, failedFiles }: RunOutcome): boolean =>
  failedFiles.length > 0 &&
  failedFiles.length <= MOST_SECOND_RUNS &&
  failed === failedFiles.reduce((sum, file) => sum + file.failed, 0);

/** The outcome of a run when one of its failed files has passed alone: the tests of the file count as in its second run. */
export function withSecondRun(run: RunOutcome, file: FailedFile, second: RunOutcome): RunOutcome {
  if (second.failed > 0 || second.passed === 0) return run;
  return {
    passed: run.passed - file.passed + second.passed,
    failed: run.failed - file.failed,
    retried: [...run.retried, ...second.retried],
    failedFiles: run.failedFiles.filter((other) => other !== file),
  };
}

/** The repeated tests with their number, the files that passed alone, and the counts in the last line. */
export function closingLines(
  { passed, failed, retried }: RunOutcome,
  alone: readonly FailedFile[] = [],
): string {
  return [
    retried.length === 0 ? '0 retried' : `${retried.length} retried:`,
    ...retried.map((line) => `  ${line}`),
    ...alone.map(({ project, path }) => `passed alone: ${path} (${project})`),
    `${passed} passed, ${failed} failed`,
    '',
  ].join('\n');
}
