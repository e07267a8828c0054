import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { wrapCursor } from '../capabilities/views/list.ts';
import type { JobId } from '../core/model/ids.ts';

const COUNT = 23;
let platform: Platform;
let id: string;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work((task) => {
    if (task.url.endsWith('/7'))
      return { end: { state: 'failed', rule: null, errorCode: 'HTTP_ERROR' }, statusCode: 500 };
    if (task.url.endsWith('/8')) return { end: { state: 'denied', rule: 'robots: disallow: /8 (line 1)' } };
    return DONE;
  });
  const urls = Array.from({ length: COUNT }, (_, each) => `https://example.com/${each}`);
  const headers = { Authorization: 'Bearer very-secret', 'X-Plain': 'very-secret', 'Accept-Language': 'de' };
  const options = { formats: ['text'], headers, cookies: { session: 'very-secret' } };
  const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload: { urls, options } });
  id = answer.at('data.id') as string;
  await platform.jobs.waitFor(id as JobId, 60_000);
});
afterAll(() => platform.close());

async function collect(path: string, limit: number): Promise<string[]> {
  const urls: string[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? '' : `&cursor=${cursor}`;
    const answer = await platform.call({ url: `${path}?limit=${limit}${more}` });
    expect(answer.statusCode).toBe(200);
    urls.push(...(answer.at('data.items') as { url: string }[]).map((item) => item.url));
    cursor = answer.at('data.nextCursor') as string | null;
  } while (cursor !== null);
  return urls;
}

describe('a job', () => {
  it('shows its progress and hides secrets', async () => {
    const job = await platform.call({ url: `/v1/jobs/${id}` });
    expect(job.at('data')).toMatchObject({
      id,
      kind: 'batch',
      progress: { known: COUNT, open: 0, done: COUNT - 2, failed: 1, denied: 1 },
      options: { page: { headers: { 'X-Plain': '[hidden]', 'Accept-Language': 'de' } } },
    });
    expect(job.payload).not.toContain('very-secret');
  });

  it('is found in the list by status and kind', async () => {
    const idsIn = async (query: string) =>
      ((await platform.call({ url: `/v1/jobs?${query}` })).at('data.items') as { id: string }[]).map(
        (job) => job.id,
      );
    expect(await idsIn('status=partially_completed&kind=batch')).toContain(id);
    expect(await idsIn('status=queued')).not.toContain(id);
    expect(await idsIn('kind=crawl')).toEqual([]);
  });

  it('is found in the list by the domain that it starts on', async () => {
    const elsewhere = await platform.call({
      method: 'POST',
      url: '/v1/batch',
      payload: { urls: ['https://shop.example.org:8080/x', 'notexample.com'] },
    });
    const other = elsewhere.at('data.id') as string;
    const idsOn = async (domain: string) =>
      ((await platform.call({ url: `/v1/jobs?domain=${domain}` })).at('data.items') as { id: string }[]).map(
        (job) => job.id,
      );
    expect(await idsOn('example.com')).toEqual([id]);
    expect(await idsOn('EXAMPLE.org')).toEqual([other]);
    expect(await idsOn('shop.example.org')).toEqual([other]);
    expect(await idsOn('www.example.com')).toEqual([]);
  });
});

describe('lists', () => {
  it('have every item once, whatever the size of their pages', async () => {
    for (const limit of [1, 5, 22, 1_000]) {
      expect(new Set(await collect(`/v1/jobs/${id}/urls`, limit)).size).toBe(COUNT);
      expect((await collect(`/v1/jobs/${id}/results`, limit)).length).toBe(COUNT - 1);
    }
  });

  it('can be narrowed by state', async () => {
    const failed = await platform.call({ url: `/v1/jobs/${id}/results?state=failed` });
    expect(failed.at('data.items')).toMatchObject([
      { url: 'https://example.com/7', error: { code: 'HTTP_ERROR' } },
    ]);
    const denied = await platform.call({ url: `/v1/jobs/${id}/urls?state=denied` });
    expect(denied.at('data.items')).toMatchObject([
      { decision: 'denied', rule: 'robots: disallow: /8 (line 1)' },
    ]);
    const errors = await platform.call({ url: `/v1/jobs/${id}/errors` });
    expect(errors.at('data.items')).toMatchObject([
      { code: 'HTTP_ERROR', state: 'failed' },
      {
        code: 'ROBOTS_DISALLOWED',
        state: 'denied',
        message: 'robots.txt does not allow it: `disallow: /8 (line 1)`.',
      },
    ]);
    for (const limit of [1, 2, 3]) {
      expect(await collect(`/v1/jobs/${id}/errors`, limit)).toEqual([
        'https://example.com/7',
        'https://example.com/8',
      ]);
    }
    const only = await platform.call({ url: `/v1/jobs/${id}/errors?state=denied` });
    expect(only.at('data.items')).toMatchObject([{ url: 'https://example.com/8' }]);
  });

  it('say the rule of a URL as a sentence, with the code beside', async () => {
    const denied = await platform.call({ url: `/v1/jobs/${id}/urls?state=denied` });
    expect(denied.at('data.items.0')).toMatchObject({
      rule: 'robots: disallow: /8 (line 1)',
      message: 'robots.txt does not allow it: `disallow: /8 (line 1)`.',
    });
  });

  it.each(['x', '%00', wrapCursor('urls', '1'), wrapCursor('results', 'x'), 'a'.repeat(600)])(
    'refuse a cursor they did not give out: %s',
    async (cursor) => {
      const answer = await platform.call({ url: `/v1/jobs/${id}/results?cursor=${cursor}` });
      expect(answer.statusCode).toBe(422);
      expect(answer.at('error.details.0.field')).toBe('cursor');
    },
  );

  it('refuse parameters nobody knows and limits out of range', async () => {
    for (const query of ['page=2', 'limit=0', 'limit=1001', 'limit=x', 'state=ready']) {
      expect((await platform.call({ url: `/v1/jobs/${id}/results?${query}` })).statusCode).toBe(422);
    }
  });

  it('stream everything as NDJSON on request', async () => {
    const headers = { accept: 'application/x-ndjson' };
    const results = await platform.call({ url: `/v1/jobs/${id}/results`, headers });
    expect(results.headers['content-type']).toContain('application/x-ndjson');
    const lines = results.payload.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).url)).toEqual(await collect(`/v1/jobs/${id}/results`, 1_000));
    const urls = await platform.call({ url: `/v1/jobs/${id}/urls?state=done`, headers });
    expect(urls.payload.trimEnd().split('\n')).toHaveLength(COUNT - 2);
    const cursor = await platform.call({ url: `/v1/jobs/${id}/results?cursor=x`, headers });
    expect(cursor.statusCode).toBe(422);
  });
});
