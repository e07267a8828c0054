import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDS, type Build, type BuildSpec } from './broken-builds.ts';
import { type Ended, runProgram } from './run-program.ts';
import { copySources } from './source-copy.ts';

const CHECK = fileURLToPath(new URL('check.ts', import.meta.url));
const RUN = 'test/fault/nemesis/run.ts';
const LIMIT_MS = 420_000;

export interface JudgedBuild extends Ended {
  /** Whether the checker has said of it what it should: nothing of a sound build, the right thing of a broken one. */
  readonly isAsExpected: boolean;
}

/** Runs a copy of the program under the faults that its build names, and resolves with the checker's word on it. */
export async function judgeBuild(
  build: Build,
  say: (text: string) => void = () => undefined,
): Promise<JudgedBuild> {
  const { replacements, script, args, objecting }: BuildSpec = BUILDS[build];
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-build-'));
  try {
    const [copy, out] = [join(dir, 'copy'), join(dir, 'history')];
    await copySources(copy, replacements);
    const runArgs = [join(copy, RUN), '--out', out, '--script', script, ...args];
    const run = await runProgram(runArgs, { limitMs: LIMIT_MS, say });
    if (run.exitCode !== 0) throw new Error(`The run of the build ${build} failed:\n${run.report}`);
    const verdict = await runProgram([CHECK, out], { limitMs: LIMIT_MS, say });
    const isFoundOut =
      verdict.exitCode === 1 && objecting.some((check) => verdict.report.includes(`\n${check}: `));
    return { ...verdict, isAsExpected: objecting.length === 0 ? verdict.exitCode === 0 : isFoundOut };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
