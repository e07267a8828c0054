import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { batchRequestSchema, scrapeRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import type { AccountId } from '../../src/core/model/ids.ts';
import type { Job } from '../../src/core/model/job.ts';
import { openScraper, type Scraper } from './world.ts';

const LIMIT_MS = 180_000;
const FLOOD = 900;
const SMALL_JOBS = 10;
const PAGES = 3;

let scraper: Scraper;
let site: Server;
let origin: string;
/** Paths in the order in which they were requested. */
let heard: string[] = [];

beforeAll(async () => {
  site = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/robots.txt') return void response.writeHead(404).end();
    heard.push(path);
    response.setHeader('content-type', 'text/html').end('<title>Page</title><p>Some words of a page.</p>');
  });
  await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  scraper = await openScraper({ policy: 'default: { rate: 25, concurrency: 2 }\n' });
}, LIMIT_MS);
afterAll(async () => {
  await scraper.close();
  site.closeAllConnections();
  site.close();
}, LIMIT_MS);

const urls = (what: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${origin}/${what}/${at}`);

async function addAccount(id: string): Promise<AccountId> {
  const limits = { requestsPerMinute: null, concurrentPages: null, openUrls: null, storedBytes: null };
  const account = id as AccountId;
  await scraper.platform.store.createAccount({ id: account, name: id, plan: 'custom', limits }, null);
  return account;
}
const batch = (account: AccountId, what: string, count: number): Promise<Job> =>
  scraper.platform.jobs.batch(batchRequestSchema.parse({ urls: urls(what, count) }), account);
const hasBegun = (what: string) =>
  vi.waitFor(() => expect(heard.filter((path) => path.startsWith(`/${what}`)).length).toBeGreaterThan(10), {
    timeout: 60_000,
  });

/** How many requests of the flood came until these jobs had ended. */
async function floodedUntilEnded(accepted: number, jobs: readonly Job[], what: string): Promise<number> {
  await Promise.all(jobs.map((job) => scraper.ended(job)));
  const last = heard.findLastIndex((path) => path.startsWith(`/${what}`));
  return heard.slice(accepted, last).filter((path) => path.startsWith('/flood')).length;
}

test(
  'small jobs of one account get every second request of a host that another account floods',
  async () => {
    heard = [];
    const [many, few] = [await addAccount('flooder'), await addAccount('a-few-pages')];
    // Jobs as small as those of the other account, and older: by their age alone they would all be served first.
    const flood: Job[] = [];
    while (flood.length < FLOOD / PAGES) {
      const numbers = Array.from({ length: 10 }, (_, at) => flood.length + at);
      flood.push(...(await Promise.all(numbers.map((at) => batch(many, `flood${at}`, PAGES)))));
    }
    await hasBegun('flood');
    const accepted = heard.length;
    const jobs = await Promise.all(
      Array.from({ length: SMALL_JOBS }, (_, at) => batch(few, `few${at}`, PAGES)),
    );
    // Besides the turns of the flood: what was claimed already, and requests while small jobs were being accepted.
    expect(await floodedUntilEnded(accepted, jobs, 'few')).toBeLessThan(SMALL_JOBS * PAGES + 30);
    // Jobs that have ended cannot be cancelled.
    for (const { id } of flood) await scraper.platform.jobs.cancel(id, many).catch(() => undefined);
  },
  LIMIT_MS,
);

test(
  'neither do the jobs of one account keep each other waiting, nor single scrapes a crawl',
  async () => {
    heard = [];
    const account = await addAccount('one-of-all');
    const flood = await batch(account, 'flood', FLOOD);
    await hasBegun('flood');
    const accepted = heard.length;
    const job = await batch(account, 'few', SMALL_JOBS);
    expect(await floodedUntilEnded(accepted, [job], 'few')).toBeLessThan(SMALL_JOBS + 30);

    const scrapes = urls('single', 60).map((url) =>
      scraper.platform.jobs.scrapeNow(scrapeRequestSchema.parse({ url, timeoutMs: 120_000 }), account),
    );
    const scraped = Promise.allSettled(scrapes);
    await hasBegun('single');
    const crawled = heard.length;
    const meanwhile = await batch(account, 'meanwhile', PAGES);
    await scraper.ended(meanwhile);
    const singles = heard.slice(crawled).filter((path) => path.startsWith('/single'));
    expect(singles.length).toBeLessThan(40);
    expect(singles.length).toBeGreaterThan(0);
    await scraper.platform.jobs.cancel(flood.id, account);
    await scraped;
  },
  LIMIT_MS,
);
