import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDS, type Build, SHORT_LEASE_SECONDS } from './broken-builds.ts';
import { type Ended, runProgram } from './run-program.ts';
import { copySources } from './source-copy.ts';

const CHECK = fileURLToPath(new URL('check.ts', import.meta.url));
const RUN = 'test/fault/nemesis/run.ts';
/** Long enough that the hosts of a worker that is stopped have new owners, which are still busy when it wakes up. */
const FROZEN_SECONDS = SHORT_LEASE_SECONDS + 6;
const RUN_ARGS = ['--pages', '540', '--hosts', '12', '--rate', '3', '--minutes', '1', '--script', 'stale'];
const LIMIT_MS = 240_000;

/** Crawls with a copy of the program, one worker stopped past its lease, and resolves with the checker's word on it. */
export async function judgeBuild(
  build: Build,
  say: (text: string) => void = () => undefined,
): Promise<Ended> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-build-'));
  try {
    const [copy, out] = [join(dir, 'copy'), join(dir, 'history')];
    await copySources(copy, BUILDS[build].replacements);
    const args = [join(copy, RUN), '--out', out, '--longest', String(FROZEN_SECONDS), ...RUN_ARGS];
    const run = await runProgram(args, { limitMs: LIMIT_MS, say });
    if (run.exitCode !== 0) throw new Error(`The crawl of the build ${build} failed:\n${run.report}`);
    return await runProgram([CHECK, out], { limitMs: LIMIT_MS, say });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
