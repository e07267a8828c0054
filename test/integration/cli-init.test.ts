import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadSettings } from '../../src/core/config/load.ts';
import { runCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

const env = { XDG_CONFIG_HOME: folder.path('settings') };

const NAMES = ['.env', 'policy.yaml', 'scrapifie.yaml'];

it('init writes files that are right as they are, and with which commands work', async () => {
  const cwd = folder.path('');
  const { exitCode, stdout } = await runCommand(['init', 'new'], { cwd, env });
  expect(exitCode).toBe(0);
  expect(stdout).toBe(NAMES.map((name) => `${folder.path('new')}/${name} is written.\n`).join(''));
  const inside = { cwd: folder.path('new'), env };
  const defaults = loadSettings(env, inside);
  expect(loadSettings({}, { cwd: '/nowhere' })).toEqual({
    ...defaults,
    policyFile: undefined,
    dataDir: '/nowhere/data',
  });
  expect(defaults.policyFile).toBe(folder.path('new/policy.yaml'));
  expect((await runCommand(['policy', 'check'], inside)).stdout).toContain('new/policy.yaml is right');
  expect(statSync(folder.path('new/.env')).mode & 0o077).toBe(0);
  // The examples of the file with defaults are right as well, once they are switched on.
  const file = folder.path('new/scrapifie.yaml');
  writeFileSync(
    file,
    readFileSync(file, 'utf8')
      .replace(/^#(?=\S)/gm, '')
      .replace(/^#(?= {2}\S)/gm, ''),
  );
  await runCommand(['trust'], inside);
  const crawl = await runCommand(['crawl'], inside);
  expect(crawl.stderr).toBe('error INVALID_USAGE: Without a URL, --out must name the folder of a crawl.\n');
});

it('init overwrites a file only by --force', async () => {
  const cwd = folder.path('old');
  mkdirSync(cwd);
  writeFileSync(join(cwd, '.env'), 'mine');
  const kept = await runCommand(['init'], { cwd, env });
  expect(kept.stdout).toContain(`${join(cwd, '.env')} is there already, and stays as it is.\n`);
  expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe('mine');
  await runCommand(['init', '--force'], { cwd, env });
  expect(readFileSync(join(cwd, '.env'), 'utf8')).toContain('SCRAPIFIE_POLICY_FILE=./policy.yaml');
});
