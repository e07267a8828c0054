import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.ts';

/**
 * The nemesis as a whole: a fleet that is hurt all the while (`run.ts`, which gets the arguments), the checker's word
 * on it (`check.ts`), and the proof that the checker notices builds that lack a safeguard (`broken-run.ts`).
 */
const LIMIT_MS = 2 * 60 * 60 * 1_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);
const run = (name: string, ...args: string[]) =>
  runProgram([fileURLToPath(new URL(`${name}.ts`, import.meta.url)), ...args], { limitMs: LIMIT_MS, say });

async function crawlIsRight(): Promise<boolean> {
  const out = await mkdtemp(join(tmpdir(), 'scrapifie-history-'));
  const crawl = await run('run', '--out', out, ...process.argv.slice(2));
  const verdict = crawl.exitCode === 0 ? await run('check', out) : crawl;
  if (verdict.exitCode === 0) await rm(out, { recursive: true, force: true });
  else say(`the history is in ${out}`);
  return verdict.exitCode === 0;
}

const isRight = await crawlIsRight();
const isFoundOut = (await run('broken-run')).exitCode === 0;
process.exitCode = isRight && isFoundOut ? 0 : 1;
