import { expect } from 'vitest';
import type { ContentHash } from '../../../src/core/model/ids.ts';
import type { PageRecord } from '../../../src/core/model/page.ts';
import { packRecord } from '../../../src/core/model/page-record.ts';
import type { Claim } from '../contract.ts';
import { at, completion, createJob, DONE, done, FAILED, newPage, T0, take, urlsOn } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const hashOf = (n: number) => n.toString(16).padStart(64, '0') as ContentHash;
const artifact = (n: number) => ({ contentHash: hashOf(n), contentType: 'image/png', bytes: 1 });

/** What stored pages refer to, and who may act on it. */
export function referencesContract(holds: Claim<TimedStore>): void {
  const referred = async (store: TimedStore, limit = 3) => {
    const found = new Set<ContentHash>();
    let cursor: string | undefined;
    for (;;) {
      const { items, nextCursor } = await store.listReferences({ limit, cursor });
      for (const hash of items) found.add(hash);
      if (nextCursor === null) return [...found].toSorted();
      cursor = nextCursor;
    }
  };
  const storeBodies = async (store: TimedStore, host: string, hashes: readonly (ContentHash | null)[]) => {
    const { id } = await createJob(store, urlsOn(host, hashes.length));
    const { lease, tasks } = await take(store, host);
    const completions = tasks.map((task, n) => ({
      ...done(lease, task),
      page: newPage(task, { contentHash: hashes[n] ?? null }),
    }));
    await store.commit(completions, T0);
    return id;
  };

  holds('tells every body that a page refers to, until its job is deleted', async (store) => {
    const first = await storeBodies(store, 'a.test', [hashOf(1), hashOf(2), null, hashOf(3), hashOf(2)]);
    await storeBodies(store, 'b.test', [hashOf(3), hashOf(4)]);
    expect(await referred(store)).toEqual([1, 2, 3, 4].map(hashOf));
    expect(await referred(store, 1)).toEqual([1, 2, 3, 4].map(hashOf));
    await store.deleteJob(first);
    expect(await referred(store)).toEqual([3, 4].map(hashOf));
  });

  holds('tells no reference of a store without pages', async (store) => {
    expect(await store.listReferences({ limit: 10 })).toEqual({ items: [], nextCursor: null });
  });

  for (const [size, links] of [
    ['a short', 0],
    ['a compressed', 2_000],
  ] as const) {
    holds(`tells what ${size} record of a shown page refers to`, async (store) => {
      await createJob(store, urlsOn('a.test', 2));
      const { lease, tasks } = await take(store, 'a.test');
      const plain = {
        metadata: null,
        links: Array.from({ length: links }, (_, n) => ({
          url: `http://a.test/${n}`,
          text: `link ${n} {"contentHash":"${hashOf(99)}"}`,
          rel: '',
          from: 'a',
        })),
      } satisfies PageRecord;
      const record: PageRecord = {
        rendered: {
          screenshot: artifact(1),
          pdf: artifact(2),
          xhr: [
            {
              url: '/',
              method: 'GET',
              statusCode: 200,
              contentType: null,
              isTooLarge: false,
              body: artifact(3),
            },
            { url: '/', method: 'GET', statusCode: 200, contentType: null, isTooLarge: false, text: 'short' },
          ],
          actions: [
            { type: 'screenshot', ms: 1, picture: artifact(4) },
            { type: 'click', ms: 1 },
          ],
          raw: { contentHash: hashOf(5), charset: 'utf-8' },
        },
        ...plain,
      };
      await store.commit(
        [
          {
            ...done(lease, at(tasks, 0)),
            page: newPage(at(tasks, 0), { contentHash: hashOf(6), record: packRecord(record) }),
          },
          {
            ...done(lease, at(tasks, 1)),
            page: newPage(at(tasks, 1), { contentHash: hashOf(7), record: packRecord(plain) }),
          },
        ],
        T0,
      );
      expect(await referred(store)).toEqual([1, 2, 3, 4, 5, 6, 7].map(hashOf));
    });
  }

  holds('tells the page that replaced another, and not the one that it replaced', async (store) => {
    const { id } = await createJob(store, ['http://a.test/']);
    const first = await take(store, 'a.test');
    const failed = completion(first.lease, at(first.tasks, 0), FAILED);
    await store.commit([{ ...failed, page: newPage(at(first.tasks, 0), { contentHash: hashOf(1) }) }], T0);
    expect(await referred(store)).toEqual([hashOf(1)]);
    await store.releaseHost(first.lease, first.lease.state, 0, T0);
    await store.retryJob(id, T0);
    const second = await take(store, 'a.test');
    const ended = completion(second.lease, at(second.tasks, 0), DONE);
    await store.commit([{ ...ended, page: newPage(at(second.tasks, 0), { contentHash: hashOf(2) }) }], T0);
    expect(await referred(store)).toEqual([hashOf(2)]);
  });

  holds('gives a piece of work to one owner at a time, until it is given back', async (store) => {
    const lease = (owner: string, ms = 60_000) => store.leaseWork('blob-sweep', owner, ms);
    expect(await Promise.all([lease('one'), lease('one')])).toEqual([true, true]);
    expect(await lease('two')).toBe(false);
    await store.endWork('blob-sweep', 'two');
    expect(await lease('two')).toBe(false);
    await store.endWork('blob-sweep', 'one');
    expect(await lease('two', 0)).toBe(true);
    // That one was for no time at all.
    expect(await lease('one')).toBe(true);
  });
}
