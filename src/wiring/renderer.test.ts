import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { searchEnvironment } from '../core/config/search-environment.ts';
import { settingsSchema } from '../core/config/settings.ts';
import { createLogger } from '../core/observe/logger.ts';
import { findBrowser } from '../fetch/browser/pool/find-browser.ts';
import { signalPart } from '../fetch/browser/pool/process-faults.fixture.ts';
import { codeOfFailure, get, serve } from '../fetch/http/loopback.fixture.ts';
import { openRemotePair } from '../fetch/remote/remote.fixture.ts';
import { createRenderer } from './renderer.ts';

const LIMIT_MS = 180_000;
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: LIMIT_MS, interval: 50 });

test(
  'a render worker whose browser was removed takes no calls, says so, and takes them again when it is back',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scrapifie-renderer-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // Started by root, browsers run as another user.
    await chmod(folder, 0o755);
    const installed = await findBrowser({ executable: null, env: searchEnvironment() });
    const program = join(folder, 'chromium');
    const install = async () => {
      await writeFile(program, `#!/bin/sh\nexec '${installed?.path}' "$@"\n`);
      await chmod(program, 0o755);
    };
    await install();
    const { remote, queue, blobs, transit } = await openRemotePair(null);
    const site = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><body>well'),
    );
    const renderer = createRenderer({
      name: 'browser',
      settings: settingsSchema.parse({ allowPrivate: true, browserPath: program, browserPages: 2 }),
      queue,
      blobs: { ...blobs, degradation: () => null, refusal: () => null },
      transit,
      logger: createLogger({ level: 'silent' }),
    });
    onTestFinished(() => renderer.stop(5_000));
    await renderer.start();
    expect((await get(remote, site.origin)).statusCode).toBe(200);

    await rm(program);
    expect(await renderer.browsers.health('browser')).toMatchObject({
      state: 'degraded',
      code: 'NO_BROWSER',
    });
    // The launcher is a script that becomes the browser, so its children are the browser's.
    expect(await signalPart([process.pid], 'zygote', 'SIGKILL')).not.toEqual([]);
    // The URL is given back for another worker, which may have a browser; it is not ended with NO_BROWSER.
    expect(['BROWSER_LOST', 'NO_WORKER']).toContain(await codeOfFailure(get(remote, site.origin)));
    await until(async () => expect(await remote.countWorkers()).toBe(0));
    expect(await renderer.browsers.health('browser')).toMatchObject({ state: 'failing', code: 'NO_BROWSER' });

    await install();
    await until(async () => expect(await remote.countWorkers()).toBe(1));
    expect((await get(remote, site.origin)).statusCode).toBe(200);
    expect(await renderer.browsers.health('browser')).toMatchObject({ state: 'ok' });
  },
  LIMIT_MS,
);
