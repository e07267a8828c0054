import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { searchEnvironment } from '../core/config/search-environment.ts';
import { settingsSchema } from '../core/config/settings.ts';
import { createLogger } from '../core/observe/logger.ts';
import { createIdentity, seededRandom } from '../crawl/plan/identity/identity.ts';
import { findBrowser } from '../fetch/browser/pool/find-browser.ts';
import { treePids } from '../fetch/browser/pool/process-tree.ts';
import { get, serve } from '../fetch/http/loopback.fixture.ts';
import { openBrowsers } from './open-browsers.ts';

const LIMIT_MS = 180_000;

/** The program behind a launcher, seen in a browser that this process has started. */
async function runningProgram(): Promise<string> {
  for (const pid of await treePids(process.pid)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (command.includes('--type=zygote')) return readlink(`/proc/${pid}/exe`);
  }
  throw new Error('no browser runs');
}

/** A copy of a Chromium that says to be of the next version, with everything it needs beside it. */
async function nextVersionOf(program: string, version: string, folder: string): Promise<[string, string]> {
  const major = Number(version.split('.')[0]);
  const next = version.replace(/^\d+/, String(major + 1));
  const bytes = await readFile(program);
  for (let at = bytes.indexOf(version); at !== -1; at = bytes.indexOf(version, at + 1)) bytes.write(next, at);
  const copy = join(folder, 'chromium');
  await mkdir(folder);
  for (const name of await readdir(dirname(program))) {
    if (join(dirname(program), name) !== program)
      await symlink(join(dirname(program), name), join(folder, name));
  }
  await writeFile(copy, bytes);
  await chmod(copy, 0o755);
  return [copy, next];
}

test.runIf(process.platform === 'linux')(
  'after an upgrade under a running process, pages are shown by the new version and identities tell that one',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scrapifie-upgrade-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // Started by root, browsers run as another user.
    await chmod(folder, 0o755);
    const installed = await findBrowser({ executable: null, env: searchEnvironment() });
    const launcher = join(folder, 'launcher');
    const install = async (program: string) => {
      await writeFile(`${launcher}.new`, `#!/bin/sh\nexec '${program}' "$@"\n`);
      await chmod(`${launcher}.new`, 0o755);
      await rename(`${launcher}.new`, launcher);
    };
    await install(installed?.path ?? '');
    const site = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><body>well'),
    );
    const settings = settingsSchema.parse({ allowPrivate: true, browserPath: launcher });
    const browsers = openBrowsers(settings, createLogger({ level: 'silent' }));
    onTestFinished(() => browsers.close());
    const browserVersion = installed?.version ?? '';
    const identity = createIdentity({ region: 'de', browserVersion, random: seededRandom('upgrade') });
    const agentShown = async (): Promise<string> => {
      const script = 'navigator.userAgent';
      const render = { actions: [{ type: 'evaluate' as const, script }] };
      const { rendered } = await get(browsers.engine('stealth'), site.origin, { identity, render });
      return String(rendered?.extra.actions[0]?.value);
    };

    expect(await agentShown()).toContain(`Chrome/${browserVersion.split('.')[0]}.`);
    expect(browsers.found?.version).toBe(browserVersion);
    const [program, next] = await nextVersionOf(await runningProgram(), browserVersion, join(folder, 'next'));
    await install(program);
    await vi.waitFor(async () => expect(await agentShown()).toContain(`Chrome/${next.split('.')[0]}.`), {
      timeout: LIMIT_MS,
      interval: 500,
    });
    expect(browsers.found).toMatchObject({ path: launcher, version: next });
    expect(browsers.figures()?.replaced).toMatchObject({ upgraded: 1, ended: 0, unresponsive: 0 });
    expect(await browsers.health('stealth')).toMatchObject({ state: 'ok' });

    await rm(launcher);
    expect(await browsers.health('stealth')).toMatchObject({ state: 'degraded', code: 'NO_BROWSER' });
  },
  LIMIT_MS,
);
