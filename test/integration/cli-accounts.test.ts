import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endCommands, originOf, runCommand, startCommand, temporaryFolder } from './cli-command.ts';

const LIMIT_MS = 120_000;
const KEY = 'a-key-that-is-long-enough';
const folder = temporaryFolder();
let api: string;

beforeAll(async () => {
  const server = startCommand(['serve', '--port', '0', '--data-dir', folder.path('server')], {
    cwd: folder.path('.'),
    env: { SCRAPIFIE_API_KEY: KEY, SCRAPIFIE_CONTACT: 'mailto:me@example.com' },
  });
  api = await originOf(server);
}, LIMIT_MS);
afterAll(async () => {
  await endCommands();
  folder.remove();
}, LIMIT_MS);

describe.each(['on a data folder', 'on a server'])('accounts and keys %s', (where) => {
  const place = () => (where === 'on a server' ? ['--api', api] : ['--data-dir', folder.path('local')]);
  const run = (...args: string[]) =>
    runCommand([...args, ...place()], { cwd: folder.path('.'), env: { SCRAPIFIE_API_KEY: KEY } });

  it(
    'are made, changed, rotated and deleted',
    async () => {
      const made = await run('accounts', 'create', 'Team One', '--id', 'team', '--open-urls', '50');
      expect([made.exitCode, made.stdout]).toEqual([0, expect.stringMatching(/^sk_\S+\n$/)]);
      const set = await run('accounts', 'set', 'team', '--open-urls', 'none', '--concurrent-pages', '3');
      expect([set.exitCode, set.stdout]).toEqual([0, expect.stringMatching(/open URLs +0 +none/)]);
      expect((await run('accounts', 'list')).stdout).toContain('Team One');

      const created = await run('keys', 'create', 'nightly', '--account', 'team', '--scope', 'jobs:read');
      expect([created.exitCode, created.stderr.split('\n')[0]]).toEqual([0, expect.any(String)]);
      const keys = (await run('keys', 'list', '--account', 'team', '--json')).stdout;
      const nightly = keys.split('\n').find((line) => line.includes('nightly')) ?? '{}';
      const rotated = await run('keys', 'rotate', JSON.parse(nightly).id, '--account', 'team');
      expect([rotated.exitCode, rotated.stdout.trim()]).not.toEqual([0, created.stdout.trim()]);
      expect(rotated.exitCode).toBe(0);

      const unsure = await run('accounts', 'delete', 'team', '--confirm', 'team');
      expect([unsure.exitCode, unsure.stderr]).toEqual([
        expect.toSatisfy((code: number) => code > 0),
        expect.stringContaining('must be the name of the account'),
      ]);
      const deleted = await run('accounts', 'delete', 'team', '--confirm', 'Team One');
      expect([deleted.exitCode, deleted.stdout]).toEqual([0, expect.stringContaining('is deleted')]);
      await expect
        .poll(async () => (await run('accounts', 'list')).stdout, { timeout: 30_000 })
        .not.toContain('Team One');
    },
    LIMIT_MS,
  );
});
