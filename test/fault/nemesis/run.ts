import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { disturbedCrawl, SCRIPTS, type Script } from './disturbed-crawl.ts';
import { saveHistory } from './history-files.ts';

/** Crawls with a fleet that is hurt all the while, and writes down what happened. `check.ts` judges it. */
const USAGE = `usage: node test/fault/nemesis/run.ts --out DIR [--pages 20000] [--hosts 200] [--rate 2] [--seed 1]
  [--script ${SCRIPTS.join('|')}] [--every SECONDS] [--longest SECONDS] [--minutes 20] [--keep]`;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    pages: { type: 'string', default: '20000' },
    hosts: { type: 'string', default: '200' },
    rate: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    script: { type: 'string', default: 'random' },
    every: { type: 'string', default: '4' },
    longest: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '20' },
    keep: { type: 'boolean', default: false },
  },
});

function usage(): never {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

function numberOf(name: 'pages' | 'hosts' | 'rate' | 'seed' | 'every' | 'longest' | 'minutes'): number {
  const value = Number(values[name]);
  return Number.isFinite(value) && value > 0 ? value : usage();
}

const startedAt = performance.now();
const say = (line: string) => {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5);
  process.stdout.write(`${seconds} s  ${line}\n`);
};
const { out } = values;
if (out === undefined || !SCRIPTS.includes(values.script as Script)) usage();
const [hosts, seed] = [numberOf('hosts'), numberOf('seed')];
await mkdir(out, { recursive: true });
const dir = await mkdtemp(join(tmpdir(), 'scrapifie-nemesis-'));
say(`seed ${seed}`);
try {
  const history = await disturbedCrawl({
    dir,
    size: { hosts, pagesPerHost: Math.ceil(numberOf('pages') / hosts) },
    ratePerSecond: numberOf('rate'),
    script: values.script as Script,
    seed,
    everyMs: numberOf('every') * 1_000,
    longestFaultMs: numberOf('longest') * 1_000,
    limitMs: numberOf('minutes') * 60_000,
    say,
  });
  await saveHistory(out, history);
  say(`written to ${out}`);
} finally {
  if (values.keep) say(`logs are in ${dir}`);
  else await rm(dir, { recursive: true, force: true });
}
