import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { EXECUTABLE, failureOf, render, testBrowser, until } from '../browser.fixture.ts';
import { findBrowser } from './find-browser.ts';
import { signalPart } from './process-faults.fixture.ts';

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

const LIMIT_MS = 120_000;

/** A program that starts the browser of this machine, as distributions have it, which can be replaced and removed. */
async function ownProgram() {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-program-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'chromium');
  const install = async (note: string) => {
    const next = join(folder, 'next');
    await writeFile(next, `#!/bin/sh\n# ${note}\nexec '${EXECUTABLE}' "$@"\n`);
    await chmod(next, 0o755);
    await rename(next, path);
  };
  await install('first');
  return { path, install, remove: () => rm(path) };
}

const site = () =>
  serve((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><body>well'));

test(
  'a program that was replaced under a running browser is used for the next pages, and the others are finished',
  async () => {
    const program = await ownProgram();
    const { origin } = await site();
    const versions: string[] = [];
    const { engine, runtime } = testBrowser({
      executablePath: program.path,
      maxBrowsers: 1,
      lookAtProgramEveryMs: 50,
      onLaunched: (version) => versions.push(version),
    });
    await render(engine, `${origin}/`);
    await program.install('second');
    await until(async () => {
      await render(engine, `${origin}/`);
      return runtime.running?.pool.stats.replaced.upgraded === 1;
    });
    expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
    expect(runtime.running?.pool.stats).toMatchObject({ launched: 2, crashed: 0 });
    expect(versions).toHaveLength(2);
    expect(runtime.running?.pool.health.state).toBe('ok');
  },
  LIMIT_MS,
);

test(
  'a program that was removed is reported while its browser goes on, is NO_BROWSER after that, and is noticed when it is back',
  async () => {
    const program = await ownProgram();
    const { origin } = await site();
    const events: string[] = [];
    const { engine, runtime } = testBrowser({
      executablePath: program.path,
      maxBrowsers: 1,
      lookAtProgramEveryMs: 50,
      missingGraceMs: 0,
      onEvent: ({ kind }) => events.push(kind),
    });
    await render(engine, `${origin}/`);
    await program.remove();
    const health = () => runtime.running?.pool.health;
    await until(async () => {
      expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
      return health()?.state === 'degraded';
    });
    expect(health()).toMatchObject({ code: 'NO_BROWSER', reason: expect.stringContaining(program.path) });
    await signalPart(runtime.running?.pool.pids ?? [], 'browser', 'SIGKILL');
    await until(() => runtime.running?.pool.stats.browsers === 0);
    const failure = await failureOf(render(engine, `${origin}/`));
    expect(failure.code).toBe('NO_BROWSER');
    expect(failure.message).toContain(program.path);
    expect(health()).toMatchObject({ state: 'failing', code: 'NO_BROWSER' });
    await program.install('again');
    // The pool notices the program without a request for a page.
    await until(() => health()?.state === 'ok');
    expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
    expect(events.filter((kind) => kind === 'launch failed')).toHaveLength(1);
    expect(events).toContain('program removed');
  },
  LIMIT_MS,
);

test(
  'pages wait for a program that is just being replaced',
  async () => {
    const program = await ownProgram();
    const { origin } = await site();
    const { engine, runtime } = testBrowser({ executablePath: program.path, maxBrowsers: 1 });
    await program.remove();
    const page = render(engine, `${origin}/`);
    await until(() => (runtime.running?.pool.stats.launchesFailed ?? 0) > 0);
    await program.install('second');
    expect((await page).statusCode).toBe(200);
  },
  LIMIT_MS,
);

test('another program is looked for when the one that was used is gone', async () => {
  const [gone, other] = [await ownProgram(), await ownProgram()];
  const { origin } = await site();
  const paths: (string | null)[] = [];
  const { engine } = testBrowser({
    executablePath: gone.path,
    relocate: async () => other.path,
    onLaunched: (_, path) => paths.push(path),
  });
  await gone.remove();
  expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
  expect(paths).toEqual([other.path]);
});
