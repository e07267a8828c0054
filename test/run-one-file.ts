import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { needsOf } from './needs.ts';

/** Installs what one test file needs, and runs it. The arguments after the file go to vitest. */
const [given = '', ...args] = process.argv.slice(2);
const file = relative(resolve(import.meta.dirname, '..'), resolve(given));
if (!existsSync(file)) {
  console.error(
    `There is no file ${given}. FILE is the path of a test file, such as src/crawl/politeness/gate.test.ts.`,
  );
  process.exit(2);
}
const { targets, folders, project } = needsOf(file);
if (targets.length > 0) run('make', ['--no-print-directory', ...targets]);
run('sh', ['scripts/setup.sh', ...folders]);
run('vitest', ['run', '--project', project, resolve(file), ...args]);

function run(command: string, words: readonly string[]): void {
  const { status, error } = spawnSync(command, words, { stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
