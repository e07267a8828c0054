import { parseArgs } from 'node:util';
import { killLake } from './lake-kills.ts';

/** The long form of the kill test of the lake: `node test/fault/lake-kill-run.ts --kills 20 [--seed 1]`. */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    jobs: { type: 'string', default: '3' },
    pages: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const seed = Number(values.seed);
const [kills, jobsPerLife, pagesPerJob] = [values.kills, values.jobs, values.pages].map(Number);
const startedAt = performance.now();
const { problems, ...report } = await killLake({
  kills: kills ?? 20,
  jobsPerLife: jobsPerLife ?? 3,
  pagesPerJob: pagesPerJob ?? 40,
  seed,
  say,
});
const seconds = Math.round((performance.now() - startedAt) / 1_000);
say(JSON.stringify({ seed, ...report, seconds, problems: problems.slice(0, 50) }));
process.exitCode = problems.length === 0 ? 0 : 1;
