import { expect } from 'vitest';
import type { Attempt } from '../../../src/core/model/attempt.ts';
import type { UrlKey } from '../../../src/core/model/ids.ts';
import type { Job } from '../../../src/core/model/job.ts';
import {
  LEDGER_ORDERS,
  type LedgerFilter,
  type LedgerOrder,
} from '../../../src/core/ports/ledger-view-store.ts';
import type { Claim } from '../contract.ts';
import {
  ATTEMPT,
  all,
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
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const PAGES = 12;
const MINUTE_MS = 60_000;
const LIMIT_MS = 20_000;

function attemptOf(n: number): Attempt {
  return {
    ...ATTEMPT,
    engine: n % 4 === 0 ? 'browser' : 'http',
    statusCode: n === 3 ? 404 : n === 5 ? null : 200,
    ms: 100 - n + 0.5,
    bytes: 10 * n,
    microcredits: 1_000,
  };
}

/** Pages 0 to 11 of which 3 and 5 failed, a skipped and a denied URL that page 0 links to, and a sitemap. */
async function filled(store: TimedStore): Promise<Job> {
  const job = await createJob(store, urlsOn('a.test', PAGES));
  await createJob(store, ['https://b.test/of-another-job']);
  const { lease, tasks } = await take(store, 'a.test');
  for (const [n, task] of tasks.entries()) {
    const isFailed = n === 3 || n === 5;
    await store.commit(
      [
        completion(lease, task, isFailed ? FAILED : DONE, {
          trace: [attemptOf(n)],
          page: isFailed
            ? null
            : newPage(task, {
                title: n === 7 ? null : `${n % 2 === 0 ? 'Even' : 'odd'} ${n}`,
                bytes: (n * 7) % 12,
                contentType: n === 8 ? 'Image/PNG' : 'text/html; charset=utf-8',
              }),
          discovered:
            n > 0
              ? []
              : [
                  foundOn(task, 'https://a.test/admin/1', {
                    state: 'skipped',
                    rule: 'scope.exclude:/admin/',
                  }),
                  foundOn(task, 'https://a.test/no', { state: 'denied', rule: 'robots: disallow: /no' }),
                  newTask('https://a.test/sitemap.xml', {
                    kind: 'sitemap',
                    state: 'skipped',
                    rule: 'sitemap.x',
                  }),
                ],
        }),
      ],
      T0 + n * MINUTE_MS,
    );
  }
  return job;
}

const names = (rows: readonly { readonly url: string }[]) =>
  rows.map(({ url }) => url.replace('https://a.test/', ''));

function rowsOf(
  store: TimedStore,
  job: Job,
  order: LedgerOrder,
  filter: LedgerFilter = {},
  isDescending = false,
) {
  return all((cursor) =>
    store.listLedgerRows({ job: job.seq, filter, order, isDescending, cursor, limit: 3, limitMs: LIMIT_MS }),
  );
}

/** The ledger as a table: every order is complete, every filter leaves what it says, and counts agree with the rows. */
export function ledgerViewContract(holds: Claim<TimedStore>): void {
  holds('rows of the ledger tell of URL, page and last attempt, and come in every order', async (store) => {
    const job = await filled(store);
    const rows = await rowsOf(store, job, 'discoveredAt');
    expect(names(rows)).toEqual([...Array(PAGES).keys(), 'admin/1', 'no', 'sitemap.xml'].map(String));
    expect(at(rows, 4)).toMatchObject({
      kind: 'page',
      state: 'done',
      engine: 'browser',
      durationMs: 96.5,
      microcredits: 1_000,
      statusCode: 200,
      attempts: 1,
      finishedAt: T0 + 4 * MINUTE_MS,
      page: { title: 'Even 4', bytes: 4, contentType: 'text/html; charset=utf-8' },
    });
    expect(at(rows, 3)).toMatchObject({
      state: 'failed',
      errorCode: 'CONNECT_FAILED',
      statusCode: 404,
      page: null,
    });
    expect(at(rows, 12)).toMatchObject({
      rule: 'scope.exclude:/admin/',
      foundOn: 'https://a.test/0',
      depth: 1,
    });

    const keyOf: Readonly<Record<LedgerOrder, (row: (typeof rows)[number]) => string | number | null>> = {
      discoveredAt: (row) => row.taskId,
      url: (row) => row.url,
      title: (row) => row.page?.title ?? null,
      statusCode: (row) => row.statusCode,
      finishedAt: (row) => row.finishedAt,
      bytes: (row) => row.page?.bytes ?? null,
      durationMs: (row) => row.durationMs,
      depth: (row) => row.depth,
    };
    for (const order of LEDGER_ORDERS) {
      for (const isDescending of [false, true]) {
        const expected = [...rows].sort((one, other) => {
          const [a, b] = [keyOf[order](one), keyOf[order](other)];
          if (a === b) return one.taskId - other.taskId;
          if (a === null || b === null) return a === null ? 1 : -1;
          return a < b === isDescending ? 1 : -1;
        });
        const found = await rowsOf(store, job, order, {}, isDescending);
        expect([order, isDescending, ...names(found)]).toEqual([order, isDescending, ...names(expected)]);
      }
    }
  });

  holds('filters of the ledger leave the rows that they name', async (store) => {
    const job = await filled(store);
    const filtered = async (filter: LedgerFilter) => names(await rowsOf(store, job, 'url', filter));
    expect(await filtered({ kind: 'sitemap' })).toEqual(['sitemap.xml']);
    expect(await filtered({ state: 'failed' })).toEqual(['3', '5']);
    expect(await filtered({ text: 'ADMIN' })).toEqual(['admin/1']);
    expect(await filtered({ text: 'even 1' })).toEqual(['10']);
    expect(await filtered({ reason: 'scope.exclude' })).toEqual(['admin/1']);
    expect(await filtered({ reason: 'scope.exclude:/admin/' })).toEqual(['admin/1']);
    expect(await filtered({ reason: 'scope' })).toEqual([]);
    expect(await filtered({ reason: 'CONNECT_FAILED' })).toEqual(['3', '5']);
    expect(await filtered({ engine: 'browser' })).toEqual(['0', '4', '8']);
    expect(await filtered({ contentType: 'image/' })).toEqual(['8']);
    expect(await filtered({ statusClass: '4xx' })).toEqual(['3']);
    expect(await filtered({ statusClass: 'none', kind: 'page' })).toEqual(['5', 'admin/1', 'no']);
    expect(await filtered({ statusCode: 200, engine: 'browser', text: '8' })).toEqual(['8']);
    expect(await filtered({ depth: 1 })).toEqual(['admin/1', 'no']);
    expect(await filtered({ host: 'b.test' })).toEqual([]);
    expect(await filtered({ host: 'a.test', text: "%_'" })).toEqual([]);
  });

  holds('counts of the ledger agree with its rows', async (store) => {
    const job = await filled(store);
    const query = { job: job.seq, from: T0, bucketMs: 5 * MINUTE_MS, most: 100, limitMs: LIMIT_MS };
    const counts = await store.countLedger({ ...query, filter: {} });
    expect(counts.groups.reduce((sum, { urls }) => sum + urls, 0)).toBe(PAGES + 3);
    expect(counts.groups).toContainEqual({
      kind: 'page',
      state: 'skipped',
      cause: 'scope.exclude',
      errorCode: null,
      depth: 1,
      engine: null,
      statusCode: null,
      urls: 1,
      bytes: 0,
      durationMs: 0,
      microcredits: 0,
      example: { url: 'https://a.test/admin/1', rule: 'scope.exclude:/admin/' },
    });
    expect(at(counts.groups, 0)).toMatchObject({
      state: 'done',
      engine: 'http',
      urls: 7,
      microcredits: 7_000,
    });
    expect(counts.hosts).toEqual([
      { host: 'a.test', urls: PAGES + 3, done: PAGES - 2, failed: 2, skipped: 2, denied: 1 },
    ]);
    expect(counts.contentTypes.map(({ contentType, pages }) => [contentType, pages])).toEqual([
      ['text/html', 9],
      ['image/png', 1],
    ]);
    expect(counts.timeline).toEqual([
      { at: T0, done: 4, failed: 1, bytes: 100 },
      { at: T0 + 5 * MINUTE_MS, done: 4, failed: 1, bytes: 350 },
      { at: T0 + 10 * MINUTE_MS, done: 2, failed: 0, bytes: 210 },
    ]);
    const some = await store.countLedger({ ...query, filter: { text: 'odd' } });
    expect(some.groups.reduce((sum, { urls }) => sum + urls, 0)).toBe(3);
    expect(some.contentTypes).toEqual([{ contentType: 'text/html', pages: 3, bytes: 7 + 3 + 5 }]);
  });

  holds('addresses of the ledger are a tree with counts, and URLs are found by their keys', async (store) => {
    const urls = ['https://a.test/', 'https://a.test/x', 'https://a.test/x/1', 'https://a.test/x/y/2?q=/'];
    const job = await createJob(store, [
      ...urls,
      'https://a.test/Z?a=1',
      'https://a.test/Z?b=2',
      'http://a.test/x',
    ]);
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([completion(lease, at(tasks, 2), FAILED, { trace: [attemptOf(3)] })], T0);
    const under = async (text: string, after?: string) => {
      const query = { job: job.seq, under: text, after, limit: 10, limitMs: LIMIT_MS };
      return (await store.listLedgerPaths(query)).map(({ name, urls, failed }) => [name, urls, failed]);
    };
    expect(await under('')).toEqual([
      ['http://a.test/', 1, 0],
      ['https://a.test/', 6, 1],
    ]);
    expect(await under('', 'http://a.test/')).toEqual([['https://a.test/', 6, 1]]);
    expect(await under('https://a.test/')).toEqual([
      ['', 1, 0],
      ['Z', 2, 0],
      ['x', 1, 0],
      ['x/', 2, 1],
    ]);
    expect(await under('https://a.test/', 'Z')).toEqual([
      ['x', 1, 0],
      ['x/', 2, 1],
    ]);
    expect(await under('https://a.test/x/')).toEqual([
      ['1', 1, 1],
      ['y/', 1, 0],
    ]);
    const keys = [at(tasks, 2).urlKey, at(tasks, 0).urlKey, 'unknown' as UrlKey];
    const states = await store.findLedgerStates(job.seq, keys, LIMIT_MS);
    expect(new Map(states.map(({ urlKey, ...state }) => [urlKey, state]))).toEqual(
      new Map([
        [keys[0], { state: 'failed', rule: 'attempt.error', errorCode: 'CONNECT_FAILED', statusCode: 404 }],
        [keys[1], { state: 'claimed', rule: null, errorCode: null, statusCode: null }],
      ]),
    );
  });
}
