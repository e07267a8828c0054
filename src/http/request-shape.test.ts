import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const post = (url: string, payload: string) =>
  platform.call({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } });
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('a body that is nested a hundred thousand deep', () => {
  it.each([
    [
      '/v1/scrape',
      (deep: string) => `{"url":"https://a.test/","extract":{"rules":${deep}}}`,
      'extract.rules.a',
    ],
    [
      '/v1/scrape',
      (deep: string) => `{"url":"https://a.test/","extract":{"rules":{"t":"h1"},"schema":${deep}}}`,
      'extract.schema.a',
    ],
    ['/v1/scrape', (deep: string) => `{"url":"https://a.test/","actions":[${deep}]}`, 'actions.0.a'],
    ['/v1/crawl', (deep: string) => `{"urls":["https://a.test/"],"options":${deep}}`, 'options.a.a'],
    [
      '/v1/extract',
      (deep: string) => `{"html":"x","url":"https://a.test/","extract":${deep}}`,
      'extract.a.a',
    ],
  ])('is refused by %s with the field', async (url, bodyOf, field) => {
    const answer = await post(url, bodyOf(nested(100_000)));
    expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    expect(answer.at('error.details.0.field')).toBe(field);
    expect(answer.at('error.message')).toContain('Nested too deep');
  });
});

describe('the list of what is wrong with a request', () => {
  it('has a bounded number of entries, and the number of the rest', async () => {
    const answer = await post('/v1/batch', JSON.stringify({ urls: Array(9_000).fill(7) }));
    expect(answer.statusCode).toBe(422);
    expect(answer.at('error.details')).toHaveLength(100);
    expect(answer.at('error.message')).toContain('(and 8997 more)');
    const seeds = await post('/v1/crawl', JSON.stringify({ urls: Array(9_000).fill('no url') }));
    expect([seeds.statusCode, seeds.at('error.code')]).toEqual([422, 'INVALID_URL']);
    expect(seeds.at('error.details')).toHaveLength(100);
  });

  it('is never larger than a little more than the names of a hundred fields', async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [`${'x'.repeat(1_000)}${n}`, 1]),
    );
    const body = JSON.stringify({ url: 'https://a.test/', ...unknown });
    const answer = await post('/v1/scrape', body);
    expect(answer.statusCode).toBe(422);
    expect(answer.payload.length).toBeLessThan(100_000);
    const many = await post('/v1/batch', `{"urls":[${'1,'.repeat(2_000_000)}1]}`);
    expect([many.statusCode, many.at('error.details.0.field')]).toEqual([422, 'urls']);
    expect(many.payload.length).toBeLessThan(1_000);
  });
});
