import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AccountId } from '../../core/model/ids.ts';
import type { QueryPlan } from '../../core/ports/query-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { createSqliteStore } from './sqlite-store.ts';

const PAGES = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'scrapifie-queries-'));
const path = join(folder, 'scrapifie.db');
let store: Store;

const COUNT: QueryPlan = {
  source: 'pages',
  where: null,
  columns: [
    { as: 'host', kind: 'field', field: { name: 'host', type: 'text', column: 'host' }, unit: null },
    { as: 'n', kind: 'count', field: null },
  ],
  isGrouped: true,
  order: [],
  limit: 10,
  after: null,
};
const scope = { accountId: 'default' as AccountId, hasPrivate: true };

beforeAll(async () => {
  store = await createSqliteStore({ path });
  await store.migrate();
  // Rows of their own kind of speed: the way of a crawl would take longer than the test.
  const connection = new DatabaseSync(path);
  connection.exec(`
    PRAGMA foreign_keys = OFF;
    INSERT INTO jobs (seq, id, account_id, kind, status, options, seeds, created_at)
      VALUES (1, 'job', 'default', 'crawl', 'completed', '{}', '[]', 0);
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${PAGES})
    INSERT INTO pages (task_id, job_seq, url, final_url, fetched_at, depth, bytes)
      SELECT n, 1, 'https://a.test/' || n, '', n, 0, n FROM n;
  `);
  connection.close();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

it('counts many rows within the time of a query', async () => {
  const rows = await store.queryRows({ scope, plan: COUNT, limitMs: 60_000 });
  expect(rows.map(({ values }) => values)).toEqual([['a.test', PAGES]]);
});

it('ends a query that has had its time while it looks at rows, and goes on with the next', async () => {
  // No row fulfils it, so nothing but the rows that are looked at can end it.
  const where = {
    kind: 'eq',
    field: { name: 'title', type: 'text', column: 'title' },
    value: 'none',
  } as const;
  const late = store.queryRows({ scope, plan: { ...COUNT, where }, limitMs: 0 });
  await expect(late).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
  await expect(store.queryRows({ scope, plan: COUNT, limitMs: 60_000 })).resolves.toHaveLength(1);
});

it('queries wait for each other, and the store does not wait for them', async () => {
  const asked = Array.from({ length: 5 }, () => store.queryRows({ scope, plan: COUNT, limitMs: 60_000 }));
  expect(await store.getJob('none' as never)).toBeNull();
  expect((await Promise.all(asked)).every((rows) => rows.length === 1)).toBe(true);
});

it('a store that is closed answers no query', async () => {
  const other = await createSqliteStore({ path: join(folder, 'other.db') });
  await other.migrate();
  await other.close();
  await expect(other.queryRows({ scope, plan: COUNT, limitMs: 1_000 })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
});
