import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { parseRequest } from './invalid-request.ts';
import {
  batchRequestSchema,
  crawlRequestSchema,
  MAX_DURATION_MS,
  mapRequestSchema,
  scrapeRequestSchema,
} from './job-request.ts';

const url = 'https://example.com/';

function problemsWith(schema: Parameters<typeof parseRequest>[0], input: unknown) {
  try {
    parseRequest(schema, input);
  } catch (error) {
    const { code, details } = error as ScrapifieError;
    expect(code).toBe('VALIDATION_FAILED');
    return details as { field: string; message: string }[];
  }
  return [];
}
const fieldsOf = (schema: Parameters<typeof parseRequest>[0], input: unknown) =>
  problemsWith(schema, input).map(({ field }) => field);

describe('requests', () => {
  it('get the documented defaults', () => {
    expect(parseRequest(scrapeRequestSchema, { url })).toEqual({
      url,
      engine: 'auto',
      formats: ['metadata', 'links', 'text'],
      maxAge: 0,
      reuse: true,
      maxPdfPages: 500,
      headers: {},
      crossOriginHeaders: [],
      cookies: {},
      timeoutMs: 30_000,
      maxAttempts: 3,
      maxBodyBytes: 10_485_760,
      obeyRobots: true,
      wait: null,
      scroll: null,
      actions: [],
      screenshot: null,
      blockResources: [],
      viewport: null,
      mobile: false,
      geolocation: null,
      locale: null,
      timezone: null,
      inline: false,
      session: null,
      proxy: null,
      identity: null,
      identityBrowser: null,
      extract: null,
      onlyMainContent: true,
      includeTags: [],
      excludeTags: [],
      method: 'GET',
      body: null,
      async: false,
      retention: null,
      snapshots: false,
      search: false,
      lake: false,
      exports: [],
    });
    expect(parseRequest(crawlRequestSchema, { urls: [url] })).toMatchObject({
      maxPages: 10_000,
      maxDepth: null,
      sitemap: 'include',
      options: { formats: ['metadata', 'links'], timeoutMs: 30_000 },
    });
    expect(parseRequest(batchRequestSchema, { urls: [url] }).options).toMatchObject({
      maxAttempts: 3,
      method: 'GET',
    });
    expect(parseRequest(mapRequestSchema, { url })).toMatchObject({ limit: 5_000, timeoutMs: 60_000 });
  });

  it('with a field nobody knows are refused by its name, however deep it stands', () => {
    const known = new Set(Object.keys(parseRequest(scrapeRequestSchema, { url })));
    const name = fc
      .string({ minLength: 1, maxLength: 20 })
      .filter((key) => !known.has(key) && key !== '__proto__');
    fc.assert(
      fc.property(name, fc.jsonValue(), (key, value) => {
        expect(fieldsOf(scrapeRequestSchema, { url, [key]: value })).toEqual([key]);
        expect(fieldsOf(batchRequestSchema, { urls: [url], options: { [key]: value } })).toEqual([
          `options.${key}`,
        ]);
      }),
    );
    expect(fieldsOf(crawlRequestSchema, { urls: [url], maxPage: 3, options: { format: [] } })).toEqual([
      'options.format',
      'maxPage',
    ]);
  });

  it('are refused in sentences', () => {
    const sentences = (input: unknown) =>
      (problemsWith(scrapeRequestSchema, input) as { message: string }[]).map(({ message }) => message);
    expect(sentences({})).toEqual(['`url` is required.']);
    expect(sentences({ url, format: ['text'] })).toEqual([
      '`format` is not a known field; did you mean `formats`?',
    ]);
    expect(sentences({ url, timeoutMs: 5 })).toEqual(['`timeoutMs` must be at least 1000.']);
    expect(sentences({ url, session: 'a b' })).toEqual([expect.stringMatching(/^`session` must be /)]);
    expect(() => parseRequest(scrapeRequestSchema, { timeoutMs: 5 })).toThrow(
      '`url` is required. `timeoutMs` must be at least 1000.',
    );
    expect(() => parseRequest(scrapeRequestSchema, { url, body: 'x' })).toThrow(
      'body: A body needs `method: "POST"`.',
    );
  });

  it('name every bad field, not only the first', () => {
    const fields = fieldsOf(scrapeRequestSchema, { formats: ['doc'], timeoutMs: -1, engine: 'magic' });
    expect(fields.sort()).toEqual(['engine', 'formats.0', 'timeoutMs', 'url']);
  });

  it('for jobs that would end after a time that cannot be stored are refused', () => {
    const longest = (maxDurationMs: number) => fieldsOf(batchRequestSchema, { urls: [url], maxDurationMs });
    expect(longest(Number.MAX_SAFE_INTEGER)).toEqual(['maxDurationMs']);
    expect(longest(MAX_DURATION_MS)).toEqual([]);
  });

  it('for more than 10,000 URLs at once are refused', () => {
    const urls = Array.from({ length: 10_001 }, (_, index) => `${url}${index}`);
    expect(fieldsOf(batchRequestSchema, { urls })).toEqual(['urls']);
    expect(fieldsOf(batchRequestSchema, { urls: urls.slice(1) })).toEqual([]);
    expect(fieldsOf(batchRequestSchema, { urls: [] })).toEqual(['urls']);
  });

  it('cannot smuggle anything through headers and cookies', () => {
    const headers = {
      Host: 'x',
      'X-Ok': 'yes',
      'X-Bad': 'a\r\nb: c',
      'not a name': 'x',
      Cookie: 'a=b',
      'content-length': '3',
    };
    expect(fieldsOf(scrapeRequestSchema, { url, headers }).sort()).toEqual([
      'headers.Cookie',
      'headers.Host',
      'headers.X-Bad',
      'headers.content-length',
      'headers.not a name',
    ]);
    expect(
      fieldsOf(scrapeRequestSchema, { url, cookies: { good: 'a', bad: 'a; b=c', 'b ad': 'x' } }).sort(),
    ).toEqual(['cookies.b ad', 'cookies.bad']);
  });

  it('that contradict themselves are refused', () => {
    expect(fieldsOf(scrapeRequestSchema, { url, body: 'x' })).toEqual(['body']);
    expect(fieldsOf(crawlRequestSchema, {})).toEqual(['urls']);
    expect(fieldsOf(crawlRequestSchema, { sitemapUrls: [url], sitemap: 'skip' })).toEqual(['sitemap']);
    expect(fieldsOf(crawlRequestSchema, { urls: [url], options: { method: 'POST' } })).toEqual([
      'options.method',
    ]);
  });
});
