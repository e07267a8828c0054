// One crawl in this process, which looks at its own memory while it goes on. usage: node memory-crawl.ts URL FOLDER

import { crawlRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import { loadSettings } from '../../src/core/config/load.ts';
import { keepThreadLimits } from '../../src/core/config/thread-memory.ts';
import { createLogger } from '../../src/core/observe/logger.ts';
import { createMetrics } from '../../src/core/observe/metrics.ts';
import { openPlatform } from '../../src/wiring/platform.ts';

const CONCURRENCY = 64;
const LOOK_MS = 200;
const LIMIT_MS = 3_600_000;

export interface MemorySample {
  readonly pages: number;
  readonly rssBytes: number;
  /** Heap of the main thread alone; the other threads have heaps of their own, all of them in the resident memory. */
  readonly heapUsedBytes: number;
}

// As the program does at its start.
keepThreadLimits();
const [, , url = '', folder = ''] = process.argv;
const environment = {
  SCRAPIFIE_DATA_DIR: folder,
  SCRAPIFIE_ALLOW_PRIVATE: 'true',
  SCRAPIFIE_LOG_LEVEL: 'warn',
};
const settings = loadSettings(environment, { cwd: folder });
const logger = createLogger({ level: settings.logLevel });
const platform = await openPlatform({ settings, logger, metrics: createMetrics({ withProcess: false }) });
await platform.start();

const account = await platform.store.defaultAccount();
const request = crawlRequestSchema.parse({
  urls: [url],
  concurrency: CONCURRENCY,
  maxPages: null,
  sitemap: 'skip',
});
const samples: MemorySample[] = [];
const startedAt = performance.now();
const job = await platform.jobs.crawl(request, account, { operator: { hostRatePerSecond: 'unlimited' } });
const timer = setInterval(async () => {
  const { pages } = (await platform.store.getJob(job.id))?.counters ?? { pages: 0 };
  const { rss, heapUsed } = process.memoryUsage();
  samples.push({ pages, rssBytes: rss, heapUsedBytes: heapUsed });
}, LOOK_MS);
const { counters } = await platform.jobs.waitFor(job.id, LIMIT_MS);
const seconds = (performance.now() - startedAt) / 1_000;
clearInterval(timer);
await platform.close();
const { pages, failed } = counters;
process.stdout.write(`${JSON.stringify({ pages, errors: failed, seconds, samples })}\n`);
