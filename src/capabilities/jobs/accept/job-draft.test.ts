import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { parseRequest } from '../request/invalid-request.ts';
import {
  batchRequestSchema,
  crawlRequestSchema,
  mapRequestSchema,
  scrapeRequestSchema,
} from '../request/job-request.ts';
import { type Consents, draftBatch, draftCrawl, draftMap, draftScrape, invalidUrlsOf } from './job-draft.ts';

const nobody: Consents = () => false;
const scrape = (input: object, consents = nobody) =>
  draftScrape(parseRequest(scrapeRequestSchema, input), consents);
const batch = (input: object, consents = nobody) =>
  draftBatch(parseRequest(batchRequestSchema, input), consents);
const crawl = (input: object, consents = nobody) =>
  draftCrawl(parseRequest(crawlRequestSchema, input), consents);
const map = (input: object) => draftMap(parseRequest(mapRequestSchema, input), nobody);

function errorOf(act: () => unknown): ScrapifieError {
  try {
    act();
  } catch (error) {
    if (error instanceof ScrapifieError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a scrape', () => {
  it('asks for the URL as it was given, and knows it by its canonical form', () => {
    const given = 'https://example.com/a?sig=2&b=1&utm_source=x#part';
    const [task] = scrape({ url: given }).tasks;
    expect(task).toMatchObject({
      kind: 'page',
      url: 'https://example.com/a?sig=2&b=1&utm_source=x',
      hostKey: 'example.com',
      depth: 0,
      foundBy: 'seed',
      state: 'ready',
    });
    expect(task?.urlKey).toBe(scrape({ url: 'https://example.com/a?b=1&sig=2' }).tasks[0]?.urlKey);
  });

  it('of something that is no URL is refused', () => {
    for (const url of [
      '',
      'ftp://example.com/',
      'javascript:alert(1)',
      'http://',
      'https://user:pw@example.com/',
    ]) {
      const error = errorOf(() => scrape({ url: url === '' ? ' ' : url }));
      expect(error.code).toBe('INVALID_URL');
      expect(error.details).toMatchObject([{ field: 'url' }]);
    }
  });
});

describe('a batch', () => {
  it('has one task per URL', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 50 }), (numbers) => {
        const { tasks, kind } = batch({ urls: numbers.map((each) => `https://example.com/${each}`) });
        expect(kind).toBe('batch');
        expect(new Set(tasks.map((task) => task.urlKey)).size).toBe(numbers.length);
      }),
    );
  });

  it('names each bad URL by its place', () => {
    const urls = ['https://example.com/', 'mailto:me@example.com', 'https://example.com/2', 'http://['];
    const error = errorOf(() => batch({ urls }));
    expect(error.code).toBe('INVALID_URL');
    expect(error.details).toMatchObject([{ field: 'urls.1' }, { field: 'urls.3' }]);
  });
});

describe('a crawl', () => {
  it('reads the sitemaps of each origin once, beside its pages', () => {
    const urls = ['https://a.example/1', 'https://a.example/2', 'http://b.example:8080/'];
    const { tasks } = crawl({ urls });
    expect(tasks.map(({ kind, url }) => `${kind} ${url}`)).toEqual([
      'page https://a.example/1',
      'page https://a.example/2',
      'page http://b.example:8080/',
      'site https://a.example/robots.txt',
      'site http://b.example:8080/robots.txt',
    ]);
    const kinds = (input: object) => crawl({ urls, ...input }).tasks.map((task) => task.kind);
    expect(kinds({ sitemap: 'skip' })).toEqual(['page', 'page', 'page']);
    expect(kinds({ sitemap: 'only' })).toEqual(['site', 'site']);
  });

  it('starts from sitemaps when given', () => {
    const { tasks, seeds } = crawl({ sitemapUrls: ['https://a.example/sitemap.xml'] });
    expect(tasks).toMatchObject([{ kind: 'sitemap', url: 'https://a.example/sitemap.xml' }]);
    expect(seeds).toEqual(['https://a.example/sitemap.xml']);
  });

  it('with a pattern that does not compile is refused', () => {
    const error = errorOf(() => crawl({ urls: ['https://a.example/'], include: ['('] }));
    expect(error.code).toBe('VALIDATION_FAILED');
  });

  it('keeps what was asked for in its options', () => {
    const { options } = crawl({
      urls: ['https://a.example/'],
      maxPages: null,
      maxDepth: 2,
      maxBytes: 5,
      concurrency: 3,
    });
    expect(options).toMatchObject({
      scope: { maxDepth: 2, obeyNofollow: true },
      budgets: { maxPages: null, maxBytes: 5, maxDurationMs: null },
      concurrency: 3,
      hostRatePerSecond: null,
    });
  });
});

describe('a map', () => {
  it('looks at the start page and the sitemaps', () => {
    expect(map({ url: 'https://a.example/x' }).tasks.map((task) => task.kind)).toEqual(['page', 'site']);
  });
});

describe('what may harm a site owner', () => {
  it('needs the consent of the operator for that host', () => {
    const urls = ['https://ours.example/', 'https://theirs.example/'];
    const ours: Consents = (host, what) => host === 'ours.example' && what === 'robots';
    const error = errorOf(() => crawl({ urls, options: { obeyRobots: false } }, ours));
    expect(error.code).toBe('CONSENT_REQUIRED');
    expect(error.message).toContain('theirs.example');
    expect(
      crawl({ urls: urls.slice(0, 1), options: { obeyRobots: false } }, ours).options.page.obeyRobots,
    ).toBe(false);
    const agent = { url: urls[0], headers: { 'user-agent': 'Mozilla/5.0' } };
    expect(errorOf(() => scrape(agent, ours)).code).toBe('CONSENT_REQUIRED');
    const request = parseRequest(scrapeRequestSchema, { ...agent, obeyRobots: false });
    expect(draftScrape(request, nobody, { hasConsent: true }).usedConsents).toEqual(['robots', 'identity']);
    expect(scrape(agent, (_host, what) => what === 'identity').options.page.headers).toEqual(agent.headers);
  });

  it.each([
    [{ engine: 'stealth' }, 'stealth', 'engine'],
    [{ engine: 'flaresolverr' }, 'stealth', 'engine'],
    [{ identity: 'browser' }, 'identity', 'identity'],
    [{ identity: 'browser', engine: 'stealth' }, 'stealth', 'engine'],
  ])('%j needs the consent %s, which the audit log will have', (options, consent, field) => {
    const url = 'https://theirs.example/';
    const error = errorOf(() => scrape({ url, ...options }, (_host, what) => what !== consent));
    expect(error.code).toBe('CONSENT_REQUIRED');
    expect(error.details).toMatchObject([{ field }]);
    const consenting: Consents = (_host, what) => what === consent;
    expect(scrape({ url, ...options }, consenting).usedConsents).toEqual([consent]);
  });

  it('is nothing that a browser or an honest name does', () => {
    const options = { engine: 'browser', identity: 'bot', actions: [{ type: 'click', selector: 'a' }] };
    expect(scrape({ url: 'https://theirs.example/', ...options }).usedConsents).toEqual([]);
  });
});

describe('start URLs', () => {
  it('are kept as they were submitted where they are fetched under another spelling', () => {
    const urls = [
      'example.com',
      'https://example.com/a',
      'HTTPS://Example.com/b#part',
      'https://example.com/b',
    ];
    const { tasks, sources } = batch({ urls });
    expect(tasks.map(({ url }) => url).slice(0, 3)).toEqual([
      'https://example.com/',
      'https://example.com/a',
      'https://example.com/b',
    ]);
    expect(sources).toEqual({
      'https://example.com/': 'example.com',
      'https://example.com/b': 'HTTPS://Example.com/b#part',
    });
    expect(batch({ urls: ['https://example.com/a'] })).not.toHaveProperty('sources');
    expect(crawl({ urls: ['https://example.com'] }).sources).toEqual({
      'https://example.com/': 'https://example.com',
    });
  });

  it('of a batch that are none can be left out, and are named', () => {
    const urls = ['https://example.com/a', 'ftp://example.com/', 'no url at all'];
    expect(errorOf(() => batch({ urls }))).toMatchObject({
      code: 'INVALID_URL',
      details: [{ field: 'urls.1' }, { field: 'urls.2' }],
    });
    const request = { urls, ignoreInvalidUrls: true };
    expect(batch(request).tasks.map(({ url }) => url)).toEqual(['https://example.com/a']);
    expect(invalidUrlsOf(parseRequest(batchRequestSchema, request))).toEqual([
      { url: 'ftp://example.com/', message: expect.any(String) },
      { url: 'no url at all', message: expect.any(String) },
    ]);
    expect(invalidUrlsOf(parseRequest(batchRequestSchema, { urls }))).toEqual([]);
    // Nothing is left to fetch.
    expect(errorOf(() => batch({ ...request, urls: urls.slice(1) })).code).toBe('INVALID_URL');
  });
});
