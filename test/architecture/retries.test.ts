import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createVitest, type TestProject } from 'vitest/node';
import { closingLines, outcomeOf } from '../outcome.ts';
import { programTests, testFiles } from './program-tests.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const starting = new Set(programTests().map(({ path }) => path));

async function openProjects(): Promise<readonly TestProject[]> {
  const vitest = await createVitest('test', { root: ROOT, watch: false });
  onTestFinished(() => vitest.close());
  return vitest.projects;
}

async function filesOf(project: TestProject): Promise<string[]> {
  const { testFiles: found } = await project.globTestFiles();
  return found.map((file) => file.slice(ROOT.length)).sort();
}

describe('a test is repeated', () => {
  it('once at most, where it starts a program or uses the servers of a fleet, and never elsewhere', async () => {
    const retries = new Map<string, number>();
    for (const project of await openProjects()) {
      const { retry } = project.serializedConfig;
      expect(retry).toBeTypeOf('number');
      for (const file of await filesOf(project)) retries.set(`${project.name}: ${file}`, Number(retry));
    }
    const repeated = [...retries].filter(([, retry]) => retry > 0).map(([name]) => name);
    expect(Math.max(...retries.values())).toBe(1);
    for (const name of repeated) {
      const [project, file = ''] = name.split(': ');
      expect(project === 'fleet' || starting.has(file), `${name} starts no program`).toBe(true);
    }
  });

  it('in one project of the two without servers, and every test file has a project', async () => {
    const projects = await openProjects();
    const filesByName = new Map<string, string[]>();
    for (const project of projects) filesByName.set(project.name, await filesOf(project));
    const once = filesByName.get('embedded') ?? [];
    const again = filesByName.get('embedded-programs') ?? [];
    expect(once.length).toBeGreaterThan(150);
    expect(again.length).toBeGreaterThan(40);
    expect(once.filter((file) => starting.has(file))).toEqual([]);
    expect(again.filter((file) => !starting.has(file))).toEqual([]);
    expect([...new Set([...filesByName.values()].flat())].sort()).toEqual([...testFiles()].sort());
  });
});

describe('the search for tests that start programs or servers', () => {
  const chains = new Map(programTests().map(({ path, chain }) => [path, chain.at(-1)]));

  it.each([
    ['test/integration/cli.test.ts', 'test/site/site.ts'],
    ['src/http/overload.test.ts', 'src/http/overload.test.ts'],
    ['test/integration/rendering.test.ts', 'node:child_process'],
    ['test/fleet/take-over.test.ts', 'node:child_process'],
  ])('finds %s', (path, starter) => expect(chains.get(path)).toBe(starter));

  it.each([
    'test/property/url.test.ts',
    'src/crawl/frontier/scope.test.ts',
    'test/architecture/imports.test.ts',
  ])('does not find %s', (path) => expect(chains.has(path)).toBe(false));
});

it('the end of a run names each repeated test with their number, and the counts in the last line', async () => {
  const dir = mkdtempSync(join(ROOT, 'node_modules/.retries-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(
    join(dir, 'sample.test.ts'),
    `import { expect, it } from 'vitest';
     let runs = 0;
     it('works at once', () => {});
     it('works at the second try', () => { runs += 1; expect(runs).toBe(2); });
     it('never works', () => { expect(1).toBe(2); });`,
  );
  const vitest = await createVitest('test', {
    root: dir,
    config: false,
    watch: false,
    include: ['*.test.ts'],
    exclude: [],
    retry: 1,
    reporters: [{}],
  });
  const { exitCode } = process;
  const { testModules, unhandledErrors } = await vitest.start();
  const text = closingLines(outcomeOf(testModules, unhandledErrors.length));
  await vitest.close();
  process.exitCode = exitCode;
  expect(text.split('\n')).toEqual([
    '2 retried:',
    expect.stringMatching(/ sample\.test\.ts > works at the second try \(1×, passed\)$/),
    expect.stringMatching(/ sample\.test\.ts > never works \(1×, failed\)$/),
    '2 passed, 1 failed',
    '',
  ]);
  expect(closingLines(outcomeOf([], 0))).toBe('0 retried\n0 passed, 0 failed\n');
});

describe('a test file that failed', () => {
  const PASSES = `import { it } from 'vitest'; it('passes', () => {}); it('passes too', () => {});`;
  const PASSES_ALONE = `import { existsSync, writeFileSync } from 'node:fs';
    import { expect, it } from 'vitest';
    it('passes', () => {});
    it('passes when the file has run before', () => {
      const isAgain = existsSync('has-run');
      writeFileSync('has-run', '');
      expect(isAgain).toBe(true);
    });`;
  const FAILS = `import { it } from 'vitest'; it('passes', () => {}); it('fails', () => { throw new Error('no'); });`;

  /** Runs the files as `make test` does. */
  function runTests(files: Readonly<Record<string, string>>) {
    const dir = mkdtempSync(join(ROOT, 'node_modules/.second-runs-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const config = `export default { test: { projects: [{ test: { name: 'sample', include: ['*.test.ts'] } }] } };`;
    for (const [name, text] of Object.entries({ ...files, 'vitest.config.ts': config }))
      writeFileSync(join(dir, name), text);
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'test/run-tests.ts')], {
      cwd: dir,
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH].join(delimiter),
        NO_COLOR: '1',
      },
    });
    return { status, closing: stdout.slice(stdout.lastIndexOf('0 retried')).split('\n') };
  }

  it('runs once more alone, and the run passes when the file does, with a line that names it', () => {
    const { status, closing } = runTests({ 'sound.test.ts': PASSES, 'race.test.ts': PASSES_ALONE });
    expect(closing).toEqual(['0 retried', 'passed alone: race.test.ts (sample)', '4 passed, 0 failed', '']);
    expect(status).toBe(0);
  });

  it('fails the run when it fails alone as well', () => {
    const { status, closing } = runTests({ 'race.test.ts': PASSES_ALONE, 'broken.test.ts': FAILS });
    expect(closing).toEqual(['0 retried', 'passed alone: race.test.ts (sample)', '3 passed, 1 failed', '']);
    expect(status).toBe(1);
  });

  it('is not run again when more than four files failed', () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.test.ts`);
    const { status, closing } = runTests(Object.fromEntries(names.map((name) => [name, FAILS])));
    expect(closing).toEqual(['0 retried', '5 passed, 5 failed', '']);
    expect(status).toBe(1);
  });
});
