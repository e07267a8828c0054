import { parseArgs } from 'node:util';
import { diffLargeSite } from './large-diff.ts';

/** Compares two crawls of a large site: `node test/fault/large-diff-run.ts --pages 100000 [--most-mb 200]`. */
const { values } = parseArgs({
  options: { pages: { type: 'string', default: '100000' }, 'most-mb': { type: 'string', default: '200' } },
});
const found = await diffLargeSite(Number(values.pages));
const isRight = JSON.stringify(found.counts) === JSON.stringify(found.expected);
const problems = [
  ...(isRight ? [] : ['the counts are wrong']),
  ...(found.grownMb <= Number(values['most-mb']) ? [] : ['it took more memory than allowed']),
];
process.stdout.write(`${JSON.stringify({ ...found, problems })}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
