import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { howToInstall, installBrowser, type Ran } from './doctor-install.ts';

const DONE: Ran = { isOk: true, said: '' };

let programs: string;
beforeEach(async () => {
  programs = await mkdtemp(join(tmpdir(), 'scrapifie-programs-'));
  onTestFinished(() => rm(programs, { recursive: true, force: true }));
});

async function add(name: string): Promise<void> {
  await writeFile(join(programs, name), '#!/bin/sh\n');
  await chmod(join(programs, name), 0o755);
}

/** Installs on a machine that has what was added and, in its usual places, what this one has. */
async function install(isRoot: boolean, answer: (command: string) => Ran | null = () => DONE) {
  const commands: string[] = [];
  const said: string[] = [];
  const found = await installBrowser({
    environment: { ...process.env, PATH: programs },
    isRoot,
    say: (line) => said.push(line),
    async run(command) {
      commands.push(command.join(' '));
      return answer(command.join(' '));
    },
  }).catch((error: unknown) => error);
  return { commands, said, found };
}

describe('a browser is installed', () => {
  test('by apt-get for root, and what is installed is found', async () => {
    await add('apt-get');
    const { commands, said, found } = await install(true);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toMatch(/^env DEBIAN_FRONTEND=noninteractive apt-get .* install .* chromium$/);
    expect(said).toEqual(['installing chromium with apt-get (once)']);
    expect(found).toMatchObject({ version: expect.stringMatching(/^\d+\./) });
  });

  test('by apt-get through sudo for others', async () => {
    await add('apt-get');
    await add('sudo');
    expect((await install(false)).commands[0]).toMatch(/^sudo -n env /);
  });

  test('with new lists when the old ones do not do', async () => {
    await add('apt-get');
    let installs = 0;
    const { commands } = await install(true, (command) => {
      if (!command.includes('install')) return DONE;
      installs += 1;
      return { isOk: installs > 1, said: 'E: Unable to locate package chromium' };
    });
    expect(commands.map((command) => /update|install/.exec(command)?.[0])).toEqual([
      'install',
      'update',
      'install',
    ]);
  });

  test('as Playwright has it where there is no apt-get, or no leave to use it', async () => {
    for (const isRoot of [true, false]) {
      const { commands } = await install(isRoot);
      expect(commands).toHaveLength(1);
      expect(commands[0]).toMatch(/patchright-core.cli\.js install --no-shell chromium$/);
    }
    await add('apt-get');
    expect((await install(false)).commands[0]).toContain('cli.js install');
  });
});

test('whoever has to do it by hand is told how, on every platform', () => {
  expect(howToInstall('linux')).toContain('apt-get install chromium');
  expect(howToInstall('darwin')).toContain('brew install');
  expect(howToInstall('win32')).toContain('Chrome');
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    expect(howToInstall(platform)).toContain('SCRAPIFIE_BROWSER_PATH');
  }
});
