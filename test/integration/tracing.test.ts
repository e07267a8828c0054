import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JobId } from '../../src/core/model/ids.ts';
import { createMetrics } from '../../src/core/observe/metrics.ts';
import { sampledSpanIds } from '../../src/core/tracing/tracing.ts';
import {
  type OtlpReceiver,
  pathOf,
  type ReceivedSpan,
  startOtlpReceiver,
  treeProblems,
} from '../tracing/otlp-receiver.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';

const CALLER = 'b7ad6b7169203331';
const SAMPLED = '01';
const NOT_SAMPLED = '00';
/** The least that a trace needs: 32 digits that no other test uses. */
const traceIdOf = (number: number) => `0af7651916cd43dd8448eb211c8${String(number).padStart(5, '0')}`;
const traceparentOf = (number: number, flags: string) => `00-${traceIdOf(number)}-${CALLER}-${flags}`;

let receiver: OtlpReceiver;
let world: ApiWorld;
let scraped: Answer;
let failed: Answer;
let unsampled: Answer;

type Answer = Awaited<ReturnType<ApiWorld['send']>>;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  world = await openApiWorld({
    metrics: createMetrics({ withProcess: false, traceOf: sampledSpanIds }),
    settings: {
      otelUrl: receiver.url,
      otelHeaders: 'x-tenant=blue%20one',
      otelAttributes: 'deployment.environment.name=test',
      // Only requests whose caller traces them.
      traceRatio: 0,
      traceAttempts: 3,
    },
  });
  const { url } = world.site;
  // All at once, because spans are sent together.
  let crawl: Answer;
  [scraped, failed, crawl, unsampled] = await Promise.all([
    request(1, SAMPLED, '/v1/scrape', { url: `${url}/big/?token=hush-1` }),
    request(2, SAMPLED, '/v1/scrape', {
      url: `${url}/protocol/two-lengths?token=hush-2`,
      engine: 'http',
      maxAttempts: 1,
    }),
    request(3, SAMPLED, '/v1/crawl', { urls: [`${url}/big/`], maxPages: 8 }),
    request(4, NOT_SAMPLED, '/v1/scrape', { url: `${url}/big/` }),
  ]);
  await world.ended({ id: (crawl.json() as { data: { id: JobId } }).data.id });
  // The last one of each trace: it ends when its host has nothing to do for a second.
  await until(() => {
    for (const number of [1, 2, 3]) expect(spansOf(number).map(({ name }) => name)).toContain('slice');
  });
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
});

const spansOf = (number: number) => receiver.spans.filter(({ traceId }) => traceId === traceIdOf(number));
const until = (condition: () => void) => vi.waitFor(condition, { timeout: 30_000, interval: 50 });
const namesOf = (spans: readonly ReceivedSpan[]) => spans.map((span) => pathOf(span, spans)).sort();

function request(number: number, flags: string, url: string, payload: object) {
  return world.send({ method: 'POST', url, payload, headers: { traceparent: traceparentOf(number, flags) } });
}

describe('a traced request', () => {
  it('is one tree from the request of the caller to the ledger, with what threads did', () => {
    expect(scraped.statusCode).toBe(200);
    const SLICE = 'POST /v1/scrape > create scrape > slice';
    expect(namesOf(spansOf(1))).toEqual([
      'POST /v1/scrape',
      'POST /v1/scrape > create scrape',
      'POST /v1/scrape > create scrape > scrape',
      SLICE,
      `${SLICE} > attempt`,
      `${SLICE} > attempt > GET`,
      `${SLICE} > attempt > ledger commit`,
      `${SLICE} > attempt > read`,
      `${SLICE} > attempt > read > extract`,
      `${SLICE} > attempt > read > store body`,
    ]);
    expect(treeProblems(spansOf(1), CALLER)).toEqual([]);
    const [root] = spansOf(1).filter(({ parentSpanId }) => parentSpanId === CALLER);
    expect(scraped.headers.traceparent).toBe(`00-${traceIdOf(1)}-${root?.spanId}-01`);
    expect(root).toMatchObject({
      kind: 2,
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/scrape',
        'http.response.status_code': 200,
      },
      resource: {
        'service.name': 'scrapifie',
        'scrapifie.role': 'all',
        'deployment.environment.name': 'test',
      },
    });
    expect(receiver.headers()['x-tenant']).toBe('blue one');
  });

  it('is named by the times that its requests and attempts are counted with', async () => {
    const headers = { accept: 'application/openmetrics-text; version=1.0.0' };
    const { payload } = await world.send({ method: 'GET', url: '/metrics', headers });
    const sent = [1, 2, 3].flatMap((number) => spansOf(number)).map(({ spanId }) => spanId);
    for (const name of ['scrapifie_http_request_duration_seconds', 'scrapifie_fetch_duration_seconds']) {
      const shown = [...payload.matchAll(/^(\w+)_bucket\{.* # \{trace_id="\w+",span_id="(\w+)"\}/gm)];
      const spans = shown.filter(([, metric]) => metric === name).map(([, , spanId]) => spanId);
      expect(spans.length, name).toBeGreaterThan(0);
      for (const spanId of spans) expect(sent).toContain(spanId);
    }
  });

  it('tells which server a URL leads to, and nothing else of it', () => {
    const [get] = spansOf(1).filter(({ name }) => name === 'GET');
    const { hostname, port } = new URL(world.site.url);
    expect(get?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.response.body.size': expect.any(Number),
      'network.protocol.version': '1.1',
      'scrapifie.engine': 'http',
      'scrapifie.redirects': 0,
      'server.address': hostname,
      'server.port': Number(port),
      'url.scheme': 'http',
    });
    expect(receiver.text()).not.toMatch(/hush|\/big/);
  });

  it('notes a failure by its code, never by its message', () => {
    const { code } = (failed.json() as { error: { code: string } }).error;
    const told = spansOf(2).filter(({ attributes }) => attributes['error.type'] !== undefined);
    expect(
      told.map(({ name, isError, attributes }) => [name, isError, attributes['error.type']]).sort(),
    ).toEqual([
      ['GET', true, code],
      ['POST /v1/scrape', true, code],
      ['attempt', false, code],
    ]);
    expect(receiver.text()).not.toContain('hush');
  });

  it('traces as many attempts of a job as the settings say', () => {
    expect(spansOf(3).map(({ name }) => name)).toContain('crawl');
    expect(spansOf(3).filter(({ name }) => name === 'attempt')).toHaveLength(3);
    expect(treeProblems(spansOf(3), CALLER)).toEqual([]);
  });

  it('is not shown to the site, and its job shows nothing of it', async () => {
    expect(JSON.stringify(world.site.log)).not.toContain(traceIdOf(1));
    const { body } = await world.call({ method: 'GET', url: '/v1/jobs?limit=10' });
    expect(JSON.stringify(body)).not.toContain('traceParent');
  });
});

describe('a request that is not sampled', () => {
  it('keeps the trace of its caller and sends no span', () => {
    expect(unsampled.statusCode).toBe(200);
    expect(unsampled.headers.traceparent).toMatch(new RegExp(`^00-${traceIdOf(4)}-[\\da-f]{16}-00$`));
    expect(spansOf(4)).toEqual([]);
  });

  it('is every one without a key: strangers cannot have their requests traced', async () => {
    const headers = { traceparent: traceparentOf(5, SAMPLED) };
    for (const [url, status] of [
      ['/v1/jobs', 401],
      ['/openapi.json', 200],
    ] as const) {
      const answer = await world.api.inject({ method: 'GET', url, headers });
      expect(answer.statusCode).toBe(status);
      expect(answer.headers.traceparent ?? '').not.toContain(traceIdOf(5));
    }
  });

  it('begins a trace of its own where the header is none', async () => {
    const headers = { traceparent: `00-${'0'.repeat(32)}-${CALLER}-01` };
    const answer = await world.send({ method: 'GET', url: '/v1/jobs', headers });
    expect(answer.headers.traceparent).toMatch(/^00-(?!0{32})[\da-f]{32}-[\da-f]{16}-00$/);
    const health = await world.send({ method: 'GET', url: '/healthz', headers });
    expect(health.headers.traceparent).toBeUndefined();
  });
});
