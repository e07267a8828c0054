import { faultTable } from './figures.ts';
import { readHistory } from './history-files.ts';
import { verdictOn } from './verdict.ts';

/**
 * Judges what a run has left: `node test/fault/nemesis/check.ts DIR`. It knows the files and nothing of the program
 * that was run. Ends with 0 when all is as promised, with 1 and every violation when not, with 2 when it cannot tell.
 */
const MOST_TOLD = 20;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const [dir] = process.argv.slice(2);
if (dir === undefined) {
  process.stderr.write('usage: node test/fault/nemesis/check.ts DIR\n');
  process.exit(2);
}
const history = await readHistory(dir).catch((error: unknown) => {
  process.stderr.write(`${dir} has no history: ${String(error)}\n`);
  process.exit(2);
});
const { violations, figures } = verdictOn(history);
if (figures.faults.length > 0) say(faultTable(figures.faults));
say(`memory: ${figures.memory.join(', ')}`);
for (const [check, found = []] of Object.entries(Object.groupBy(violations, (one) => one.check))) {
  say(`${check}: ${found.length} violations`);
  for (const { what } of found.slice(0, MOST_TOLD)) say(`  ${what}`);
  if (found.length > MOST_TOLD) say(`  … and ${found.length - MOST_TOLD} more`);
}
say(JSON.stringify({ ...figures.summary, violations: violations.length }));
process.exitCode = violations.length === 0 ? 0 : 1;
