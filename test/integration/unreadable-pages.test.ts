import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openScraper, QUICK_POLICY, type Scraper } from './world.ts';

/*
 * Pages that end the thread that reads them, as a plug-in does by filling its heap, and threads whose heap fills up from
 * page to page.
 */

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-unreadable-'));
const SDK = fileURLToPath(new URL('../../src/capabilities/plugins/index.ts', import.meta.url));
const PLUGIN = join(folder, 'glutton.ts');
writeFileSync(
  PLUGIN,
  `import { defineExtractor, definePlugin, field } from ${JSON.stringify(SDK)};
  let pages = 0;
  const kept = [];
  const fillTheHeap = () => { for (const all = []; ; ) all.push(new Array(100_000).fill(0.5)); };
  export default definePlugin({
    name: 'glutton',
    extractors: [defineExtractor({
      name: 'meal',
      says: 'A page that is too much.',
      fields: { name: field('text', 'Its name.') },
      weigh: () => 0.5,
      read({ document }, draft) {
        const name = document.text('h1');
        pages += 1;
        if (name === 'always' || (name === 'unless first' && pages > 1)) fillTheHeap();
        if (name === 'kept') kept.push(new Array(1_000_000).fill(0.5));
        draft.give('name', name, 'markup');
      },
    })],
  });`,
);

let server: Server;
let origin: string;
let scraper: Scraper;
const requests = new Map<string, number>();
const bodyOf = (path: string) =>
  `<!doctype html><title>${path}</title><h1>${path.split('/')[1]?.replace('-', ' ')}</h1>`;

beforeAll(async () => {
  server = createServer(({ url = '/' }, response) => {
    requests.set(url, (requests.get(url) ?? 0) + 1);
    response.statusCode = url === '/robots.txt' ? 404 : 200;
    response.setHeader('content-type', 'text/html').end(bodyOf(url));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scraper = await openScraper({ policy: QUICK_POLICY, settings: { plugins: PLUGIN } });
});
afterAll(async () => {
  await scraper?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The pages of a batch by the paths of their URLs. */
async function pagesOf(paths: readonly string[]) {
  const job = await scraper.batchNow({
    urls: paths.map((path) => origin + path),
    options: { formats: ['rawHtml', 'metadata'], extract: { type: 'glutton:meal' } },
  });
  const pages = await scraper.pages(job);
  return {
    ledger: await scraper.ledger(job),
    pages: new Map(pages.map((page) => [page.url.slice(origin.length), page])),
  };
}

const replaced = async (reason: string): Promise<number> => {
  const line = `scrapifie_page_threads_replaced_total{reason="${reason}"} `;
  const found = (await scraper.metrics.render()).split('\n').find((each) => each.startsWith(line));
  return Number(found?.slice(line.length));
};

it('a page that ends two threads keeps its body and says why it was not read; the others are read; each is requested once', async () => {
  requests.clear();
  const good = Array.from({ length: 40 }, (_, n) => `/good/${n}`);
  const paths = [...good.slice(0, 20), '/unless-first/1', '/always/1', ...good.slice(20)];
  const { pages, ledger } = await pagesOf(paths);
  for (const path of [...good, '/unless-first/1']) {
    expect(pages.get(path)).toMatchObject({ extracted: { name: path.split('/')[1]?.replace('-', ' ') } });
    expect(pages.get(path)?.error).toBeUndefined();
  }
  expect(pages.get('/always/1')).toMatchObject({
    statusCode: 200,
    contentType: 'text/html',
    rawHtml: bodyOf('/always/1'),
    error: { code: 'EXTRACTION_FAILED', message: expect.stringContaining('alone with a thread of its own') },
  });
  const entry = ledger.find(({ url }) => url.endsWith('/always/1'));
  expect(entry).toMatchObject({ decision: 'failed', attempts: [{ outcome: 'error', statusCode: 200 }] });
  expect(paths.map((path) => requests.get(path))).toEqual(paths.map(() => 1));
  expect(await replaced('out-of-memory')).toBeGreaterThanOrEqual(2);
  expect(scraper.warnings.join('\n')).toContain('page thread replaced');
});

it('a thread whose heap fills up from page to page is replaced between pages: none is lost', async () => {
  const lost = await replaced('out-of-memory');
  const paths = Array.from({ length: 120 }, (_, n) => `/kept/${n}`);
  const { pages } = await pagesOf(paths);
  expect(paths.filter((path) => pages.get(path)?.extracted?.name !== 'kept')).toEqual([]);
  expect(await replaced('heap-high')).toBeGreaterThanOrEqual(2);
  expect(await replaced('out-of-memory')).toBe(lost);
});
