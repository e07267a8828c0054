import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  closingLines,
  type FailedFile,
  MOST_SECOND_RUNS,
  mayRunAgain,
  type RunOutcome,
  withSecondRun,
} from './outcome.ts';

/**
 * Runs the tests by vitest, with the arguments of this program. A test file that failed runs once more, alone, after all
 * others; when it passes then, the run counts as passed and names the file. Such a file has a race or too short a time
 * limit, which is a defect to be mended.
 */
const folder = mkdtempSync(join(tmpdir(), 'test-outcome-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
// The terminal sends these to vitest as well, which ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

/** Programs that tests start are the one that was bundled for this run: what users start, in half the time. */
const bundled = resolve(import.meta.dirname, '../.program/main.js');
const programs = existsSync(bundled) ? { TEST_PROGRAM: bundled } : {};

/** The outcome is null when vitest ended without one. */
function runVitest(args: readonly string[]): Promise<{ code: number; outcome: RunOutcome | null }> {
  const file = join(folder, 'outcome.json');
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', `--reporter=${resolve(import.meta.dirname, 'reporter.ts')}`];
  const child = spawn('vitest', ['run', ...reporters, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...programs, TEST_OUTCOME_FILE: file },
  });
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      const outcome = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunOutcome) : null;
      settle({ code: code ?? 1, outcome });
    });
  });
}

const { code, outcome: first } = await runVitest(process.argv.slice(2));
process.exitCode = code;
if (first !== null) {
  let outcome = first;
  const alone: FailedFile[] = [];
  if (mayRunAgain(first)) {
    for (const file of first.failedFiles) {
      process.stdout.write(`\n${file.path} (${file.project}) failed and runs once more, alone\n`);
      const second = await runVitest(['--project', file.project, resolve(file.path)]);
      if (second.code !== 0 || second.outcome === null) continue;
      const after = withSecondRun(outcome, file, second.outcome);
      if (after !== outcome) alone.push(file);
      outcome = after;
    }
    if (outcome.failed === 0) process.exitCode = 0;
  } else if (first.failedFiles.length > MOST_SECOND_RUNS) {
    process.stdout.write(`\n${first.failedFiles.length} files failed; none is run again\n`);
  }
  process.stdout.write(closingLines(outcome, alone));
}
