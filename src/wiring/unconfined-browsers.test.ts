import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { settingsSchema } from '../core/config/settings.ts';
import { createLogger } from '../core/observe/logger.ts';
import { get, serve } from '../fetch/http/loopback.fixture.ts';
import { isRoot } from '../fetch/render-process/confinement.ts';
import { openBrowsers } from './open-browsers.ts';

/** A program in a folder that only root can enter: the user of the browsers cannot run it. */
async function closedBrowser(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-closed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'chromium');
  await copyFile(process.execPath, path);
  await chmod(path, 0o755);
  return path;
}

async function openWith(given: object) {
  const path = await closedBrowser();
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  const settings = settingsSchema.parse({ allowPrivate: true, ...given });
  const browsers = openBrowsers(settings, logger, async () => ({ path, version: '150.0.0.0', from: 'path' }));
  onTestFinished(() => browsers.close());
  return { path, browsers, lines };
}

test.runIf(isRoot())('a browser that cannot be confined is not used, and why is said', async () => {
  const { path, browsers, lines } = await openWith({});
  const failure = await get(browsers.engine('browser'), 'http://a.example/').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'BROWSER_UNCONFINED', spec: { exitCode: 5, httpStatus: 503 } });
  expect(String(failure)).toContain(`cannot use ${path}`);
  expect(String(failure)).toContain('SCRAPIFIE_UNCONFINED_BROWSERS=true');
  await expect(browsers.require('stealth')).rejects.toMatchObject({ code: 'BROWSER_UNCONFINED' });
  expect([browsers.found, browsers.refusal?.code]).toEqual([null, 'BROWSER_UNCONFINED']);
  expect(await browsers.health('browser')).toMatchObject({ state: 'failing', code: 'BROWSER_UNCONFINED' });
  expect(browsers.processIds).toEqual([]);
  expect(lines.filter((line) => line.includes('not confined as they should be'))).toHaveLength(1);
});

test.runIf(isRoot())('with consent it is used, as the server itself', async () => {
  const { browsers, lines } = await openWith({ unconfinedBrowsers: true });
  const site = await serve((_, response) => response.end());
  expect((await browsers.find())?.version).toBe('150.0.0.0');
  expect(browsers.refusal).toBeNull();
  // The program is no browser, so that its start fails; but it is started.
  const failure = await get(browsers.engine('browser'), site.origin).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'BROWSER_UNAVAILABLE' });
  expect(lines.join()).toContain('not confined as they should be');
});
