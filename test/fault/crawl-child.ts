import { parseArgs } from 'node:util';
import { openScraper } from '../integration/world.ts';

/**
 * A process that crawls until its job is finished and may be killed at any moment. Started again on the same folder
 * it goes on with the job it finds there. Prints `working` once it works and `finished` when nothing is left to do.
 */
const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    seed: { type: 'string', multiple: true },
    policy: { type: 'string' },
    concurrency: { type: 'string' },
  },
});
const { dir, seed: seeds, policy, concurrency } = values;
if (dir === undefined || seeds === undefined || policy === undefined) {
  throw new Error('usage: crawl-child.ts --dir DIR --policy YAML --seed URL … [--concurrency N]');
}

const scraper = await openScraper({ dataDir: dir, policy });
const { items } = await scraper.platform.jobs.list({ accountId: scraper.account, limit: seeds.length });
const jobs =
  items.length > 0
    ? items
    : await Promise.all(
        seeds.map((url) =>
          scraper.crawl({
            urls: [url],
            maxPages: null,
            sitemap: 'skip',
            ...(concurrency === undefined ? {} : { concurrency: Number(concurrency) }),
          }),
        ),
      );
process.stdout.write('working\n');
for (const job of jobs) await scraper.platform.jobs.waitFor(job.id, 600_000);
await scraper.platform.close();
process.stdout.write('finished\n');
