import { describe, expect, it } from 'vitest';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { ContentHash, JobId, UrlKey } from '../../../core/model/ids.ts';
import type { PageOptions } from '../../../core/model/job.ts';
import { FETCH_OPTIONS } from '../../../core/model/plain-options.ts';
import type { RecentPageQuery, StoredPage } from '../../../core/ports/job-store.ts';
import { type JobChanges, runningOf, T0 } from './claimed-task.fixture.ts';
import { createStoredPages } from './stored-pages.ts';

const task = { url: 'https://site.test/p', urlKey: 'key' as UrlKey } as Parameters<
  ReturnType<typeof createStoredPages>['fresh']
>[0];

async function plainOptions(changes: Partial<PageOptions> = {}): Promise<PageOptions> {
  return { ...(await runningOf()).job.options.page, ...changes };
}

async function storedPage(changes: Partial<StoredPage> = {}): Promise<StoredPage> {
  return {
    url: task.url,
    finalUrl: task.url,
    statusCode: 200,
    contentType: 'text/html',
    contentHash: 'h1' as ContentHash,
    bytes: 4,
    etag: '"1"',
    lastModified: null,
    fetchedAt: T0,
    urlKey: task.urlKey,
    engine: 'http',
    options: await plainOptions(),
    ...changes,
  };
}

function pagesOver(found: readonly StoredPage[], bodies: readonly string[] = ['h1']) {
  const asked: unknown[] = [];
  const pages = createStoredPages({
    store: {
      async recentPages(query: RecentPageQuery) {
        asked.push(query);
        return found.filter((page) => page.fetchedAt >= query.since);
      },
      async pagesOf(job, keys) {
        asked.push([job, keys]);
        return found.filter(({ urlKey }) => keys.includes(urlKey));
      },
    },
    blobs: {
      get: async (hash) => (bodies.includes(hash) ? Buffer.from('body') : null),
      has: async (hash) => bodies.includes(hash),
    },
    now: () => T0 + 10_000,
  });
  return { pages, asked };
}
const wanting = (page: JobChanges['page']) => runningOf({ page: { maxAgeMs: 60_000, ...page } });

describe('a page for maxAge', () => {
  it('is one that was stored within that time', async () => {
    const { pages, asked } = pagesOver([await storedPage()]);
    const running = await wanting({});
    expect(await pages.fresh(task, running)).toMatchObject({ page: { fetchedAt: T0 } });
    expect(asked).toMatchObject([{ since: T0 - 50_000, urlKey: 'key', accountId: running.job.accountId }]);
    expect(await pages.fresh(task, await wanting({ maxAgeMs: 9_999 }))).toBeNull();
    expect(await pages.fresh(task, await wanting({ maxAgeMs: 10_000 }))).not.toBeNull();
  });

  it.each<[string, Partial<PageOptions>]>([
    ['headers', { headers: { a: 'b' } }],
    ['cookies', { cookies: { a: 'b' } }],
    ['a session', { session: 'me' }],
    ['a proxy', { proxy: { tier: 'mobile', country: null, url: null } }],
    ['a POST', { method: 'POST' }],
    ['actions', { render: { actions: [{ type: 'click', selector: 'a' }] } }],
  ])('is none where the request, or that of the stored page, had %s', async (_, options) => {
    const { pages, asked } = pagesOver([await storedPage()]);
    expect(await pages.fresh(task, await wanting(options))).toBeNull();
    expect(asked).toEqual([]);
    const personal = await storedPage({ options: await plainOptions(options) });
    expect(await pagesOver([personal]).pages.fresh(task, await wanting({}))).toBeNull();
  });

  it.each<[string, Partial<PageOptions>]>([
    ['engine', { engine: 'browser' }],
    ['identity', { identity: 'browser' }],
    ['wait', { render: { wait: { ms: 1 } } }],
    ['limit', { maxBodyBytes: 3 }],
    ['picture', { formats: ['screenshot'], render: { screenshot: {} } }],
  ])('is none that was fetched another way: %s', async (_, options) => {
    expect(await pagesOver([await storedPage()]).pages.fresh(task, await wanting(options))).toBeNull();
  });

  it.each(FETCH_OPTIONS)(
    'is none where %s is another, in the request or in that of the stored page',
    async (name) => {
      const other = { [name]: name === 'render' ? { scroll: true } : 'another' } as Partial<PageOptions>;
      const wanted = await wanting(other);
      expect(await pagesOver([await storedPage()]).pages.fresh(task, wanted)).toBeNull();
      const unlike = await storedPage({ options: await plainOptions(other) });
      expect(await pagesOver([unlike]).pages.fresh(task, await wanting({}))).toBeNull();
      expect(await pagesOver([unlike]).pages.fresh(task, wanted)).not.toBeNull();
    },
  );

  it('is compared by each option that what is fetched depends on', () => {
    expect([...FETCH_OPTIONS].sort()).toEqual([
      'engine',
      'identity',
      'identityBrowser',
      'obeyRobots',
      'render',
      'scrollsByType',
    ]);
  });

  it('is none whose request wanted it to answer no other', async () => {
    const hidden = await storedPage({ options: await plainOptions({ isReusable: false }) });
    const kept = await storedPage({ fetchedAt: T0 - 1 });
    const running = await wanting({ isReusable: false });
    expect(await pagesOver([hidden]).pages.fresh(task, running)).toBeNull();
    expect(await pagesOver([hidden, kept]).pages.fresh(task, running)).toMatchObject({ page: kept });
  });

  it('is the next one when a body is gone, and none when the store is away', async () => {
    const gone = await storedPage({ contentHash: 'gone' as ContentHash });
    const kept = await storedPage({ fetchedAt: T0 + 1 });
    const running = await wanting({});
    expect(await pagesOver([gone, kept]).pages.fresh(task, running)).toMatchObject({ page: kept });
    const { pages } = pagesOver([]);
    const away = createStoredPages({
      store: {
        recentPages: () => Promise.reject(new ScrapifieError('STORE_UNAVAILABLE', 'away')),
        pagesOf: async () => [],
      },
      blobs: { get: async () => null, has: async () => false },
      now: () => T0,
    });
    expect([await pages.fresh(task, running), await away.fresh(task, running)]).toEqual([null, null]);
  });
});

describe('the page of the crawl before', () => {
  const before = 'job-0' as JobId;
  const recrawl = async () => {
    const running = await runningOf();
    return { ...running, job: { ...running.job, options: { ...running.job.options, refreshes: before } } };
  };

  it('is looked up together with those of the tasks that start at the same time', async () => {
    const other = await storedPage({ urlKey: 'other' as UrlKey });
    const { pages, asked } = pagesOver([await storedPage(), other]);
    const running = await recrawl();
    const keys = ['key', 'other', 'unknown'] as UrlKey[];
    const found = await Promise.all(keys.map((urlKey) => pages.earlier({ ...task, urlKey }, running)));
    expect(found.map((page) => page?.urlKey ?? null)).toEqual(['key', 'other', null]);
    expect(asked).toEqual([[before, keys]]);
  });

  it.each<[string, Partial<StoredPage>]>([
    ['has no validator', { etag: null }],
    ['was shown by a browser', { engine: 'browser' }],
    ['has lost its body', { contentHash: 'gone' as ContentHash }],
  ])('is none that %s', async (_, changes) => {
    const { pages } = pagesOver([await storedPage(changes)]);
    expect(await pages.earlier(task, await recrawl())).toBeNull();
  });

  it('is none for a job that asks for all pages', async () => {
    const { pages, asked } = pagesOver([await storedPage()]);
    expect(await pages.earlier(task, await runningOf())).toBeNull();
    expect(asked).toEqual([]);
  });
});
