import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import type { JobId } from '../core/model/ids.ts';

let platform: Platform;
let id: string;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work((task) =>
    task.url.endsWith('/7')
      ? { end: { state: 'failed', rule: null, errorCode: 'HTTP_ERROR' }, statusCode: 500 }
      : DONE,
  );
  const urls = Array.from({ length: 12 }, (_, each) => `https://example.com/${each}`);
  const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload: { urls } });
  id = answer.at('data.id') as string;
  await platform.jobs.waitFor(id as JobId, 60_000);
});
afterAll(() => platform.close());

const ask = (payload: object) => platform.call({ method: 'POST', url: '/v1/query', payload });

describe('POST /v1/query', () => {
  it('answers with rows, and with a cursor for the next ones', async () => {
    const request = {
      from: 'pages',
      select: ['url'],
      where: { field: 'jobId', value: id },
      order: ['-url'],
      limit: 7,
    };
    const first = await ask(request);
    expect(first.statusCode).toBe(200);
    expect(first.at('data.columns')).toEqual([{ name: 'url', type: 'text' }]);
    const next = await ask({ ...request, cursor: first.at('data.nextCursor') });
    const urls = [first, next]
      .flatMap((each) => each.at('data.items') as { url: string }[])
      .map(({ url }) => url);
    expect(urls).toEqual(
      Array.from({ length: 12 }, (_, n) => `https://example.com/${n}`)
        .sort()
        .reverse(),
    );
    expect(next.at('data.nextCursor')).toBeNull();
  });

  it('counts groups', async () => {
    const answer = await ask({ from: 'pages', group: ['host', { field: 'fetchedAt', by: 'year' }] });
    expect(answer.at('data.items')).toMatchObject([{ host: 'example.com', count: 12 }]);
    expect(answer.at('data.isTruncated')).toBe(false);
  });

  it('refuses what is wrong, by the name of the field', async () => {
    const answer = await ask({ from: 'pages', select: ['statuscode'] });
    expect(answer.statusCode).toBe(422);
    expect(answer.at('error.details')).toEqual([
      { field: 'select.0', message: 'There is no field "statuscode" of pages; did you mean "statusCode"?' },
    ]);
    expect((await ask({ from: 'pages', wher: {} })).statusCode).toBe(422);
    expect((await ask({})).statusCode).toBe(422);
  });
});
