import { expect } from 'vitest';
import type { ContentHash } from '../../../src/core/model/ids.ts';
import type { Claim } from '../contract.ts';
import {
  ATTEMPT,
  at,
  completion,
  createJob,
  DONE,
  FAILED,
  newPage,
  pages,
  T0,
  take,
  urlKeyOf,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const hashOf = (letter: string) => letter.repeat(64) as ContentHash;

/** Pages that later ones, and later jobs, refer to. */
export function storedPagesContract(holds: Claim<TimedStore>): void {
  holds('names the first page of the job with the same body', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 5));
    await createJob(store, urlsOn('b.test', 1));
    const { lease, tasks } = await take(store, 'a.test');
    const other = await take(store, 'b.test');
    const done = (index: number, letter: string, changes = {}) => {
      const task = at(tasks, index);
      return completion(lease, task, DONE, {
        page: newPage(task, { contentHash: hashOf(letter), ...changes }),
      });
    };
    const elsewhere = at(other.tasks, 0);
    const page = newPage(elsewhere, { contentHash: hashOf('a') });
    await store.commit([completion(other.lease, elsewhere, DONE, { page })], T0);
    const first = await store.commit([done(0, 'a'), done(1, 'b'), done(2, 'a')], T0);
    expect(first.duplicates).toEqual([{ taskId: at(tasks, 2).id, url: 'https://a.test/0' }]);
    // The first part of this hash is that of another body.
    const alike = { contentHash: `${'a'.repeat(32)}${'c'.repeat(32)}` as ContentHash };
    const said = { duplicateOf: 'https://a.test/said' };
    const second = await store.commit([done(3, 'a', alike), done(4, 'a', said)], T0);
    expect(second.duplicates).toEqual([]);
    expect((await pages(store, id)).map(({ duplicateOf }) => duplicateOf)).toEqual([
      null,
      null,
      'https://a.test/0',
      null,
      'https://a.test/said',
    ]);
  });

  holds('does not take a page with an error for the original of another', async (store) => {
    await createJob(store, urlsOn('a.test', 2));
    const { lease, tasks } = await take(store, 'a.test');
    const failed = newPage(at(tasks, 0), { contentHash: hashOf('a'), errorCode: 'HTTP_ERROR' });
    const whole = newPage(at(tasks, 1), { contentHash: hashOf('a') });
    const { duplicates } = await store.commit(
      [
        completion(lease, at(tasks, 0), FAILED, { page: failed }),
        completion(lease, at(tasks, 1), DONE, { page: whole }),
      ],
      T0,
    );
    expect(duplicates).toEqual([]);
  });

  holds('finds the pages of a job by their URLs', async (store) => {
    const { id, options } = await createJob(store, urlsOn('a.test', 3));
    const { lease, tasks } = await take(store, 'a.test');
    const page = newPage(at(tasks, 0), { etag: '"1"', lastModified: 'yesterday' });
    const failed = newPage(at(tasks, 1), { errorCode: 'HTTP_ERROR' });
    await store.commit(
      [
        completion(lease, at(tasks, 0), DONE, { page, trace: [{ ...ATTEMPT, engine: 'browser' }] }),
        completion(lease, at(tasks, 1), FAILED, { page: failed }),
      ],
      T0,
    );
    const keys = [...urlsOn('a.test', 3), 'https://a.test/unknown'].map(urlKeyOf);
    const [found, ...more] = await store.pagesOf(id, keys);
    expect(more).toEqual([]);
    expect(found).toEqual({
      url: page.url,
      finalUrl: page.finalUrl,
      statusCode: 200,
      contentType: page.contentType,
      contentHash: page.contentHash,
      bytes: page.bytes,
      etag: '"1"',
      lastModified: 'yesterday',
      fetchedAt: page.fetchedAt,
      urlKey: urlKeyOf(page.url),
      engine: 'browser',
      options: options.page,
    });
    expect(await store.pagesOf('no-such-job' as typeof id, keys)).toEqual([]);
    expect(await store.pagesOf(id, [])).toEqual([]);
  });

  holds('finds what was asked for by name over all jobs of the account, newest first', async (store) => {
    const url = 'https://a.test/0';
    const fetched: number[] = [];
    for (const [kind, at0] of [
      ['scrape', 1_000],
      ['crawl', 2_000],
      ['batch', 3_000],
    ] as const) {
      await createJob(store, [url], { kind });
      const { lease, tasks } = await take(store, 'a.test', 1, T0 + at0);
      const page = newPage(at(tasks, 0), { fetchedAt: T0 + at0 });
      await store.commit([completion(lease, at(tasks, 0), DONE, { page })], T0 + at0);
      await store.releaseHost(lease, lease.state, 0, T0 + at0);
      fetched.push(T0 + at0);
    }
    const accountId = await store.defaultAccount();
    const query = { accountId, urlKey: urlKeyOf(url), since: T0, limit: 10 };
    const times = async (changes: Partial<typeof query> = {}) =>
      (await store.recentPages({ ...query, ...changes })).map((page) => page.fetchedAt);
    expect(await times()).toEqual([fetched[2], fetched[0]]);
    expect(await times({ since: T0 + 3_000 })).toEqual([fetched[2]]);
    expect(await times({ limit: 1 })).toEqual([fetched[2]]);
    expect(await times({ urlKey: urlKeyOf('https://a.test/1') })).toEqual([]);
    expect(await times({ accountId: 'another' as typeof accountId })).toEqual([]);
  });
}
