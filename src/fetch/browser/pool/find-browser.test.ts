import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../browser.fixture.ts';
import { findBrowser } from './find-browser.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'find-browser-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function program(path: string, body: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
  return path;
}

test('the one that the operator names is taken, and its version told', async () => {
  const path = await program(join(await folder(), 'mine'), 'echo "Chromium 99.1.2.3 built on Debian"');
  expect(await findBrowser({ executable: path, env: {} })).toEqual({
    path,
    version: '99.1.2.3',
    from: 'setting',
  });
});

test.each(['exit 1', 'echo hello', 'exec sleep 60'])(
  'a named one that does `%s` is a wrong setting',
  async (body) => {
    const executable = await program(join(await folder(), 'mine'), body);
    const failure = await failureOf(findBrowser({ executable, env: {}, versionTimeoutMs: 500 }));
    expect(failure.code).toBe('INVALID_SETTINGS');
  },
);

test('on the path, names are tried in order and those that do not run are passed over', async () => {
  const [first, second] = [await folder(), await folder()];
  await program(join(first, 'chromium'), 'exit 3');
  const chrome = await program(join(second, 'google-chrome'), 'echo "Google Chrome 120.0.1.2"');
  await program(join(first, 'msedge'), 'echo "Microsoft Edge 121.0"');
  const found = await findBrowser({ executable: null, env: { PATH: `${first}:relative:${second}` } });
  expect(found).toEqual({ path: chrome, version: '120.0.1.2', from: 'path' });
});

test("Playwright's downloads are used last, the newest first", async () => {
  const root = await folder();
  const at = (revision: string) => join(root, revision, 'chrome-mac', 'Chromium.app/Contents/MacOS/Chromium');
  await program(at('chromium-99'), 'echo "Chromium 99.0"');
  const newest = await program(at('chromium-1200'), 'echo "Chromium 150.0"');
  // As on another system, so that nothing that is installed here gets in the way.
  const found = await findBrowser({
    executable: null,
    platform: 'darwin',
    env: { PLAYWRIGHT_BROWSERS_PATH: root },
  });
  expect(found).toEqual({ path: newest, version: '150.0', from: 'playwright' });
});

test('where there is none, there is none', async () => {
  const env = { HOME: await folder(), PATH: await folder() };
  expect(await findBrowser({ executable: null, platform: 'darwin', env })).toBeNull();
  expect(await findBrowser({ executable: '', platform: 'win32', env: {} })).toBeNull();
});
