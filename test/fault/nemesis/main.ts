import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.ts';

/**
 * The nemesis as a whole: a fleet that is hurt all the while (`run.ts`, which gets the arguments), the checker's word
 * on it (`check.ts`), the same for a fleet that is only restarted, and the proof that the checker notices builds that lack a safeguard (`broken-run.ts`).
 */
const LIMIT_MS = 2 * 60 * 60 * 1_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const run = (name: string, ...args: string[]) =>
  runProgram([fileURLToPath(new URL(`${name}.ts`, import.meta.url)), ...args], { limitMs: LIMIT_MS, say });

/** All processes are restarted one after the other, five times, and clients must hardly notice. */
const ROLLING = [
  '--script',
  'rolling',
  '--pages',
  '6000',
  '--hosts',
  '120',
  '--faults',
  '5',
  '--least-kinds',
  '1',
];

async function crawlIsRight(...args: readonly string[]): Promise<boolean> {
  const out = await mkdtemp(join(tmpdir(), 'scrapifie-history-'));
  const crawl = await run('run', '--out', out, ...args);
  const verdict = crawl.exitCode === 0 ? await run('check', out) : crawl;
  if (verdict.exitCode === 0) await rm(out, { recursive: true, force: true });
  else say(`the history is in ${out}`);
  return verdict.exitCode === 0;
}

const isRight = await crawlIsRight(...process.argv.slice(2));
const isGentle = await crawlIsRight(...ROLLING);
const isFoundOut = (await run('broken-run')).exitCode === 0;
process.exitCode = isRight && isGentle && isFoundOut ? 0 : 1;
