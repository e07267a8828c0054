import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { acceptedSchema, jobSchema } from '../capabilities/views/job-view.ts';
import { ledgerSchema, pageSchema, scrapeSchema } from '../capabilities/views/page-schemas.ts';
import type { HostKey } from '../core/model/ids.ts';
import { createSentCounter } from '../crawl/politeness/sent-requests.ts';
import { failureSchema } from './server/envelope.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

describe('opting out', () => {
  it('takes open URLs of the host and its subdomains out at once', async () => {
    const payload = {
      urls: ['https://owner.example/1', 'https://www.owner.example/2', 'https://other.example/'],
    };
    const id = (await platform.call({ method: 'POST', url: '/v1/batch', payload })).at('data.id');
    const heard: unknown[] = [];
    platform.bus.subscribe('policy.changed', (message) => {
      heard.push(message);
    });
    const answer = await platform.call({
      method: 'POST',
      url: '/v1/domains/Owner.Example/opt-out',
      payload: { reason: 'asked by mail', contact: 'owner@owner.example' },
    });
    expect(answer.at('data')).toMatchObject({ host: 'owner.example', reason: 'asked by mail' });
    const job = await platform.call({ url: `/v1/jobs/${id}` });
    expect(job.at('data.progress')).toMatchObject({ open: 1, denied: 2 });
    const domain = await platform.call({ url: '/v1/domains/www.owner.example' });
    expect(domain.at('data')).toMatchObject({
      optOut: { host: 'owner.example' },
      policy: { ratePerSecond: 2 },
    });
    const removed = await platform.call({ method: 'DELETE', url: '/v1/domains/owner.example/opt-out' });
    expect(removed.statusCode).toBe(200);
    expect(
      (await platform.call({ method: 'DELETE', url: '/v1/domains/owner.example/opt-out' })).statusCode,
    ).toBe(404);
    expect((await platform.call({ url: '/v1/domains/owner.example' })).at('data.optOut')).toBeNull();
    await expect.poll(() => heard).toHaveLength(2);
  });

  it('needs a host name', async () => {
    for (const host of [
      'a%2Fb',
      'a%3Fb',
      'user%40host',
      '%20',
      '*',
      '*.com',
      'a..b',
      '.a',
      `${'a'.repeat(64)}.test`,
    ]) {
      const answer = await platform.call({ method: 'POST', url: `/v1/domains/${host}/opt-out`, payload: {} });
      expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'INVALID_URL']);
    }
  });

  it('shows in the list of domains', async () => {
    const list = await platform.call({ url: '/v1/domains?limit=2' });
    expect(list.at('data.items.0')).toMatchObject({ breaker: 'closed', visited: false });
    expect(list.at('data.nextCursor')).toEqual(expect.any(String));
  });
});

describe('the requests to a host', () => {
  const requestsTo = (host: string) => platform.call({ url: `/v1/domains/${host}/requests` });

  it('are those of the last hour, beside what the policy allows', async () => {
    expect((await requestsTo('Never.Example')).at('data')).toMatchObject({
      host: 'never.example',
      points: [],
      limit: { perSecond: 2, perBucket: 30 },
    });
    const { store } = platform;
    const payload = { urls: ['https://counted.example/'] };
    await platform.call({ method: 'POST', url: '/v1/batch', payload });
    const lease = await store.acquireHost('counted.example' as HostKey, 'test', 30_000);
    if (lease === null) throw new Error('The host was not acquired.');
    const now = Date.now();
    const counter = createSentCounter(undefined);
    for (const agoMs of [3_000_000, 3_000_000, 0]) counter.add(now - agoMs);
    const sent = counter.written(now);
    await store.releaseHost(lease, { ...lease.state, ...(sent && { sent }) }, 0);
    const answer = await requestsTo('counted.example');
    const points = answer.at('data.points') as { at: string; requests: number }[];
    expect(points.map(({ requests }) => requests)).toEqual([2, 1]);
    const [from, until, last] = [answer.at('data.from'), answer.at('data.until'), points[1]?.at].map((at) =>
      Date.parse(String(at)),
    ) as [number, number, number];
    expect([until - from, last <= now && now - last < 15_000]).toEqual([3_600_000, true]);
    expect((await requestsTo('a%2Fb')).at('error.code')).toBe('INVALID_URL');
  });
});

describe('readiness', () => {
  it('tries every part', async () => {
    const answer = await platform.call({ url: '/readyz' });
    const ok = { status: 'ok', ms: expect.any(Number) };
    expect(answer.at('data')).toEqual({ status: 'ready', parts: { store: ok, queue: ok, blobs: ok } });
  });

  it('answers 503 and names what is broken', async () => {
    const broken = await openPlatform();
    await broken.store.close();
    const answer = await broken.call({ url: '/readyz' });
    expect(answer.statusCode).toBe(503);
    expect(answer.at('error.message')).toBe('Not ready: store.');
    expect(answer.at('error.details.parts.store')).toMatchObject({
      status: 'failing',
      code: 'STORE_UNAVAILABLE',
    });
    expect(answer.headers['retry-after']).toBe('5');
    const scrape = await broken.call({
      method: 'POST',
      url: '/v1/scrape',
      payload: { url: 'https://example.com/' },
    });
    expect([scrape.statusCode, scrape.at('error.code')]).toEqual([503, 'STORE_UNAVAILABLE']);
    await broken.close();
  });
});

describe('the documentation', () => {
  it('names every operation, each by a name of its own', async () => {
    const { paths } = (await platform.api.inject({ url: '/openapi.json' })).json();
    const operations = Object.values(paths as Record<string, Record<string, { operationId?: string }>>);
    const names = operations.flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId ?? ''),
    );
    expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    // These names are in generated clients.
    expect(
      [paths['/v1/scrape'].post, paths['/v1/jobs/{id}/results'].get].map((one) => one.operationId),
    ).toEqual(['scrape', 'listJobResults']);
  });

  it('describes every route with its answers', async () => {
    const { paths, components } = (await platform.api.inject({ url: '/openapi.json' })).json();
    // A path that was published may not disappear.
    const published = [
      '/healthz',
      '/metrics',
      '/readyz',
      '/v1/account',
      '/v1/accounts',
      '/v1/accounts/{id}',
      '/v1/accounts/{id}/disable',
      '/v1/accounts/{id}/enable',
      '/v1/audit',
      '/v1/batch',
      '/v1/crawl',
      '/v1/credentials',
      '/v1/credentials/{name}',
      '/v1/deliveries/{id}',
      '/v1/deliveries/{id}/redeliver',
      '/v1/domains',
      '/v1/domains/{host}',
      '/v1/domains/{host}/opt-out',
      '/v1/domains/{host}/requests',
      '/v1/events',
      '/v1/extract',
      '/v1/jobs',
      '/v1/jobs/{id}',
      '/v1/jobs/{id}/cancel',
      '/v1/jobs/{id}/errors',
      '/v1/jobs/{id}/events',
      '/v1/jobs/{id}/pages/{page}/artifacts/{name}',
      '/v1/jobs/{id}/reextract',
      '/v1/jobs/{id}/results',
      '/v1/jobs/{id}/resume',
      '/v1/jobs/{id}/retry',
      '/v1/jobs/{id}/urls',
      '/v1/jobs/{id}/why',
      '/v1/keys',
      '/v1/keys/{id}',
      '/v1/keys/{id}/rotate',
      '/v1/map',
      '/v1/owner-requests',
      '/v1/owner-requests/{id}',
      '/v1/owner-requests/{id}/check',
      '/v1/proxies',
      '/v1/schedules',
      '/v1/schedules/preview',
      '/v1/schedules/{id}',
      '/v1/schedules/{id}/next',
      '/v1/schedules/{id}/pause',
      '/v1/schedules/{id}/resume',
      '/v1/schedules/{id}/run',
      '/v1/schedules/{id}/runs',
      '/v1/schedules/{id}/runs/{run}',
      '/v1/scrape',
      '/v1/sessions',
      '/v1/sessions/{name}',
      '/v1/sessions/{name}/login',
      '/v1/webhooks',
      '/v1/webhooks/{id}',
      '/v1/webhooks/{id}/deliveries',
      '/v1/webhooks/{id}/rotate',
      '/v1/webhooks/{id}/test',
    ];
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(published));
    const { requestBody, responses } = paths['/v1/scrape'].post;
    const { schema: reference, example } = requestBody.content['application/json'];
    expect(reference).toEqual({ $ref: '#/components/schemas/ScrapeRequest' });
    const schema = components.schemas.ScrapeRequest;
    expect(schema).toMatchObject({ additionalProperties: false, required: ['url'] });
    expect(schema.properties.timeoutMs).toMatchObject({ default: 30_000, maximum: 300_000 });
    expect(example).toMatchObject({ url: 'https://example.com/' });
    const crawled = paths['/v1/crawl'].post.requestBody.content['application/json'];
    expect(crawled.example).toMatchObject({ urls: ['https://example.com/'] });
    // These names are promised: who relies on them must not be surprised.
    const promised = [
      'actions',
      'async',
      'blockResources',
      'body',
      'cookies',
      'crossOriginHeaders',
      'engine',
      'excludeTags',
      'extract',
      'formats',
      'geolocation',
      'headers',
      'identity',
      'identityBrowser',
      'includeTags',
      'inline',
      'locale',
      'maxAge',
      'maxAttempts',
      'maxBodyBytes',
      'method',
      'mobile',
      'obeyRobots',
      'onlyMainContent',
      'proxy',
      'retention',
      'screenshot',
      'scroll',
      'session',
      'taskTimeoutMs',
      'timeoutMs',
      'timezone',
      'url',
      'viewport',
      'wait',
    ];
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(promised));
    const { oneOf: steps } = components.schemas.PageAction;
    expect(schema.properties.actions.items).toEqual({ $ref: '#/components/schemas/PageAction' });
    expect(steps.map(({ properties }: typeof schema) => properties.type.const)).toEqual([
      'click',
      'hover',
      'back',
      'upload',
      'type',
      'press',
      'select',
      'wait',
      'scroll',
      'evaluate',
      'screenshot',
    ]);
    const artifact = paths['/v1/jobs/{id}/pages/{page}/artifacts/{name}'].get.responses['200'];
    expect(artifact.content['*/*'].schema).toEqual({ type: 'string', format: 'binary' });
    for (const [name, field] of Object.entries<{ description?: string }>(schema.properties)) {
      expect(field.description, name).toBeTruthy();
    }
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '202', '4XX', '5XX']));
    expect(responses['4XX']).toEqual({ $ref: '#/components/responses/RequestRefused' });
    expect(paths['/v1/jobs'].get.parameters).toContainEqual({ $ref: '#/components/parameters/Cursor' });
    const retention = ['/v1/account/retention', '/v1/accounts/{id}/retention'].map(
      (path) => paths[path].put.requestBody.content['application/json'],
    );
    expect(retention[1]).toEqual(retention[0]);
    expect(retention[0]).toMatchObject({
      schema: { $ref: '#/components/schemas/RetentionRequest' },
      example: { bodies: '24h' },
    });
    expect(JSON.stringify(paths)).not.toContain('Default Response');
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(['Job', 'Page', 'Failure']));
  });

  it('is shown by a page that loads nothing from elsewhere', async () => {
    const page = await platform.api.inject({ url: '/docs/' });
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.payload).not.toMatch(/(?:src|href)="https?:/);
    expect(page.headers['content-security-policy']).toContain("script-src 'self' 'unsafe-inline'");
    const script = await platform.api.inject({ url: '/docs/js/scalar.js' });
    expect(script.statusCode).toBe(200);
    expect(script.headers['content-type']).toContain('javascript');
  });

  it('is true of the answers', async () => {
    await platform.work(() => DONE);
    const data = (schema: z.ZodType) => z.strictObject({ success: z.literal(true), data: schema });
    const parse = (schema: z.ZodType, payload: string) => schema.parse(JSON.parse(payload));
    const payload = {
      url: 'https://example.com/',
      formats: ['html', 'text', 'links', 'metadata', 'rawHtml'],
    };
    const scraped = await platform.call({ method: 'POST', url: '/v1/scrape', payload });
    parse(data(scrapeSchema.strict()), scraped.payload);
    const path = `/v1/jobs/${scraped.at('data.id')}`;
    parse(data(jobSchema.strict()), (await platform.call({ url: path })).payload);
    const items = (item: z.ZodType) =>
      data(z.strictObject({ items: z.array(item).length(1), nextCursor: z.null() }));
    parse(items(pageSchema.strict()), (await platform.call({ url: `${path}/results` })).payload);
    parse(items(ledgerSchema.strict()), (await platform.call({ url: `${path}/urls` })).payload);
    const accepted = await platform.call({
      method: 'POST',
      url: '/v1/scrape',
      payload: { ...payload, async: true },
    });
    parse(data(acceptedSchema.strict()), accepted.payload);
    parse(failureSchema.strict(), (await platform.call({ url: '/v1/nothing' })).payload);
  });
});

it('every JSON body of a request is a schema with a name of its own, once', async () => {
  const { payload } = await platform.call({ url: '/openapi.json' });
  const { paths, components } = JSON.parse(payload) as {
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: object }> } }>>;
    components: { schemas: Record<string, object> };
  };
  const bodies = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ requestBody }) => requestBody?.content['application/json']?.schema ?? []);
  expect(bodies.length).toBeGreaterThan(30);
  for (const body of bodies) expect(Object.keys(body)).toEqual(['$ref']);
  const names = Object.keys(components.schemas);
  expect(names).toEqual(expect.arrayContaining(['CrawlRequest', 'MonitorUpdate', 'CreateKeyRequest']));
  expect(names.filter((name) => name.endsWith('Input'))).toEqual([]);
});

it('every reference in the OpenAPI document leads to one of its schemas', async () => {
  const { payload } = await platform.call({ url: '/openapi.json' });
  const { components } = JSON.parse(payload) as { components: { schemas: Record<string, unknown> } };
  const named = [...payload.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name = '']) => name,
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !(name in components.schemas))).toEqual([]);
});
