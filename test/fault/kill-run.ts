import { parseArgs } from 'node:util';
import { killCrawl } from './kill-crawl.ts';
import { problemsOf } from './verdict.ts';

/** The long form of the kill test: `node test/fault/kill-run.ts --pages 3000 --kills 30 [--seed 1] [--late 0.5]`. */
const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '3000' },
    kills: { type: 'string', default: '30' },
    late: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const { pages, kills, seed, late } = values;
const options = {
  pages: Number(pages),
  kills: Number(kills),
  seed: Number(seed),
  lateShare: Number(late),
};
say(`seed ${options.seed}: a crawl of ${options.pages} pages is killed ${options.kills} times`);

const startedAt = performance.now();
const report = await killCrawl({ ...options, say });
const problems = problemsOf(report);
if (report.kills < options.kills) problems.push(`finished after ${report.kills} kills`);
say(
  JSON.stringify({
    seed: options.seed,
    kills: report.kills,
    killsAtStart: report.killsAtStart,
    pages: report.disturbed.job.counters.pages,
    requests: report.requests,
    extraRequests: report.extraRequests,
    mostPerUrl: report.mostPerUrl,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    problems,
  }),
);
process.exitCode = problems.length === 0 ? 0 : 1;
