import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJobId } from '../../src/capabilities/jobs/job-id.ts';
import { ERRORS } from '../../src/core/errors/registry.ts';
import { DONE, openPlatform, type Platform } from './api-platform.ts';

/**
 * Properties 1 and 3 to 7 of the scraping service: envelope, request ids, keys, validation, and single tasks.
 * The API and everything below it are real; pages come from a worker that fetches nothing.
 */

let platform: Platform;
const held = Promise.withResolvers<void>();
beforeAll(async () => {
  platform = await openPlatform({ rateLimitPerMinute: 100_000_000 });
  await platform.work((task) => (task.url.includes('/held/') ? held.promise.then(() => DONE) : DONE));
});
afterAll(() => {
  held.resolve();
  return platform.close();
});

const RUNS = { numRuns: 60 };
const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'PATCH');
const segment = fc.stringMatching(/^[a-zA-Z0-9._~%-]{1,20}$/);
const path = fc.oneof(
  fc.constantFrom('/v1/scrape', '/v1/batch', '/v1/crawl', '/v1/map', '/v1/jobs', '/v1/keys', '/v1/account'),
  segment.map((name) => `/v1/jobs/${name}`),
  segment.map((name) => `/v1/jobs/${name}/results?cursor=${name}`),
  segment.map((name) => `/v1/domains/${name}`),
  // `/` itself is the dashboard.
  fc.array(segment, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`),
);
const payload = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string(),
  fc.constant('{"url":"https://example.com/","formats":["text"]}'),
);
const contentType = fc.constantFrom('application/json', 'text/plain', 'application/json; charset=utf-8');

describe('property 1: every answer is an envelope', () => {
  it('says success exactly when the status does, and carries data or a registered error', async () => {
    await fc.assert(
      fc.asyncProperty(
        method,
        path,
        payload,
        contentType,
        fc.boolean(),
        async (verb, url, body, type, hasKey) => {
          const hasBody = verb !== 'GET';
          const answer = await platform.api.inject({
            method: verb as 'GET',
            url,
            headers: {
              ...(hasKey ? { 'x-api-key': platform.secret } : {}),
              ...(hasBody ? { 'content-type': type } : {}),
            },
            ...(hasBody ? { payload: body } : {}),
          });
          const json = answer.json();
          expect(answer.headers['x-request-id']).toEqual(expect.any(String));
          expect(json.success).toBe(answer.statusCode < 400);
          if (json.success) {
            expect(Object.keys(json).sort()).toEqual(['data', 'success']);
          } else {
            expect(Object.keys(json).sort()).toEqual(['error', 'success']);
            const spec = ERRORS[json.error.code as keyof typeof ERRORS];
            expect(spec.httpStatus).toBe(answer.statusCode);
            expect(json.error.retryable).toBe(spec.retry === 'later');
            expect(json.error.message).not.toBe('');
            expect(json.error.code).not.toBe('INTERNAL');
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('property 3: request ids are unique', () => {
  it('and UUIDs, where the caller gave none', async () => {
    const seen = new Set<string>();
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/healthz', '/v1/jobs', '/nothing'), async (url) => {
        const id = (await platform.call({ url })).headers['x-request-id'] as string;
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        seen.add(id);
        asked += 1;
      }),
      RUNS,
    );
    expect(seen.size).toBe(asked);
  });

  it('or the caller’s own, when it is harmless', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[\x21-\x7e]{1,200}$/), async (given) => {
        const id = (await platform.call({ url: '/healthz', headers: { 'x-request-id': given } })).headers[
          'x-request-id'
        ];
        expect(id === given).toBe(/^[\w.:+/=@-]{1,128}$/.test(given));
      }),
      RUNS,
    );
  });
});

describe('property 4: only the right key opens', () => {
  const header = fc.constantFrom<(secret: string) => Record<string, string>>(
    (secret) => ({ 'x-service-key': secret }),
    (secret) => ({ 'x-api-key': secret }),
    (secret) => ({ authorization: `Bearer ${secret}` }),
  );
  const status = async (headers: Record<string, string>) =>
    (await platform.api.inject({ url: '/v1/account', headers })).statusCode;

  it('whatever else is sent', async () => {
    const guess = fc.oneof(
      fc.stringMatching(/^[\x21-\x7e]{1,80}$/),
      fc.nat({ max: 45 }).map((at) => platform.secret.slice(0, at) + platform.secret.slice(at + 1)),
      fc.nat({ max: 45 }).map((at) => `${platform.secret.slice(0, at)}!${platform.secret.slice(at + 1)}`),
    );
    await fc.assert(
      fc.asyncProperty(header, guess, async (put, secret) => {
        expect(await status(put(secret))).toBe(secret === platform.secret ? 200 : 401);
        expect(await status(put(platform.secret))).toBe(200);
      }),
      RUNS,
    );
  });
});

describe('property 5: a bad request names its bad fields', () => {
  const bad: Record<string, fc.Arbitrary<unknown>> = {
    url: fc.oneof(fc.integer(), fc.constant(null), fc.constant('')),
    engine: fc
      .string()
      .filter((text) => !['auto', 'http', 'browser', 'stealth', 'flaresolverr', 'firecrawl'].includes(text)),
    formats: fc.oneof(fc.constant([]), fc.string(), fc.constant(['doc'])),
    timeoutMs: fc.oneof(fc.integer({ max: 999 }), fc.integer({ min: 300_001 }), fc.string()),
    maxAttempts: fc.oneof(fc.integer({ max: 0 }), fc.integer({ min: 11 }), fc.constant(1.5)),
    obeyRobots: fc.oneof(fc.string(), fc.integer()),
    async: fc.oneof(fc.string(), fc.constant(null)),
    // A body with such a key is not read at all: MALFORMED_JSON.
    surprise: fc.jsonValue().filter((value) => !/"(?:__proto__|constructor)"/.test(JSON.stringify(value))),
  };

  it('all of them and no others, with 422', async () => {
    const mistakes = fc
      .subarray(Object.keys(bad), { minLength: 1 })
      .chain((names) =>
        fc.record(Object.fromEntries(names.map((name) => [name, bad[name] ?? fc.constant(null)]))),
      );
    await fc.assert(
      fc.asyncProperty(mistakes, async (given) => {
        const body = { url: 'https://example.com/', ...given };
        const answer = await platform.call({ method: 'POST', url: '/v1/scrape', payload: body });
        expect(answer.statusCode).toBe(422);
        expect(answer.at('error.code')).toBe('VALIDATION_FAILED');
        const details = answer.at('error.details') as { field: string; message: string }[];
        const fields = new Set(details.map(({ field }) => field.split('.')[0]));
        expect(fields).toEqual(new Set(Object.keys(given)));
        for (const { message } of details) expect(message).not.toBe('');
      }),
      RUNS,
    );
  });
});

const pageNumber = fc.nat();
const formats = fc.subarray(['html', 'rawHtml', 'text', 'links', 'metadata'], { minLength: 1 });

describe('property 6: what is not waited for is accepted and queued', () => {
  it('with an id that is a UUID', async () => {
    await fc.assert(
      fc.asyncProperty(pageNumber, formats, async (number, wanted) => {
        const url = `https://queued.example/${number}`;
        const body = { url, formats: wanted, async: true };
        const answer = await platform.call({ method: 'POST', url: '/v1/scrape', payload: body });
        expect(answer.statusCode).toBe(202);
        expect(answer.at('data')).toMatchObject({ status: 'queued', url });
        expect(isJobId(String(answer.at('data.id')))).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('property 7: what is told of a task is how it stands', () => {
  it('a result exactly when it is done, with exactly the formats asked for', async () => {
    const start = async (url: string, wanted: readonly string[]) => {
      const body = { url, formats: wanted, async: true };
      const answer = await platform.call({ method: 'POST', url: '/v1/scrape', payload: body });
      return `/v1/jobs/${answer.at('data.id')}`;
    };
    await fc.assert(
      fc.asyncProperty(pageNumber, formats, async (number, wanted) => {
        const waiting = await start(`https://held.example/held/${number}`, wanted);
        expect((await platform.call({ url: waiting })).at('data.progress')).toMatchObject({
          open: 1,
          done: 0,
        });
        expect((await platform.call({ url: `${waiting}/results` })).at('data.items')).toEqual([]);

        const body = { url: `https://done.example/${number}`, formats: wanted };
        const done = await platform.call({ method: 'POST', url: '/v1/scrape', payload: body });
        const job = `/v1/jobs/${done.at('data.id')}`;
        expect((await platform.call({ url: job })).at('data.status')).toBe('completed');
        const items = (await platform.call({ url: `${job}/results` })).at('data.items') as object[];
        expect(items).toHaveLength(1);
        const has = (name: string) => Object.hasOwn(items[0] ?? {}, name);
        expect(['html', 'rawHtml', 'text', 'links', 'metadata'].filter(has).sort()).toEqual(
          [...wanted].sort(),
        );
      }),
      { numRuns: 25 },
    );
  });
});
