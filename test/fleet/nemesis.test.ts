import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { judgeBuild } from '../fault/nemesis/judged-build.ts';
import { runProgram } from '../fault/nemesis/run-program.ts';

const program = (name: string) => fileURLToPath(new URL(`../fault/nemesis/${name}.ts`, import.meta.url));
const LIMIT_MS = 300_000;
const SIZE = ['--pages', '1000', '--hosts', '20', '--rate', '2'];
const FAULTS = ['--script', 'each', '--every', '1.7', '--longest', '32', '--minutes', '2'];
/** Every kind of fault on every sort of target. */
const KINDS = [
  ...['kill', 'pause'].flatMap((kind) =>
    ['api', 'http-worker', 'scheduler'].map((role) => `${kind} ${role}`),
  ),
  ...['crash postgres', 'drop connections postgres', 'restart postgres'],
  ...['flush redis', 'restart redis', 'down s3'],
];

test(
  'a crawl comes out as if nothing had happened though every part of the fleet fails during it',
  async () => {
    const out = await mkdtemp(join(tmpdir(), 'scrapifie-history-'));
    const limitMs = LIMIT_MS;
    const seed = String(1 + (Date.now() % 1_000_000));
    try {
      const args = ['--out', out, '--seed', seed, ...SIZE, ...FAULTS];
      const run = await runProgram([program('run'), ...args], { limitMs });
      expect(run, run.report).toMatchObject({ exitCode: 0 });
      const verdict = await runProgram([program('check'), out], { limitMs });
      expect(verdict.exitCode, `seed ${seed}\n${run.report}\n${verdict.report}`).toBe(0);
      const actions = (await readFile(join(out, 'actions.ndjson'), 'utf8')).trimEnd().split('\n');
      const done = actions
        .map((line) => JSON.parse(line) as { kind: string; target: string })
        .map(({ kind, target }) => `${kind} ${target.replace(/-\d+$/, '')}`);
      expect(done.sort()).toEqual(KINDS.toSorted());
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  },
  LIMIT_MS,
);

test(
  'the checker finds out a build that takes results of an owner that has lost its host',
  async () => {
    const { exitCode, report } = await judgeBuild('unchecked-commit');
    expect(exitCode, report).toBe(1);
    expect(report).toContain('counter: ');
  },
  LIMIT_MS,
);
