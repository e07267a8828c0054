// Crawlee's PlaywrightCrawler on the browser that it is given, with its own defaults but for the number of pages at
// once. JavaScript, because its types are only there when the packages of this folder are installed.
// usage: node crawlee.mjs URL STORAGE_FOLDER CONCURRENCY BROWSER SELECTOR
import { Configuration, log, PlaywrightCrawler } from '@crawlee/playwright';

const [, , start, localDataDirectory, concurrency, executablePath, selector] = process.argv;
log.setLevel(log.LEVELS.OFF);
let pages = 0;
let errors = 0;
const isRoot = process.getuid?.() === 0;
const crawler = new PlaywrightCrawler(
  {
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    headless: true,
    launchContext: { launchOptions: { executablePath, args: isRoot ? ['--no-sandbox'] : [] } },
    async requestHandler({ request, page, pushData, enqueueLinks }) {
      await page.waitForSelector(selector);
      await pushData({ url: request.loadedUrl, html: await page.content() });
      await enqueueLinks();
      pages += 1;
    },
    failedRequestHandler() {
      errors += 1;
    },
  },
  new Configuration({ storageClientOptions: { localDataDirectory } }),
);
const startedAt = performance.now();
await crawler.run([start]);
const seconds = (performance.now() - startedAt) / 1_000;
process.stdout.write(`${JSON.stringify({ pages, errors, seconds })}\n`);
