import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/core/observe/logger.ts';
import { createMetrics } from '../../src/core/observe/metrics.ts';
import { openPlatform } from '../../src/wiring/platform.ts';
import { type Canaries, findCanaries } from '../fleet/canaries.ts';
import { openScraper, QUICK_POLICY, type Scraper } from './world.ts';

const LIMIT_MS = 120_000;
const CANARIES: Canaries = {
  header: 'canary-header-5d0f',
  cookie: 'canary-cookie-5d0f',
  body: 'canary-body-5d0f',
  proxyPassword: 'canary-proxy-5d0f',
  typed: 'canary-typed-5d0f',
  script: 'canary-script-5d0f',
  sessionCookie: 'canary-session-5d0f',
};

let site: Server;
let url: string;
let scraper: Scraper;
let heard = '';

beforeAll(async () => {
  site = createServer((request, response) => {
    heard += JSON.stringify(request.headers);
    request.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    request.on('end', () => {
      // The request with a session; cookies of other responses are part of their pages.
      if (request.method === 'POST') response.setHeader('set-cookie', `sid=${CANARIES.sessionCookie}`);
      response.end('<title>A page</title>');
    });
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  // One process with a data folder, in every profile.
  scraper = await openScraper({ place: null, policy: QUICK_POLICY, isStarted: false });
}, LIMIT_MS);
afterAll(async () => {
  await scraper?.close();
  site?.closeAllConnections();
  site?.close();
}, LIMIT_MS);

/** Every file below the folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const posted = () => ({
  url,
  method: 'POST' as const,
  headers: { 'x-anything': CANARIES.header ?? '' },
  cookies: { own: CANARIES.cookie ?? '' },
  body: CANARIES.body ?? '',
});

describe('secrets of requests', { timeout: LIMIT_MS }, () => {
  test('reach the site, also when another process goes on with the job', async () => {
    const { headers, cookies } = posted();
    const job = await scraper.batch({ urls: [`${url}later`], options: { headers, cookies } });
    await scraper.platform.close();
    const { dataDir } = scraper;
    scraper = await openScraper({ place: null, policy: QUICK_POLICY, dataDir });
    await scraper.ended(job);
    for (const name of ['header', 'cookie']) expect(heard).toContain(CANARIES[name]);
    await scraper.scrapeNow({ ...posted(), session: 'shop' });
    expect(heard).toContain(CANARIES.body);
  });

  test('are in no file of the data folder', async () => {
    const proxy = { url: `http://ann:${CANARIES.proxyPassword}@127.0.0.1:1` };
    const actions = [
      { type: 'type' as const, selector: '#a', text: CANARIES.typed ?? '' },
      { type: 'evaluate' as const, script: `"${CANARIES.script}"` },
    ];
    await scraper.batchNow({ urls: [`${url}shown`], options: { proxy, actions, maxAttempts: 1 } });
    const files = filesIn(scraper.dataDir);
    expect(files.map((file) => file.split('/').at(-1))).toEqual(
      expect.arrayContaining(['scrapifie.db', 'vault.key']),
    );
    for (const file of files) {
      expect([file, findCanaries(readFileSync(file, 'latin1'), CANARIES)]).toEqual([file, []]);
    }
  });

  test('are hidden where the job is shown', async () => {
    const { items } = await scraper.platform.jobs.list({ accountId: scraper.account, limit: 10 });
    expect(items.length).toBeGreaterThan(2);
    expect(findCanaries(JSON.stringify(items), CANARIES)).toEqual([]);
  });

  test('lie in files that one user may read, with a key that was made for them', () => {
    const { dataDir } = scraper;
    const modeOf = (path: string) => statSync(path).mode & 0o077;
    expect(modeOf(dataDir)).toBe(0);
    for (const file of filesIn(dataDir).filter((path) => !path.endsWith('policy.yaml'))) {
      expect([file, modeOf(file)]).toEqual([file, 0]);
    }
    expect(readFileSync(join(dataDir, 'vault.key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  });

  test('keep the program from starting without their key, unless the operator says so', async () => {
    const { settings } = scraper.platform;
    const keyFile = join(scraper.dataDir, 'vault.key');
    const key = readFileSync(keyFile, 'utf8');
    await scraper.platform.close();
    rmSync(keyFile);
    const options = {
      logger: createLogger({ level: 'silent' }),
      metrics: createMetrics({ withProcess: false }),
    };
    const keyless = { ...settings, vaultKey: undefined, vaultOldKeys: '' };
    await expect(openPlatform({ ...options, settings: keyless })).rejects.toMatchObject({
      code: 'INVALID_SETTINGS',
      message: expect.stringContaining('vault.key'),
    });
    expect(readdirSync(scraper.dataDir)).not.toContain('vault.key');
    const told = await openPlatform({ ...options, settings: { ...keyless, allowPlainSecrets: true } });
    await told.close();
    expect(readdirSync(scraper.dataDir)).not.toContain('vault.key');
    // With the key everything is as it was.
    writeFileSync(keyFile, key, { mode: 0o600 });
    scraper = await openScraper({ place: null, policy: QUICK_POLICY, dataDir: scraper.dataDir });
    expect((await scraper.platform.jobs.list({ accountId: scraper.account, limit: 10 })).items).toHaveLength(
      3,
    );
  });
});
