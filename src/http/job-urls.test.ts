import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { whyInNewest } from '../capabilities/jobs/results/why.ts';
import type { JobId } from '../core/model/ids.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work((task) => {
    if (task.url.endsWith('/denied'))
      return { end: { state: 'denied', rule: 'policy.deny-list:example.com' } };
    if (task.url.endsWith('/gone'))
      return { end: { state: 'failed', rule: 'attempt.error', errorCode: 'HTTP_ERROR' }, statusCode: 404 };
    return DONE;
  });
});
afterAll(() => platform.close());

const post = (url: string, payload: object = {}) => platform.call({ method: 'POST', url, payload });
async function batch(payload: object): Promise<string> {
  const answer = await post('/v1/batch', payload);
  expect(answer.statusCode).toBe(202);
  const id = answer.at('data.id') as string;
  await platform.jobs.waitFor(id as JobId, 60_000);
  return id;
}
const itemsOf = async (url: string) => (await platform.call({ url })).at('data.items') as { url: string }[];

describe('every URL of a batch', () => {
  it('is in the results or in the errors, under the name it was submitted by', async () => {
    const urls = ['Example.com/ok', 'https://example.com/denied', 'https://example.com/gone#top'];
    const id = await batch({ urls });
    const results = await itemsOf(`/v1/jobs/${id}/results`);
    const errors = await itemsOf(`/v1/jobs/${id}/errors`);
    const named = [...results, ...errors].map((item) => (item as { sourceUrl?: string }).sourceUrl);
    expect(new Set(named)).toEqual(new Set(urls));
    expect(results[0]).toMatchObject({ url: 'https://example.com/ok', sourceUrl: 'Example.com/ok' });
    expect(errors.find(({ url }) => url.endsWith('/denied'))).toMatchObject({
      state: 'denied',
      code: 'DOMAIN_DENIED',
      message: 'The deny list of the policy file has `example.com`.',
    });
  });

  it('that is none is named in the answer when the batch goes on without it', async () => {
    const urls = ['https://example.com/a', 'mailto:me@example.com'];
    expect((await post('/v1/batch', { urls })).at('error')).toMatchObject({
      code: 'INVALID_URL',
      details: [{ field: 'urls.1' }],
    });
    const answer = await post('/v1/batch', { urls, ignoreInvalidUrls: true });
    expect(answer.at('data')).toMatchObject({
      urls: 1,
      invalidUrls: [{ url: 'mailto:me@example.com', message: expect.any(String) }],
    });
  });
});

describe('an answer', () => {
  it('has the URL of a scrape as it was submitted', async () => {
    const scraped = await post('/v1/scrape', { url: ' HTTPS://example.com/x#y ' });
    expect(scraped.at('data')).toMatchObject({
      url: 'https://example.com/x',
      sourceUrl: ' HTTPS://example.com/x#y ',
    });
  });

  it('links to the job', async () => {
    const answer = await post('/v1/batch', { urls: ['https://example.com/l'] });
    const self = `/v1/jobs/${answer.at('data.id')}`;
    expect(answer.at('data.links')).toEqual({
      self,
      results: `${self}/results`,
      errors: `${self}/errors`,
      urls: `${self}/urls`,
    });
    const keys = await platform.call({ url: '/v1/keys' });
    expect(keys.at('data.items.0.links.self')).toBe(`/v1/keys/${keys.at('data.items.0.id')}`);
  });
});

it('a job that has ended cannot be cancelled', async () => {
  const id = await batch({ urls: ['https://example.com/c'] });
  const answer = await post(`/v1/jobs/${id}/cancel`);
  expect([answer.statusCode, answer.at('error.code')]).toEqual([409, 'CONFLICT']);
  expect(answer.at('error.message')).toBe('The job has ended (completed); there is nothing to cancel.');
});

describe('why', () => {
  it('tells how a URL was found, what was tried and where its body is', async () => {
    const id = await batch({ urls: ['example.com/why'] });
    const answer = await platform.call({ url: `/v1/jobs/${id}/why?url=https://example.com/why` });
    expect(answer.at('data')).toMatchObject({ state: 'done', code: null, rule: null });
    expect((answer.at('data.sentences') as string[]).join('\n')).toMatch(
      /^It is a start URL of the job, submitted as `example\.com\/why`; .*\nAttempt 1: engine `http`, without a proxy, identity `bot`\..*status 200.*\nIt was fetched, and its page stored at .*\nIts body .* is stored under the SHA-256 [0-9a-f]{64}\./,
    );
  });

  it('tells which rule kept a URL from being fetched', async () => {
    const id = await batch({ urls: ['https://example.com/denied'] });
    const answer = await platform.call({ url: `/v1/jobs/${id}/why?url=https://example.com/denied` });
    expect(answer.at('data')).toMatchObject({
      state: 'denied',
      code: 'DOMAIN_DENIED',
      rule: 'policy.deny-list:example.com',
    });
    expect(answer.at('data.sentences')).toContain(
      'It was not allowed to be fetched. The deny list of the policy file has `example.com`. [policy.deny-list:example.com]',
    );
  });

  it('tells of a URL that the job has never seen what would have become of it', async () => {
    const payload = { urls: ['https://example.com/s'], exclude: ['/admin/*'], maxPages: 1, sitemap: 'skip' };
    const answer = await post('/v1/crawl', payload);
    const id = answer.at('data.id') as string;
    await platform.jobs.waitFor(id as JobId, 60_000);
    const why = async (url: string) =>
      (await platform.call({ url: `/v1/jobs/${id}/why?url=${encodeURIComponent(url)}` })).at('data');
    expect(await why('https://example.com/admin/x')).toMatchObject({
      state: 'unseen',
      rule: 'scope.exclude:/admin/*',
      sentences: [
        expect.stringContaining('never seen'),
        'Had it been found, it would not have been fetched: The exclude pattern `/admin/*` matches it. [scope.exclude:/admin/*]',
      ],
      entry: null,
    });
    expect(await why('https://other.test/')).toMatchObject({ rule: 'scope.domain' });
    expect(await why('https://example.com/fine')).toMatchObject({ state: 'unseen', rule: null });
  });

  it('finds the newest job that knows the URL behind many newer ones, whether a server or a folder is asked', async () => {
    const url = 'https://example.com/old/denied';
    await batch({ urls: [url] });
    const id = await batch({ urls: [url] });
    for (let newer = 0; newer < 210; newer += 1)
      await batch({ urls: [`https://example.com/newer/${newer}`] });
    const answer = await platform.call({ url: `/v1/why?url=${url}` });
    expect(answer.at('data')).toMatchObject({ jobId: id, state: 'denied', entry: { url } });
    const { store } = platform;
    const beside = await whyInNewest(store, await store.defaultAccount(), url);
    expect(beside).toMatchObject({ job: { id }, answer: { state: 'denied' } });
    const unknown = await platform.call({ url: '/v1/why?url=https://example.com/unknown' });
    const [newest] = await itemsOf('/v1/jobs?limit=1');
    expect(unknown.at('data')).toMatchObject({
      jobId: (newest as { id?: string } | undefined)?.id,
      state: 'unseen',
    });
  });

  it('refuses what is no URL, and jobs of others', async () => {
    const id = await batch({ urls: ['https://example.com/w'] });
    const wrong = await platform.call({ url: `/v1/jobs/${id}/why?url=mailto:x` });
    expect([wrong.statusCode, wrong.at('error.code')]).toEqual([422, 'INVALID_URL']);
    expect((await platform.call({ url: '/v1/why?url=mailto:x' })).at('error.code')).toBe('INVALID_URL');
    const none = await platform.call({ url: `/v1/jobs/${id}/why` });
    expect(none.at('error.details')).toEqual([{ field: 'url', message: '`url` is required.' }]);
    expect(
      (await platform.call({ url: `/v1/jobs/${platform.jobs.newId()}/why?url=x.test` })).statusCode,
    ).toBe(404);
  });
});
