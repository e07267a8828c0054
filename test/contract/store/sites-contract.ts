import { expect } from 'vitest';
import type { JobId } from '../../../src/core/model/ids.ts';
import type { SitePageQuery } from '../../../src/core/ports/job-pages-store.ts';
import type { Claim } from '../contract.ts';
import {
  at,
  completion,
  createJob,
  DONE,
  FAILED,
  foundOn,
  newPage,
  newTask,
  T0,
  take,
  urlKeyOf,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** The URLs of a job in an order that is the same in every job. */
export function sitesContract(holds: Claim<TimedStore>): void {
  const urls = urlsOn('a.test', 9);
  const keys = urls.map(urlKeyOf).sort();

  holds('lists URLs by their keys, whatever order they were found in, a part at a time', async (store) => {
    const forth = await createJob(store, urls);
    const back = await createJob(store, [...urls].reverse());
    for (const { id: jobId } of [forth, back]) {
      const seen: string[] = [];
      let query: SitePageQuery = { jobId, limit: 4 };
      for (;;) {
        const rows = await store.listSitePages(query);
        expect((await store.listSiteHashes(query)).map(({ urlKey }) => urlKey)).toEqual(
          rows.map(({ urlKey }) => urlKey),
        );
        seen.push(...rows.map(({ urlKey }) => urlKey));
        if (rows.length < query.limit) break;
        query = { ...query, after: rows.at(-1)?.urlKey };
      }
      expect(seen).toEqual(keys);
    }
  });

  holds('gives what became of a URL, with its page and what led to it', async (store) => {
    const { id: jobId } = await createJob(store, [
      'https://a.test/0',
      newTask('https://a.test/robots.txt', { kind: 'site' }),
      newTask('https://a.test/out', { state: 'skipped', rule: 'scope.exclude:/out' }),
    ]);
    const { lease, tasks } = await take(store, 'a.test', 1);
    const [first] = tasks;
    if (first === undefined) throw new Error('Nothing was claimed.');
    const page = newPage(first, { textHash: 'f'.repeat(32), record: null });
    const discovered = [foundOn(first, 'https://a.test/1')];
    await store.commit([completion(lease, first, DONE, { page, discovered })], T0);
    const again = await store.claimTasks(lease, 10, T0, []);
    const failed = again.find(({ url }) => url === 'https://a.test/1');
    if (failed === undefined) throw new Error('The link was not claimed.');
    const error = newPage(failed, { errorCode: 'HTTP_ERROR', statusCode: 404 });
    await store.commit([completion(lease, failed, FAILED, { page: error })], T0);

    const rows = await store.listSitePages({ jobId, limit: 10 });
    const byUrl = new Map(rows.map((row) => [row.url, row]));
    expect([...byUrl.keys()].sort()).toEqual(['https://a.test/0', 'https://a.test/1', 'https://a.test/out']);
    expect(byUrl.get('https://a.test/0')).toMatchObject({
      state: 'done',
      foundBy: 'seed',
      foundOn: null,
      rule: null,
      page: { ...page, taskId: first.id },
    });
    expect(byUrl.get('https://a.test/1')).toMatchObject({
      state: 'failed',
      foundBy: 'link',
      foundOn: 'https://a.test/0',
      errorCode: 'errorCode' in FAILED ? FAILED.errorCode : null,
      page: { statusCode: 404, errorCode: 'HTTP_ERROR' },
    });
    expect(byUrl.get('https://a.test/out')).toMatchObject({
      state: 'skipped',
      rule: 'scope.exclude:/out',
      page: null,
    });
    const hashes = await store.listSiteHashes({ jobId, limit: 10 });
    expect(Object.fromEntries(hashes.map(({ url, textHash }) => [url, textHash]))).toEqual({
      'https://a.test/0': 'f'.repeat(32),
      'https://a.test/1': null,
      'https://a.test/out': null,
    });
  });

  holds('finds URLs by their keys', async (store) => {
    const { id: jobId } = await createJob(store, urls);
    const urlKeys = [at(urls, 3), at(urls, 5), 'https://a.test/unknown'].map(urlKeyOf);
    const found = await store.listSitePages({ jobId, urlKeys, limit: 10 });
    expect(found.map(({ url }) => url).sort()).toEqual(['https://a.test/3', 'https://a.test/5']);
    expect(await store.listSitePages({ jobId, urlKeys: [], limit: 10 })).toEqual([]);
  });

  holds('has nothing of a job that is gone', async (store) => {
    const { id: jobId } = await createJob(store, urls);
    await store.cancelJob(jobId, T0);
    await store.deleteJob(jobId);
    for (const gone of [jobId, 'no-such-job' as JobId]) {
      expect(await store.listSitePages({ jobId: gone, limit: 10 })).toEqual([]);
      expect(await store.listSiteHashes({ jobId: gone, limit: 10 })).toEqual([]);
    }
  });
}
