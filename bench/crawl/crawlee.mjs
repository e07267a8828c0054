// Crawlee's CheerioCrawler with its own defaults: it finds its own concurrency, keeps its queue and its dataset in
// files. JavaScript, because its types are only there when the packages of this folder are installed.
// usage: node crawlee.mjs URL STORAGE_FOLDER
import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';

const [, , start, localDataDirectory] = process.argv;
log.setLevel(log.LEVELS.OFF);
let pages = 0;
let errors = 0;
const crawler = new CheerioCrawler(
  {
    maxConcurrency: 200,
    async requestHandler({ request, $, pushData, enqueueLinks }) {
      await pushData({
        url: request.loadedUrl,
        title: $('title').text(),
        description: $('meta[name=description]').attr('content'),
        h1: $('h1').first().text(),
      });
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
