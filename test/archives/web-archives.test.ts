import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchangeLike } from '../../src/capabilities/archive/exchange.fixture.ts';
import type { RenderedExchange } from '../../src/capabilities/archive/exchange.ts';
import { createKnownPayloads, recordsOf } from '../../src/capabilities/archive/exchange-records.ts';
import { written } from '../../src/capabilities/archive/write-archive.ts';
import { exportBytes } from '../../src/capabilities/exports/write-export.ts';
import type { ExportFormat } from '../../src/core/model/export-registry.ts';
import type { Job } from '../../src/core/model/job.ts';
import { openReplayEngine } from '../../src/fetch/replay/replay-engine.ts';
import { gzipWarc, http } from '../../src/lib/warc/samples.fixture.ts';
import { openScraper, openWorld, type World } from '../integration/world.ts';
import { readWarc } from './warc-check.ts';

const dir = mkdtempSync(join(tmpdir(), 'scrapifie-archives-'));
let world: World;
let job: Job;
beforeAll(async () => {
  world = await openWorld({ site: { pages: 30 } });
  const seed = world.site.urlOf('shop', '/shop/');
  job = await world.crawlNow({ urls: [seed], maxPages: 25, options: { formats: ['metadata', 'markdown'] } });
});
afterAll(async () => {
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

async function exported(format: ExportFormat, name: string): Promise<string> {
  const path = join(dir, name);
  const run = { job, spec: { type: 'raw', format }, createdAt: 0 } as const;
  writeFileSync(path, Buffer.concat(await Array.fromAsync(exportBytes(run, world.platform))));
  return path;
}

describe('an export as a web archive', () => {
  it('has a response for each page, as another reader verifies', async () => {
    const records = await readWarc(await exported('warc', 'shop.warc.gz'));
    const pages = await world.pages(job);
    const answered = records.filter(({ type }) => type === 'response' || type === 'revisit');
    const urls = new Set(answered.map(({ url }) => url));
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.filter(({ finalUrl }) => !urls.has(finalUrl))).toEqual([]);
    expect(records.filter(({ type }) => type === 'metadata')).toHaveLength(pages.length);
  });

  it.each([
    ['warc', 'shop-2.warc.gz'],
    ['wacz', 'shop.wacz'],
  ] as const)('%s is replayed with the bodies that were stored', async (format, name) => {
    const engine = await openReplayEngine(await exported(format, name));
    const pages = await world.platform.store.listPages({ jobId: job.id, limit: 100 });
    let compared = 0;
    for (const { url, finalUrl, statusCode, contentHash } of pages.items) {
      if (contentHash === null) continue;
      const response = await engine.fetch({
        ...{ url, method: 'GET', headers: {}, cookies: {}, body: null, conditional: null },
        ...{ timeoutMs: 5_000, maxBodyBytes: 10_000_000, maxRedirects: 10, onRedirect: async () => 'follow' },
      });
      const stored = await world.platform.blobs.get(contentHash);
      expect(response).toMatchObject({ finalUrl, statusCode });
      expect(Buffer.from(response.body).equals(Buffer.from(stored ?? []))).toBe(true);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
    await engine.close();
  });
});

describe('an installation that replays', () => {
  const url = 'https://slow.example/';
  const page = (path: string, body: string) => ({
    type: 'response',
    url: `${url}${path}`,
    block: http(['HTTP/1.1 200 OK', 'Content-Type: text/html'], body),
  });

  it('asks no host, waits for none, and refuses what an archive cannot do', async () => {
    const path = join(dir, 'slow.warc.gz');
    const links = Array.from({ length: 20 }, (_, n) => `<a href="/${n}">${n}</a>`).join(' ');
    const busy = http(['HTTP/1.1 503 Busy', 'Retry-After: 3600', 'Content-Type: text/html'], '<p>Later</p>');
    writeFileSync(
      path,
      gzipWarc(
        {
          ...page('robots.txt', ''),
          block: http(['HTTP/1.1 200 OK'], 'User-agent: *\nCrawl-delay: 600\nDisallow: /7'),
        },
        page('', `<title>Start</title>${links}`),
        ...Array.from({ length: 19 }, (_, n) => page(String(n), `<title>${n}</title><p>Page ${n}</p>`)),
        { type: 'response', url: `${url}19`, block: busy },
      ),
    );
    // At this rate, with this crawl delay and after this answer the crawl would take hours.
    const scraper = await openScraper({
      policy: 'default: { rate: 0.01, concurrency: 1 }\n',
      settings: { replay: path, allowPrivate: false },
    });
    try {
      const crawled = await scraper.crawlNow({ urls: [url], sitemap: 'skip' });
      expect(crawled.counters).toMatchObject({ pages: 19, failed: 1, denied: 1 });
      const results = await scraper.pages(crawled);
      expect(results.map(({ title }) => title)).toContain('18');
      const ledger = await scraper.ledger(crawled);
      expect(new Set(ledger.flatMap(({ attempts }) => attempts.map(({ engine }) => engine)))).toEqual(
        new Set(['replay']),
      );
      await expect(scraper.scrapeNow({ url: `${url}none` })).rejects.toMatchObject({
        code: 'NOT_IN_ARCHIVE',
      });
      expect(await scraper.scrapeNow({ url: `${url}3`, engine: 'replay' })).toMatchObject({ title: '3' });
      await expect(scraper.scrapeNow({ url: `${url}3`, formats: ['screenshot'] })).rejects.toMatchObject({
        code: 'NOT_IN_ARCHIVE',
      });
    } finally {
      await scraper.close();
    }
  });

  it('is what the engine `replay` needs: others refuse it', async () => {
    await expect(world.scrapeNow({ url, engine: 'replay' })).rejects.toMatchObject({
      code: 'UNSUPPORTED_OPTION',
    });
  });
});

describe('a rendered page', () => {
  const rendered = (raw: string | null): RenderedExchange => ({
    raw: raw === null ? null : Buffer.from(raw),
    artifacts: [
      { name: 'view', contentType: 'image/png', bytes: Buffer.from('PNG') },
      { name: 'pdf', contentType: 'application/pdf', bytes: Buffer.from('PDF') },
    ],
    xhr: [
      {
        ...{ url: 'https://a.example/api', method: 'GET', statusCode: 200, contentType: 'application/json' },
        ...{ isTooLarge: false, body: Buffer.from('{"a":1}') },
      },
    ],
    consoleErrors: ['oh'],
    actions: [{ type: 'evaluate', ms: 3, value: { b: 2 } }],
    failure: null,
  });

  it.each(['<script></script>', null])(
    'is replayed as it was shown, the raw document being %s',
    async (raw) => {
      const path = join(dir, `rendered-${raw === null}.warc.gz`);
      const exchange = exchangeLike({
        headers: [
          ['content-type', 'text/html'],
          ['x-kept', 'yes'],
        ],
        rendered: rendered(raw),
      });
      const members = [...recordsOf(exchange, createKnownPayloads())].map((record) => written(record).chunks);
      const bytes = await Promise.all(
        members.map(async (chunks) => Buffer.concat(await Array.fromAsync(chunks))),
      );
      writeFileSync(path, Buffer.concat(bytes));
      const engine = await openReplayEngine(path);
      const response = await engine.fetch({
        ...{
          url: 'https://a.example/',
          method: 'GET',
          headers: {},
          cookies: {},
          body: null,
          conditional: null,
        },
        ...{ timeoutMs: 5_000, maxBodyBytes: 10_000_000, maxRedirects: 10, onRedirect: async () => 'follow' },
        render: { screenshot: {}, pdf: true },
      });
      expect(Buffer.from(response.body).toString()).toBe('<p>Hello</p>');
      expect(response.headers).toMatchObject({ 'x-kept': 'yes' });
      const { rawBody = null, extra } = response.rendered ?? {};
      expect(rawBody === null ? null : Buffer.from(rawBody).toString()).toBe(raw);
      expect(Buffer.from(extra?.screenshot?.bytes ?? []).toString()).toBe('PNG');
      expect(Buffer.from(extra?.pdf ?? []).toString()).toBe('PDF');
      expect(extra).toMatchObject({
        consoleErrors: ['oh'],
        actions: [{ type: 'evaluate', ms: 3, value: { b: 2 } }],
      });
      const [answer] = extra?.xhr ?? [];
      expect(answer).toMatchObject({
        url: 'https://a.example/api',
        statusCode: 200,
        contentType: 'application/json',
      });
      expect(Buffer.from(answer?.body ?? []).toString()).toBe('{"a":1}');
      await engine.close();
    },
  );
});
