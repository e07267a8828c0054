import { describe, expect, it } from 'vitest';
import type { ContentHash, JobSeq, TaskId } from '../../core/model/ids.ts';
import type { PageOptions } from '../../core/model/job.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { packRecord } from '../../core/model/page-record.ts';
import { type ArchivedJob, exchangeOfPage } from './exchange.ts';

const plain = {
  method: 'GET',
  headers: {},
  cookies: {},
  body: null,
  proxy: null,
  render: null,
  session: null,
};
const jobWith = (page: Partial<PageOptions> = {}) =>
  ({ id: 'job-1', options: { page: { ...plain, ...page } } }) as unknown as ArchivedJob;

const cookie = {
  ...{ name: 'id', value: 's3cret', domain: '.a.example', path: '/', expiresAt: '2030-01-02T03:04:05.000Z' },
  ...{ isSecure: true, isHttpOnly: true, sameSite: 'lax' as const },
};
const record: PageRecord = {
  metadata: null,
  links: [],
  outcome: 'ok',
  headers: { 'content-type': 'text/html', link: ['<a>', '<b>'] },
  cookies: [cookie],
  redirects: [{ url: 'http://a.example/', statusCode: 301 }],
};
const pageWith = (more: Partial<Page> = {}, kept: PageRecord = record) =>
  ({
    ...{
      url: 'http://a.example/',
      finalUrl: 'https://a.example/',
      statusCode: 200,
      contentType: 'text/html',
    },
    ...{ contentHash: 'abc' as ContentHash, fetchedAt: 7, depth: 0, errorCode: null, errorMessage: null },
    ...{ taskId: 1 as TaskId, jobSeq: 1 as JobSeq, record: packRecord(kept) },
    ...more,
  }) as Page;
const blobs = { get: async () => Buffer.from('body') };

describe('a stored page as an exchange', () => {
  it('has its headers in order, and the cookies that it set', async () => {
    const exchange = await exchangeOfPage(pageWith(), jobWith(), blobs);
    expect(exchange.headers).toEqual([
      ['content-type', 'text/html'],
      ['link', '<a>'],
      ['link', '<b>'],
      [
        'set-cookie',
        'id=s3cret; Domain=.a.example; Path=/; Expires=Wed, 02 Jan 2030 03:04:05 GMT; Secure; HttpOnly; SameSite=lax',
      ],
    ]);
    expect(exchange.redirects).toEqual([{ url: 'http://a.example/', statusCode: 301 }]);
  });

  it.each([
    ['a session', { session: 'me' }],
    ['cookies of its caller', { cookies: { id: 'mine' } }],
    ['a header that may hold a key', { headers: { Authorization: 'Bearer mine' } }],
    ['a header that is stored hidden', { headers: { 'X-Api-Key': '[hidden]' } }],
  ])('has no cookie and no secret header when it was requested with %s', async (_name, page) => {
    const job = jobWith({
      ...page,
      headers: { Accept: 'text/html', ...('headers' in page ? page.headers : {}) },
    });
    const exchange = await exchangeOfPage(pageWith(), job, blobs);
    expect(JSON.stringify(exchange)).not.toMatch(/s3cret|mine|hidden/);
    expect(exchange.requestHeaders).toEqual([['accept', 'text/html']]);
  });

  it('has no body where that was deleted', async () => {
    expect((await exchangeOfPage(pageWith({ expired: ['bodies'] }), jobWith(), blobs)).body).toBeNull();
  });

  it('of a stored body has the time when that was fetched', async () => {
    const cached = pageWith({}, { ...record, cache: { hit: true, storedAt: '2026-01-02T03:04:05.000Z' } });
    const { fetchedAt } = await exchangeOfPage(cached, jobWith(), blobs);
    expect(fetchedAt).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
  });
});
