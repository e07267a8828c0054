import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFirecrawlEngine, type FirecrawlOptions } from '../../src/fetch/firecrawl/firecrawl-engine.ts';
import { codeOfFailure, get, textOf } from '../../src/fetch/http/loopback.fixture.ts';
import { openApiWorld } from '../integration/api-world.ts';
import { failureOf } from '../proxies/fetch-through.ts';
import { bodyOf, sendJson, serving } from '../solvers/local-server.ts';
import { type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';

/** The service: another Scrapifie, by its Firecrawl API. */
let service: FirecrawlWorld;
let site = '';
beforeAll(async () => {
  service = await openFirecrawlWorld();
  site = service.small.origin;
});
afterAll(async () => {
  await service.close();
});

function engineAt(url: string, more: Partial<FirecrawlOptions> = {}) {
  const engine = createFirecrawlEngine({ url, key: service.secret, allowPrivate: true, ...more });
  onTestFinished(() => engine.close());
  return engine;
}

describe('a page by a Firecrawl API elsewhere', () => {
  it('is the document as the site has sent it, with its status', async () => {
    const engine = engineAt(service.origin);
    const page = await get(engine, `${site}/docs/one`);
    expect(textOf(page)).toContain('<title>One</title>');
    expect(page).toMatchObject({
      statusCode: 200,
      finalUrl: `${site}/docs/one`,
      contentType: 'text/html; charset=utf-8',
      redirects: [],
      redirectedTo: null,
    });
    expect((await get(engine, `${site}/gone`)).statusCode).toBe(404);
  });

  it('may have been led elsewhere, which is asked about before it is shown', async () => {
    service.small.pages.set('/old', { body: '', location: '/docs/two' });
    const engine = engineAt(`${service.mainOrigin}/firecrawl/v2`);
    const led = await get(engine, `${site}/old`);
    expect(led.finalUrl).toBe(`${site}/docs/two`);
    expect(led.redirects).toEqual([{ url: `${site}/old`, statusCode: 302 }]);
    const stopped = await get(engine, `${site}/old`, { onRedirect: async () => 'stop' });
    expect(stopped).toMatchObject({ redirectedTo: `${site}/docs/two`, finalUrl: `${site}/old` });
    expect(stopped.body).toHaveLength(0);
  });

  it('is not asked for with what belongs to a caller', async () => {
    const engine = engineAt(service.origin);
    const refused = [
      { headers: { 'x-mine': '1' } },
      { cookies: { session: '1' } },
      { method: 'POST' as const, body: 'a=1' },
      { wantsStorage: true },
      { secrets: ['hunter2'] },
      { render: { screenshot: {} } },
      { render: { wait: { selector: '#a' } } },
    ];
    for (const more of refused) {
      expect(await codeOfFailure(get(engine, `${site}/`, more)), JSON.stringify(more)).toBe(
        'UNSUPPORTED_OPTION',
      );
    }
  });

  it('is not asked for at addresses that this installation does not fetch', async () => {
    const engine = engineAt(service.origin, { allowPrivate: false });
    expect(await codeOfFailure(get(engine, `${site}/docs`))).toBe('ADDRESS_REFUSED');
  });
});

it.each([
  [401, '', 'BROWSER_UNAVAILABLE', 'SCRAPIFIE_FIRECRAWL_KEY'],
  [402, '', 'BROWSER_UNAVAILABLE', 'credits'],
  [429, '', 'BROWSER_UNAVAILABLE', 'fewer'],
  [403, '', 'BLOCKED', 'does not fetch'],
  [408, 'SCRAPE_TIMEOUT', 'TASK_TIMEOUT', 'did not get'],
  [200, 'SCRAPE_DNS_RESOLUTION_ERROR', 'DNS_FAILED', 'did not get'],
  [500, 'SCRAPE_SSL_ERROR', 'TLS_FAILED', 'did not get'],
  [500, 'SCRAPE_ALL_ENGINES_FAILED', 'BLOCKED', 'did not get'],
  [500, 'UNKNOWN_ERROR', 'BROWSER_UNAVAILABLE', 'failed'],
])('names what status %s and code "%s" mean: %s', async (status, code, expected, words) => {
  const asked: unknown[] = [];
  const url = await serving(async (request, response) => {
    asked.push([request.url, request.headers.authorization, JSON.parse(await bodyOf(request))]);
    sendJson(
      response,
      {
        success: false,
        error: 'No https://secret.example/a',
        ...(code === '' ? {} : { code }),
      },
      status,
    );
  });
  const failure = await failureOf(get(engineAt(url, { key: 'fc-key' }), `${site}/`));
  expect(failure.code).toBe(expected);
  expect(failure.message).toContain(words);
  expect(failure.message).not.toContain('secret.example');
  expect(asked).toEqual([
    [
      '/v2/scrape',
      'Bearer fc-key',
      expect.objectContaining({ url: `${site}/`, formats: ['rawHtml'], maxAge: 0, storeInCache: false }),
    ],
  ]);
});

it('is used for a page where it is set up and the policy consents, and refused elsewhere', async () => {
  const settings = { firecrawlUrl: service.origin, firecrawlKey: service.secret };
  const { hostname } = new URL(site);
  const policy = `default: { rate: unlimited }\ndomains:\n  ${hostname}: { consent: [stealth] }\n`;
  const world = await openApiWorld({ settings, policy, site: { pages: 10 } });
  onTestFinished(() => world.close());
  const page = await world.post('/v1/scrape', {
    url: `${site}/docs/two`,
    engine: 'firecrawl',
    formats: ['markdown'],
  });
  expect(page.body.data).toMatchObject({
    markdown: expect.stringContaining('potatoes'),
    trace: { attempts: [{ engine: 'firecrawl', outcome: 'ok' }], credits: 20 },
  });
  const elsewhere = await world.post('/v1/scrape', { url: 'http://other.example/', engine: 'firecrawl' });
  expect(elsewhere.body.error?.code).toBe('CONSENT_REQUIRED');
  const withHeaders = { url: `${site}/docs`, engine: 'firecrawl', headers: { 'x-mine': '1' } };
  expect((await world.post('/v1/scrape', withHeaders)).body.error?.code).toBe('UNSUPPORTED_OPTION');
  const notSetUp = await service.post('/v1/scrape', { url: `${site}/docs`, engine: 'firecrawl' });
  expect(notSetUp.body.success).toBe(false);
});
