import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { bucketFor, MOST_POINTS } from '../capabilities/query/job-views.ts';
import type { JobId } from '../core/model/ids.ts';

let platform: Platform;
let id: string;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work((task) => {
    if (task.url.endsWith('/gone'))
      return { end: { state: 'failed', rule: 'attempt.error', errorCode: 'HTTP_ERROR' }, statusCode: 404 };
    if (task.url.endsWith('/no')) return { end: { state: 'denied', rule: 'robots: disallow: /no (line 2)' } };
    return DONE;
  });
  const urls = ['a', 'b', 'c', 'gone', 'no'].map((each) => `https://example.com/${each}`);
  const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload: { urls } });
  id = answer.at('data.id') as string;
  await platform.jobs.waitFor(id as JobId, 20_000);
});
afterAll(() => platform.close());

const rows = (query: string) => platform.call({ url: `/v1/jobs/${id}/rows?${query}` });
const urlsOf = async (query: string) =>
  ((await rows(query)).at('data.items') as { url: string }[]).map(({ url }) => url.slice(20));

describe('the rows of a job', () => {
  it('are filtered and sorted, and each says what became of its URL', async () => {
    expect(await urlsOf('sort=url&order=desc')).toEqual(['no', 'gone', 'c', 'b', 'a']);
    expect(await urlsOf('statusClass=4xx')).toEqual(['gone']);
    expect(await urlsOf('text=EXAMPLE.com/B')).toEqual(['b']);
    expect((await rows('reason=robots')).at('data.items.0')).toMatchObject({
      state: 'denied',
      message: 'robots.txt does not allow it: `disallow: /no (line 2)`.',
      title: null,
      finalUrl: null,
    });
  });

  it('are paged by cursors of their own', async () => {
    const first = await rows('sort=url&limit=2');
    expect(await urlsOf(`sort=url&limit=9&cursor=${first.at('data.nextCursor')}`)).toEqual([
      'c',
      'gone',
      'no',
    ]);
    const urls = await platform.call({ url: `/v1/jobs/${id}/urls?limit=2` });
    expect((await rows(`cursor=${urls.at('data.nextCursor')}`)).at('error.code')).toBe('VALIDATION_FAILED');
  });
});

describe('the summary of a job', () => {
  it('groups failures by their cause and says what to do', async () => {
    const answer = await platform.call({ url: `/v1/jobs/${id}/summary` });
    expect(answer.at('data')).toMatchObject({
      jobId: id,
      urls: 5,
      states: [{ state: 'done', urls: 3 }, expect.anything(), expect.anything()],
      hosts: [{ host: 'example.com', urls: 5, done: 3, failed: 1, denied: 1 }],
      depths: [{ depth: 0, urls: 5 }],
    });
    expect(answer.at('data.causes')).toEqual([
      expect.objectContaining({ cause: 'HTTP_ERROR', state: 'failed', urls: 1, advice: expect.any(String) }),
      expect.objectContaining({
        cause: 'robots',
        advice: 'Ask the owner of the site: robots.txt is obeyed.',
        example: 'https://example.com/no',
      }),
    ]);
    const filtered = await platform.call({ url: `/v1/jobs/${id}/summary?text=gone` });
    expect(filtered.at('data.urls')).toBe(1);
  });

  it('has a time line that fits into its points, however long the job took', () => {
    for (const ms of [0, 1, 999, 60_000, 3_600_000, 86_400_000, 30 * 86_400_000, 4_000 * 86_400_000]) {
      const from = 1_790_000_000_123;
      const bucketMs = bucketFor(from, from + ms);
      const points = Math.floor((from + ms) / bucketMs) - Math.floor(from / bucketMs) + 1;
      expect(points).toBeLessThanOrEqual(MOST_POINTS);
    }
  });
});
