import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, test } from 'vitest';
import { settingsSchema } from '../core/config/settings.ts';
import { createLogger } from '../core/observe/logger.ts';
import { cdpPort } from '../fetch/browser/remote.fixture.ts';
import { codeOfFailure, get, serve, textOf } from '../fetch/http/loopback.fixture.ts';
import { limitsFor, openBrowsers, RenderTally } from './open-browsers.ts';

const logger = createLogger({ level: 'silent' });
const settingsOf = (given: object) => settingsSchema.parse({ allowPrivate: true, ...given });

test('a page is shown with the browser that is found, and both engines say who we are', async () => {
  const site = await serve((request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      `<p>${request.headers['user-agent']}<b></b><script>document.querySelector('b').append(1+1)</script>`,
    );
  });
  const browsers = openBrowsers(settingsOf({ contact: 'ann@example.com' }), logger);
  onTestFinished(() => browsers.close());
  for (const name of ['browser', 'stealth'] as const) {
    const engine = browsers.engine(name);
    expect(engine.name).toBe(name);
    const text = textOf(await get(engine, site.origin));
    expect(text).toContain('<b>2</b>');
    expect(text).toContain('ann@example.com');
  }
  await browsers.close();
  expect(await codeOfFailure(get(browsers.engine('browser'), site.origin))).toBe('SHUTTING_DOWN');
});

test('where there is no browser nothing is shown, and what to do is said', async () => {
  const browsers = openBrowsers(settingsOf({}), logger, async () => null);
  const failure = await get(browsers.engine('browser'), 'http://a.example/').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'NO_BROWSER', spec: { exitCode: 5 } });
  expect(String(failure)).toContain('doctor --install');
  await expect(browsers.require('stealth')).rejects.toMatchObject({ code: 'NO_BROWSER' });
  expect(await browsers.find()).toBeNull();
});

test('its health is asked of the machine: one without a browser is no healthy one', async () => {
  const browsers = openBrowsers(settingsOf({}), logger, async () => null);
  expect(await browsers.health('browser')).toMatchObject({ state: 'failing', code: 'NO_BROWSER' });
  const remote = openBrowsers(
    settingsOf({ remoteBrowserUrl: 'http://127.0.0.1:1' }),
    logger,
    async () => null,
  );
  expect(await remote.health('stealth')).toMatchObject({ state: 'ok' });
});

test('the disguised engine uses a browser elsewhere where the settings name one, and needs none here', async () => {
  const site = await serve((_, response) => {
    response
      .setHeader('content-type', 'text/html')
      .end('<b></b><script>document.querySelector("b").append(7)</script>');
  });
  const { url, kill } = await cdpPort();
  const browsers = openBrowsers(settingsOf({ remoteBrowserUrl: url }), logger, async () => null);
  onTestFinished(() => browsers.close());
  await browsers.require('stealth');
  await expect(browsers.require('browser')).rejects.toMatchObject({ code: 'NO_BROWSER' });
  expect(textOf(await get(browsers.engine('stealth'), site.origin))).toContain('<b>7</b>');
  await kill();
  const failure = await codeOfFailure(get(browsers.engine('stealth'), site.origin));
  expect(['BROWSER_UNAVAILABLE', 'BROWSER_LOST']).toContain(failure);
});

test('it is looked for once, and not before it is needed', async () => {
  let looks = 0;
  const browsers = openBrowsers(settingsOf({}), logger, async () => {
    looks += 1;
    return null;
  });
  browsers.engine('browser');
  expect(looks).toBe(0);
  await Promise.all([browsers.find(), browsers.find(), browsers.require('browser').catch(() => undefined)]);
  expect(looks).toBe(1);
});

test('pages at once are as many as the settings say, or as the machine can carry', () => {
  expect(openBrowsers(settingsOf({ browserPages: 3 }), logger).pagesAtOnce).toBe(3);
  expect(openBrowsers(settingsOf({}), logger).pagesAtOnce).toBeGreaterThan(0);
});

test('pages of one browser, pages until it is replaced and browsers that are kept are as the settings say', () => {
  const given = { browserPages: 12, browserPagesEach: 3, browserRecyclePages: 20, browserWarm: 2 };
  expect(limitsFor(settingsOf(given))).toMatchObject({
    pagesAtOnce: 12,
    pagesEach: 3,
    maxBrowsers: 5,
    pagesPerBrowser: 20,
    minBrowsers: 2,
  });
  expect(limitsFor(settingsOf({}))).toMatchObject({ pagesPerBrowser: 500, minBrowsers: 0 });
});

test('browsers that are kept are started without a page', async () => {
  const browsers = openBrowsers(settingsOf({ browserWarm: 1 }), logger);
  onTestFinished(() => browsers.close());
  await browsers.warm();
  await expect.poll(() => browsers.figures()?.browsers, { timeout: 30_000 }).toBe(1);
});

test('what drives browsers is not loaded with the rest of the program', async () => {
  const entry = fileURLToPath(new URL('./platform.ts', import.meta.url));
  const script = `await import(${JSON.stringify(entry)});
    const { createRequire } = await import('node:module');
    const path = createRequire(${JSON.stringify(entry)}).resolve('patchright-core');
    console.log(Object.keys(createRequire(path).cache).filter((each) => each.includes('patchright-core')).length);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout.trim()).toBe('0');
});

it('renders beyond the pages of the browsers wait, in the order in which they were asked for', async () => {
  const tally = new RenderTally(2);
  const ended: string[] = [];
  tally.onRendered((name, isShown) => ended.push(`${name} ${isShown ? 'shown' : 'failed'}`));
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const names = ['browser', 'stealth', 'stealth', 'browser'] as const;
  const renders = names.map((name, at) => tally.count(name, () => ends[at]?.promise ?? Promise.resolve()));
  expect(tally.waiting('browser').waiting).toBe(1);
  expect(tally.waiting('stealth').waiting).toBe(1);
  ends[0]?.resolve();
  await renders[0];
  expect(tally.waiting('stealth')).toEqual({ waiting: 0, oldestMs: 0 });
  expect(tally.waiting('browser').waiting).toBe(1);
  ends[1]?.reject(new Error('lost'));
  await expect(renders[1]).rejects.toThrow('lost');
  for (const { resolve } of ends) resolve();
  await Promise.all(renders.slice(2));
  expect(ended).toEqual(['browser shown', 'stealth failed', 'stealth shown', 'browser shown']);
  expect(tally.waiting('browser').waiting).toBe(0);
});
