import { mkdirSync, readdirSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { endCommands, startCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
afterAll(async () => {
  await endCommands();
  folder.remove();
});

it('the demo shows every command on its own site, whatever the settings name, and leaves nothing behind', async () => {
  const [here, temporary] = [folder.path('here'), folder.path('temporary')];
  for (const each of [here, temporary]) mkdirSync(each);
  const env = { TMPDIR: temporary, SCRAPIFIE_API_URL: 'http://127.0.0.1:9', SCRAPIFIE_DATA_DIR: './data' };
  const { exitCode, stdout, stderr } = await startCommand(['demo'], { cwd: here, env }).ended;
  expect(stderr).not.toContain('error ');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('# Lighthouses of the North');
  expect(stdout).toMatch(/^completed: 17 pages, 0 failed, \d+ skipped, 1 denied$/m);
  expect(stdout).toContain('robots.txt does not allow it: `disallow: /staff/ (line 2)`.');
  expect(stdout).toMatch(/MODIFIED +\S+\/books\/lighthouses-of-the-north {2}price: 24 → 19/);
  expect(stdout).toMatch(/ADDED +\S+\/books\/tea-and-its-ways/);
  expect(stdout).toMatch(/REMOVED +\S+\/books\/knots-and-ropes/);
  expect([...readdirSync(here), ...readdirSync(temporary)]).toEqual([]);
});
