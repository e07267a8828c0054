import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { runCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
afterAll(folder.remove);
const env = { XDG_CONFIG_HOME: folder.path('settings') };

/** A server that keeps the keys it is sent. */
const keys: (string | undefined)[] = [];
const thief = createServer((request, response) => {
  keys.push(request.headers.authorization);
  response.writeHead(500).end();
});
await new Promise<void>((listening) => thief.listen(0, '127.0.0.1', listening));
const address = thief.address();
const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
afterAll(() => thief.close());

function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(folder.path(name), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(folder.path(`${name}/${file}`), text);
  return folder.path(name);
}

const EVIL = `import { writeFileSync } from 'node:fs';
writeFileSync(new URL('./ran', import.meta.url), '');
export default () => ({ name: 'evil' });
`;

it('a command in a folder of a stranger runs no code of it, and runs it when the folder was trusted', async () => {
  const cwd = folderOf('code', {
    '.env': 'SCRAPIFIE_PLUGINS=./evil.mjs\n',
    'evil.mjs': EVIL,
  });
  const scrape = () => runCommand(['scrape', 'http://127.0.0.1:1/'], { cwd, env });
  const { stderr } = await scrape();
  expect(stderr.split('\n')[0]).toBe(
    `Settings are ignored: ${cwd}/.env is not trusted yet, and sets SCRAPIFIE_PLUGINS; read it, and run "scrapifie trust ${cwd}" if it may.`,
  );
  expect(existsSync(`${cwd}/ran`)).toBe(false);
  const trusted = await runCommand(['trust'], { cwd, env });
  expect(trusted.stdout).toBe(`${cwd}/.env is trusted as it is now; it sets SCRAPIFIE_PLUGINS.\n`);
  await scrape();
  expect(existsSync(`${cwd}/ran`)).toBe(true);
});

it.each([
  ['.env', `SCRAPIFIE_API_URL=${origin}\n`],
  ['scrapifie.yaml', `jobs list: { api: "${origin}" }\n`],
])('a key of the environment is sent to no address of a %s of a stranger', async (name, text) => {
  const cwd = folderOf(`address-${name}`, { [name]: text });
  const withKey = { ...env, SCRAPIFIE_API_KEY: 'the-key-of-the-environment' };
  const { stderr } = await runCommand(['jobs', 'list'], { cwd, env: withKey });
  expect(stderr).toContain(`${cwd}/${name} is not trusted yet`);
  expect(keys).toEqual([]);
  // The same command where the user has trusted the file shows that it would have been sent.
  await runCommand(['trust', cwd], { env });
  await runCommand(['jobs', 'list'], { cwd, env: withKey });
  expect(keys.splice(0)).toContain('Bearer the-key-of-the-environment');
});

it('doctor starts no browser that the folder of a stranger names, and says what is ignored', async () => {
  const cwd = folderOf('doctor', {
    '.env': 'SCRAPIFIE_BROWSER_PATH=./evil.sh\n',
    'evil.sh': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n',
  });
  const { stdout } = await runCommand(['doctor'], { cwd, env });
  expect(stdout).toContain('SCRAPIFIE_BROWSER_PATH');
  expect(stdout).toContain(`scrapifie trust ${cwd}`);
  expect(existsSync(`${cwd}/ran`)).toBe(false);
});

it('trust is listed and revoked, and refused where there is nothing to trust', async () => {
  const cwd = folderOf('listed', { '.env': 'SCRAPIFIE_CONTACT=me@example.org\n' });
  const own = { XDG_CONFIG_HOME: folder.path('other-settings') };
  await runCommand(['trust', 'listed'], { cwd: folder.path(''), env: own });
  expect((await runCommand(['trust', '--list'], { env: own })).stdout).toBe(`${cwd}/.env\n`);
  expect((await runCommand(['trust', '--revoke'], { cwd, env: own })).stdout).toBe(
    `${cwd}/.env is not trusted any more.\n`,
  );
  expect((await runCommand(['trust', '--list'], { env: own })).stdout).toBe('');
  const nothing = await runCommand(['trust'], { cwd: folderOf('empty', {}), env: own });
  expect(nothing.stderr).toContain('has neither .env nor scrapifie.yaml');
});

it('what init writes is followed until it is changed, and a file that was there before is not', async () => {
  const cwd = folderOf('init', { 'scrapifie.yaml': `jobs list: { api: "${origin}" }\n` });
  await runCommand(['init'], { cwd, env });
  const told = async () => (await runCommand(['policy', 'show', 'site.example'], { cwd, env })).stderr;
  expect(await told()).toMatch(/^Defaults of options are ignored: [^\n]+\n$/);
  writeFileSync(`${cwd}/.env`, `${readFileSync(`${cwd}/.env`, 'utf8')}\n# changed\n`);
  expect(await told()).toContain('.env has changed since it was trusted, and sets SCRAPIFIE_POLICY_FILE');
  await runCommand(['trust'], { cwd, env });
  expect(await told()).toBe('');
});
