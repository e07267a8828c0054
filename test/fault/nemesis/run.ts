import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { disturbedRun } from './disturbed-run.ts';
import { saveHistory } from './history-files.ts';
import { SCRIPTS, type Script } from './scripts.ts';

/** Uses a fleet that is hurt all the while, and writes down what happened. `check.ts` judges it. */
const USAGE = `usage: node test/fault/nemesis/run.ts --out DIR [--pages 20000] [--hosts 200] [--rate 2] [--jobs 6] [--seed 1]
  [--script ${Object.keys(SCRIPTS).join('|')}] [--kinds 'postgres: ,redis: flush'] [--without 'site: '] [--faults 60] [--least-kinds 25]
  [--every SECONDS] [--longest SECONDS] [--minutes 8] [--no-browser] [--keep]`;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    pages: { type: 'string', default: '20000' },
    hosts: { type: 'string', default: '200' },
    rate: { type: 'string', default: '2' },
    jobs: { type: 'string', default: '6' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
    script: { type: 'string', default: 'rage' },
    kinds: { type: 'string', default: '' },
    without: { type: 'string', default: '' },
    faults: { type: 'string', default: '60' },
    'least-kinds': { type: 'string', default: '25' },
    every: { type: 'string', default: '4' },
    longest: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '8' },
    'no-browser': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});

function usage(): never {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

type Amount = 'pages' | 'hosts' | 'rate' | 'jobs' | 'seed' | 'every' | 'longest' | 'minutes';
function numberOf(name: Amount | 'faults' | 'least-kinds', least = Number.MIN_VALUE): number {
  const value = Number(values[name]);
  return Number.isFinite(value) && value >= least ? value : usage();
}

const namesIn = (list: string) => list.split(',').filter((name) => name !== '');

process.once('SIGTERM', () => process.exit(143));
process.once('SIGINT', () => process.exit(130));
const startedAt = performance.now();
const say = (line: string) => {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5);
  process.stdout.write(`${seconds} s  ${line}\n`);
};
const { out } = values;
if (out === undefined || !Object.hasOwn(SCRIPTS, values.script)) usage();
const seed = numberOf('seed');
await mkdir(out, { recursive: true });
const dir = await mkdtemp(join(tmpdir(), 'scrapifie-nemesis-'));
say(`seed ${seed}`);
try {
  const history = await disturbedRun({
    ...{ dir, seed, say, script: values.script as Script },
    ...{ pages: numberOf('pages'), hosts: numberOf('hosts'), sideJobs: numberOf('jobs', 0) },
    ratePerSecond: numberOf('rate'),
    ...{ kinds: namesIn(values.kinds), withoutKinds: namesIn(values.without) },
    ...{ leastFaults: numberOf('faults', 0), leastKinds: numberOf('least-kinds', 0) },
    hasBrowser: !values['no-browser'],
    everyMs: numberOf('every') * 1_000,
    longestFaultMs: numberOf('longest') * 1_000,
    limitMs: numberOf('minutes') * 60_000,
  });
  await saveHistory(out, history);
  say(`written to ${out}`);
} catch (error) {
  say(`the run itself failed; logs are in ${dir}`);
  throw error;
}
if (values.keep) say(`logs are in ${dir}`);
else await rm(dir, { recursive: true, force: true });
