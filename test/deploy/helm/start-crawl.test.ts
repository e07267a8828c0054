import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../property/api-platform.ts';
import { CHART } from './engine.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'scrapifie-start-crawl-'));
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({});
  await platform.api.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await platform.close();
  rmSync(folder, { recursive: true });
});

/** As a pod of the CronJob runs it. */
async function startCrawl(request: object, job: string) {
  const { port } = platform.api.server.address() as AddressInfo;
  const file = join(folder, 'shop.json');
  writeFileSync(file, JSON.stringify(request));
  const environment = {
    SCRAPIFIE_API_URL: `http://127.0.0.1:${port}`,
    SCRAPIFIE_API_KEY: platform.secret,
    IDEMPOTENCY_KEY: job,
  };
  const script = join(CHART, 'files/start-crawl.mjs');
  return run(process.execPath, [script, file], { env: environment });
}
const jobs = async () => (await platform.call({ url: '/v1/jobs' })).at('data.items.length');

it('the CronJob starts one crawl, however often its pod is tried, and another with its next Job', async () => {
  const request = { urls: ['https://shop.example/'], maxPages: 10 };
  const first = await startCrawl(request, 'scrapifie-crawl-shop-1');
  expect(JSON.parse(first.stdout)).toMatchObject({ success: true });
  expect((await startCrawl(request, 'scrapifie-crawl-shop-1')).stdout).toBe(first.stdout);
  expect(await jobs()).toBe(1);
  await startCrawl(request, 'scrapifie-crawl-shop-2');
  expect(await jobs()).toBe(2);
});

it('the CronJob fails when the API refuses the request, and its log says why', async () => {
  await expect(startCrawl({ url: 'https://shop.example/' }, 'scrapifie-crawl-shop-3')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringContaining('VALIDATION_FAILED'),
  });
});
