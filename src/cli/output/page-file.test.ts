import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, hashOf, openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import type { JobId } from '../../core/model/ids.ts';
import { openPageFile } from './page-file.ts';

const PICTURE = Buffer.from('a picture');
const RAW = Buffer.from('<p>sent</p>');
const dir = mkdtempSync(join(tmpdir(), 'scrapifie-page-file-'));
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(({ url }) =>
    url.endsWith('/shown')
      ? {
          ...DONE,
          body: '<p>shown</p>',
          artifacts: [PICTURE, RAW],
          record: {
            rendered: {
              screenshot: { contentHash: hashOf(PICTURE), contentType: 'image/png', bytes: PICTURE.length },
              raw: { contentHash: hashOf(RAW), charset: 'utf-8' },
            },
            metadata: null,
            links: [],
          },
        }
      : DONE,
  );
});
afterAll(async () => {
  await platform.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('the file of a crawl', () => {
  it('tells of pages that a browser has shown beside those that none has, with files for what they have', async () => {
    const urls = ['https://a.example/shown', 'https://a.example/read'];
    const payload = { urls, options: { formats: ['rawHtml', 'screenshot'] } };
    const { at } = await platform.call({ method: 'POST', url: '/v1/batch', payload });
    const jobId = at('data.id') as JobId;
    await platform.jobs.waitFor(jobId, 60_000);
    const path = join(dir, 'pages.ndjson');
    const artifactsDir = join(dir, 'artifacts');
    const file = await openPageFile(platform, { path, jobId, artifactsDir, withBodies: true });
    await file.finish(platform);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const pages = lines.map((line) => JSON.parse(line)).toSorted((a, b) => a.url.localeCompare(b.url));
    expect(pages).toMatchObject([
      { url: urls[1], rawHtml: '<p>body</p>', text: 'body' },
      { url: urls[0], rawHtml: '<p>sent</p>', screenshot: { contentType: 'image/png' }, consoleErrors: [] },
    ]);
    expect(pages[0]).not.toHaveProperty('consoleErrors');
    expect(readFileSync(join(dir, pages[1].screenshot.file), 'utf8')).toBe('a picture');
    expect(existsSync(`${join(dir, pages[1].screenshot.file)}.part`)).toBe(false);
  });

  it('has every page that is appended, also after commits that brought none', async () => {
    const payload = { urls: ['https://b.example/1', 'https://b.example/2'] };
    const { at } = await platform.call({ method: 'POST', url: '/v1/batch', payload });
    const jobId = at('data.id') as JobId;
    await platform.jobs.waitFor(jobId, 60_000);
    const path = join(dir, 'later.ndjson');
    const artifactsDir = join(dir, 'none');
    const { items } = await platform.store.listPages({ jobId, limit: 10 });
    const elsewhere = { jobId: 'none' as JobId, path, artifactsDir, withBodies: false };
    const file = await openPageFile(platform, elsewhere);
    for (const pages of [[], items.slice(0, 1), [], items.slice(1), []]) file.append(pages);
    await file.finish(platform);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });
});
