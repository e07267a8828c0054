import { parseArgs } from 'node:util';
import { killRetention } from './retention/kill-retention.ts';
import { retentionProblems } from './retention/verdict.ts';

/**
 * The long form of the retention test: `node test/fault/retention-run.ts --pages 100000 [--seed 1] [--database-url
 * postgres://…] [--s3-url http://…]`. Pages are stored and deleted at random, and the process is killed again and again.
 */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'most-ms': { type: 'string', default: '8000' },
    'database-url': { type: 'string' },
    's3-url': { type: 'string' },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const startedAt = performance.now();
const seed = Number(values.seed);
const verdict = await killRetention({
  pages: Number(values.pages),
  seed,
  mostMs: Number(values['most-ms']),
  databaseUrl: values['database-url'],
  s3Url: values['s3-url'],
  say,
});
const problems = retentionProblems(verdict);
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, seconds, ...verdict, problems }));
process.exitCode = problems.length === 0 ? 0 : 1;
