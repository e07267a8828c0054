import fc from 'fast-check';
import { expect } from 'vitest';
import type { QueryRequest } from '../../../src/capabilities/query/parse-query.ts';
import { createQueries } from '../../../src/capabilities/query/queries.ts';
import type { AccountId } from '../../../src/core/model/ids.ts';
import { QUERY_CATALOGUE, QUERY_SOURCES } from '../../../src/core/model/query-fields.ts';
import { NO_LIMITS as NO_ACCOUNT_LIMITS } from '../../../src/core/ports/account-store.ts';
import type { Claim } from '../contract.ts';
import { claim, createJob, done, LEASE_MS, NO_LIMITS, newTask, OPTIONS, own, T0, take } from './fixtures.ts';
import { answerOf, anyQuery, storePages, storeSnapshots } from './query-world.ts';
import type { TimedStore } from './timed-store.ts';

const NUMBERS = Array.from({ length: 60 }, (_, index) => index);
const RUNS = 120;

const asTime = (value: unknown, type: string | undefined) =>
  type === 'time' && typeof value === 'number' ? new Date(value).toISOString() : value;

async function otherAccount(store: TimedStore): Promise<AccountId> {
  const id = 'other' as AccountId;
  await store.createAccount({ id, name: 'Other', plan: 'custom', limits: NO_ACCOUNT_LIMITS }, null);
  return id;
}

/** Follows the cursor to the end. */
async function walk(store: TimedStore, accountId: AccountId, request: QueryRequest) {
  const queries = createQueries(store);
  const items: Readonly<Record<string, unknown>>[] = [];
  let cursor: string | undefined;
  for (let step = 0; step < 1_000; step += 1) {
    const answer = await queries.run({ accountId, hasPrivate: false }, { ...request, cursor });
    items.push(...answer.items);
    if (answer.nextCursor === null) return items;
    cursor = answer.nextCursor;
  }
  throw new Error('The query has no end.');
}

/** Typed queries: every store gives the rows that a plain evaluation of the same pages gives, and none of other accounts. */
export function queriesContract(holds: Claim<TimedStore>): void {
  holds('any query gives the rows of a plain evaluation, in its order', async (store) => {
    const accountId = await store.defaultAccount();
    const pages = [
      ...(await storePages(store, accountId, 'a.test', NUMBERS)),
      ...(await storePages(store, accountId, 'b.test:8080', NUMBERS.slice(0, 25))),
    ];
    const other = await otherAccount(store);
    await storePages(store, other, 'c.test', NUMBERS.slice(0, 30));
    const snapshots = await storeSnapshots(store, accountId, 's.test', NUMBERS.slice(0, 40));
    const queries = createQueries(store, { limits: { pages: 1_000, limitMs: 60_000 } });
    await fc.assert(
      fc.asyncProperty(anyQuery(), async (request) => {
        const answer = await queries.run({ accountId, hasPrivate: false }, request);
        const types = answer.columns.map(({ type }) => type);
        const expected = answerOf(request, { pages, snapshots }).map((row) =>
          row.map((value, index) => asTime(value, types[index])),
        );
        expect(answer.items.map((item) => answer.columns.map(({ name }) => item[name]))).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  holds('a query that is read in steps gives each row once, in every order', async (store) => {
    const accountId = await store.defaultAccount();
    const pages = await storePages(store, accountId, 'a.test', NUMBERS.slice(0, 30));
    for (const order of [[], ['title'], ['-statusCode', 'title'], ['errorCode', '-bytes'], ['-fetchedAt']]) {
      for (const from of ['pages', 'links']) {
        const select = from === 'pages' ? ['url', 'title'] : ['pageUrl', 'url', 'position'];
        const sorted = order.filter((name) => from === 'pages' || !/title|bytes|errorCode/.test(name));
        const request = { from, select, order: sorted };
        const items = await walk(store, accountId, { ...request, limit: 7 });
        const expected = answerOf({ ...request, limit: 1_000 }, { pages, snapshots: [] });
        expect(items.map((item) => select.map((name) => item[name]))).toEqual(expected);
      }
    }
  });

  holds('no field of any source shows a row of another account', async (store) => {
    const accountId = await store.defaultAccount();
    const other = await otherAccount(store);
    await storePages(store, other, 'secret.test', NUMBERS.slice(0, 20));
    await storeSnapshots(store, other, 's.secret.test', NUMBERS.slice(0, 20));
    const queries = createQueries(store);
    const scope = { accountId, hasPrivate: true };
    for (const source of QUERY_SOURCES) {
      for (const { name } of QUERY_CATALOGUE[source].values()) {
        const field = name === 'data' ? 'data.name' : name;
        const always = {
          or: [
            { field, op: 'isNull' },
            { field, op: 'isNotNull' },
          ],
        };
        expect((await queries.run(scope, { from: source, select: [field], where: always })).items).toEqual(
          [],
        );
        const counted = { from: source, group: [], select: [{ fn: 'count', field, as: 'n' }], where: always };
        expect((await queries.run(scope, counted)).items).toEqual([{ n: 0 }]);
      }
    }
  });

  holds('a cursor of another account leads to no row of that account', async (store) => {
    const accountId = await store.defaultAccount();
    const other = await otherAccount(store);
    await storePages(store, other, 'secret.test', NUMBERS.slice(0, 20));
    await storePages(store, accountId, 'own.test', NUMBERS.slice(0, 3));
    const queries = createQueries(store);
    const request = { from: 'pages', select: ['host'], limit: 2 };
    const theirs = await queries.run({ accountId: other, hasPrivate: true }, request);
    const { items } = await queries.run(
      { accountId, hasPrivate: true },
      { ...request, limit: 100, cursor: theirs.nextCursor ?? '' },
    );
    expect(items.every(({ host }) => host === 'own.test')).toBe(true);
  });

  holds(
    'pages that stored credentials gave access to are only for those that may read them',
    async (store) => {
      const accountId = await store.defaultAccount();
      const job = await store.createJob(
        {
          id: crypto.randomUUID() as never,
          accountId,
          kind: 'crawl',
          options: {
            ...OPTIONS,
            budgets: NO_LIMITS,
            credentials: 'read',
            page: { ...OPTIONS.page, session: 'logged-in' },
          },
          seeds: [],
          createdAt: T0,
        },
        [newTask('https://private.test/')],
      );
      const { lease, tasks } = await take(store, 'private.test');
      await store.commit(
        tasks.map((task) => done(lease, task)),
        T0,
      );
      const queries = createQueries(store);
      for (const request of [{ from: 'pages' }, { from: 'pages', select: ['h1', 'url'] }]) {
        expect((await queries.run({ accountId, hasPrivate: false }, request)).items).toEqual([]);
        expect((await queries.run({ accountId, hasPrivate: true }, request)).items).toHaveLength(1);
      }
      expect(job.options.credentials).toBe('read');
    },
  );

  holds('pages of a deleted job are not found', async (store) => {
    const accountId = await store.defaultAccount();
    const { id } = await createJob(store, ['https://gone.test/']);
    const lease = await own(store, 'gone.test');
    const tasks = await claim(store, lease);
    await store.commit(
      tasks.map((task) => done(lease, task)),
      T0 + LEASE_MS / 2,
    );
    const queries = createQueries(store);
    const ask = () => queries.run({ accountId, hasPrivate: true }, { from: 'pages', select: ['url'] });
    expect((await ask()).items).toEqual([{ url: 'https://gone.test/' }]);
    await store.deleteJob(id);
    expect((await ask()).items).toEqual([]);
  });

  holds(
    'a query that takes longer than it may is ended, and the store answers others meanwhile',
    async (store) => {
      const accountId = await store.defaultAccount();
      await storePages(store, accountId, 'a.test', NUMBERS);
      const queries = createQueries(store, { limits: { pages: 10, limitMs: 10_000 } });
      await expect(
        queries.run({ accountId, hasPrivate: true }, { from: 'links', group: ['host'] }),
      ).rejects.toMatchObject({ code: 'QUERY_TOO_LARGE' });
      const hasty = createQueries(store, { limits: { pages: 1_000, limitMs: 0 } });
      await expect(
        hasty.run({ accountId, hasPrivate: true }, { from: 'links', group: ['host'] }),
      ).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
      expect(await store.clock()).toBeGreaterThan(0);
    },
  );

  holds('rows that come from more pages than one query may read are given in steps', async (store) => {
    const accountId = await store.defaultAccount();
    const pages = await storePages(store, accountId, 'a.test', NUMBERS);
    const queries = createQueries(store, { limits: { pages: 10, limitMs: 10_000 } });
    const request = { from: 'links', select: ['pageUrl', 'url'], where: { field: 'rel', value: 'nofollow' } };
    const rows: unknown[] = [];
    let cursor: string | null = null;
    do {
      const answer: Awaited<ReturnType<typeof queries.run>> = await queries.run(
        { accountId, hasPrivate: true },
        { ...request, limit: 1_000, ...(cursor === null ? {} : { cursor }) },
      );
      rows.push(...answer.items.map((item) => request.select.map((name) => item[name])));
      cursor = answer.nextCursor;
    } while (cursor !== null);
    expect(rows).toEqual(answerOf({ ...request, limit: 1_000 }, { pages, snapshots: [] }));
  });
}
