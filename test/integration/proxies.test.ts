import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../src/fetch/http/loopback.fixture.ts';
import { startProxy } from '../proxies/forwarding-proxy.ts';
import { openScraper, QUICK_POLICY, type ScraperOptions } from './world.ts';

const LIMIT_MS = 60_000;

async function open(options: ScraperOptions = {}) {
  const scraper = await openScraper({ policy: QUICK_POLICY, ...options });
  onTestFinished(() => scraper.close());
  const { origin } = await serve((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end();
    else
      response
        .setHeader('content-type', 'text/html')
        .end(`<title>${request.url}</title><p>A page with a few words of text.</p>`);
  });
  return { scraper, origin };
}

test(
  'proxies of the environment carry requests, and the trace names the one that did',
  async () => {
    const proxies = [await startProxy({ login: ['ann', 'hunter2'] }), await startProxy()];
    const list = proxies.map((proxy) => proxy.url()).join(', ');
    const { scraper, origin } = await open({ settings: { proxies: list } });
    const { trace } = await scraper.scrapeNow({ url: `${origin}/a`, proxy: { tier: 'datacenter' } });
    expect(trace.attempts).toMatchObject([
      { proxyTier: 'datacenter', proxyId: expect.stringMatching(/^environment\/[12]$/), outcome: 'ok' },
    ]);
    expect(proxies.flatMap(({ asked }) => asked).length).toBeGreaterThan(0);
    const figures = scraper.platform.proxyFigures();
    expect(figures?.tiers).toMatchObject([{ tier: 'datacenter', successes: expect.any(Number) }]);
    expect(JSON.stringify([figures, trace])).not.toContain('hunter2');
  },
  LIMIT_MS,
);

test(
  'the pages of a job take the proxies of a request in turn, and one that fails is followed by the next',
  async () => {
    const [good, other] = [await startProxy(), await startProxy()];
    // robots.txt would take its turns, too.
    const policy = 'domains: { 127.0.0.1: { rate: unlimited, robots: ignore, consent: [robots] } }\n';
    const { scraper, origin } = await open({ policy });
    const urls = ['/1', '/2', '/3', '/4'].map((path) => origin + path);
    const options = { proxy: { urls: [good.url(), other.url()] } };
    const job = await scraper.batchNow({ urls, options });
    expect(job.counters).toMatchObject({ pages: 4, failed: 0 });
    expect(good.asked.length).toBeGreaterThan(0);
    expect(other.asked.length).toBeGreaterThan(0);

    const { trace } = await scraper.scrapeNow({
      url: `${origin}/5`,
      proxy: { urls: ['http://127.0.0.1:1', good.url()] },
      timeoutMs: 30_000,
    });
    const ids = trace.attempts.map(({ proxyId }) => proxyId);
    expect(trace.attempts.at(-1)?.outcome).toBe('ok');
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^own\/[0-9a-f]{10}$/);
  },
  LIMIT_MS,
);
