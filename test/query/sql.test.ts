import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobId } from '../../src/model/ids.ts';
import type { LakeRule } from '../../src/ports/lake-store.ts';
import { sqlRequestSchema } from '../../src/query/sql/sql-request.ts';
import { openSqlWorld, type SqlWorld } from './sql-world.ts';

let world: SqlWorld;
beforeAll(async () => {
  world = await openSqlWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  world.rules = [];
});

const rule = (changes: Partial<LakeRule>): LakeRule => ({
  jobId: 'job_acc_own' as JobId,
  ...{ keepFrom: 0, isResumed: false, isPrivate: false, finishedAt: null },
  ...changes,
});
const count = async () => (await world.ask('SELECT count(*) FROM pages')).rows[0]?.[0];

describe('SQL over the lake', { timeout: 60_000 }, () => {
  it('sees the pages, links and records of the account with their types', async () => {
    const answer = await world.ask(
      `SELECT p.page_seq, p.title, p.fetched_at, p.domain, p.date, p.is_rendered, l.text,
         CAST(r.data->>'$.price' AS DOUBLE) AS price, [1, 2] AS list, {'a': 1} AS struct, 2::HUGEINT ** 100 AS big
       FROM pages p JOIN links l USING (page_seq) JOIN records r USING (page_seq) ORDER BY p.page_seq`,
    );
    expect(answer.columns.slice(0, 6)).toEqual([
      { name: 'page_seq', type: 'BIGINT' },
      { name: 'title', type: 'VARCHAR' },
      { name: 'fetched_at', type: 'TIMESTAMP' },
      { name: 'domain', type: 'VARCHAR' },
      { name: 'date', type: 'DATE' },
      { name: 'is_rendered', type: 'BOOLEAN' },
    ]);
    expect(answer.rows).toHaveLength(4);
    expect(answer.rows[0]?.slice(0, 10)).toEqual([
      ...[1, 'own', '2026-01-02 12:00:00', 'b.test', '2026-01-02', false, 'Home', 1, [1, 2], { a: 1 }],
    ]);
    expect(answer).toMatchObject({ isTruncated: false });
  });

  it('takes what honest queries are made of', async () => {
    for (const sql of [
      'SELECT host, count(*) AS n FROM pages GROUP BY ALL ORDER BY n DESC, host',
      'WITH a AS (SELECT * FROM pages) SELECT count(*) FROM a JOIN a AS b USING (url)',
      'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n) FROM t',
      "FROM pages SELECT url WHERE url LIKE 'https://%' ORDER BY ALL LIMIT 2",
      `SELECT date_trunc('month', fetched_at), row_number() OVER (ORDER BY page_seq) FROM pages`,
      'SELECT * FROM range(3), unnest([1, 2])',
      `SELECT regexp_extract(url, '/(\\d+)$', 1)::INT FROM pages`,
      'SELECT * FROM (VALUES (1), (2)) AS v (x)',
      'SELECT (SELECT max(bytes) FROM pages) AS most',
      'SELECT list_filter([1, 2, 3], x -> x > 1), md5(title) FROM pages;',
      'SELECT "url" FROM "pages" -- the end',
    ]) {
      expect((await world.ask(sql)).rows.length, sql).toBeGreaterThan(0);
    }
  });

  it('ends at the limit of rows and says so', async () => {
    expect(await world.ask('SELECT * FROM range(5000)', { limit: 4_000 })).toMatchObject({
      rows: { length: 4_000 },
      isTruncated: true,
    });
    expect(await world.ask('SELECT * FROM range(3)', { limit: 3 })).toMatchObject({ isTruncated: false });
  });

  it('of very wide rows gives as many as an answer can hold, or says that it holds none', async () => {
    const rows = await world.ask(`SELECT repeat('x', 3000000) AS text FROM range(20)`);
    expect(rows).toMatchObject({ rows: { length: 5 }, isTruncated: true });
    await expect(world.ask(`SELECT repeat('x', 17000000) AS text`)).rejects.toMatchObject({
      code: 'QUERY_TOO_LARGE',
      message: expect.stringContaining('Select fewer columns'),
    });
  });

  it('hides what is deleted, has expired, was replaced or is private', async () => {
    expect(await count()).toBe(4);
    world.rules = [rule({ keepFrom: null })];
    expect(await count()).toBe(0);
    world.rules = [rule({ keepFrom: 3 })];
    expect(await count()).toBe(2);
    world.rules = [rule({ isPrivate: true })];
    expect(await count()).toBe(0);
    world.rules = [rule({ isResumed: true })];
    expect(await count()).toBe(4);
  });

  it('tells what is wrong with a query, without the paths of the server', async () => {
    await expect(world.ask('SELECT nope FROM pages')).rejects.toMatchObject({
      code: 'QUERY_FAILED',
      message: expect.stringContaining('nope'),
    });
    await expect(world.ask('SELEC 1')).rejects.toMatchObject({ code: 'QUERY_FAILED' });
  });

  it('runs so many at once, and ends those whose reader is gone', async () => {
    const request = sqlRequestSchema.parse({ sql: 'SELECT * FROM range(100000000)', limit: 100_000 });
    const reader = { accountId: 'acc_own' as never, hasPrivate: false };
    const running = await Promise.all([1, 2].map(() => world.queries.run(reader, request)));
    await expect(world.ask('SELECT 1')).rejects.toMatchObject({ code: 'TOO_MANY_QUERIES' });
    for (const each of running) await each.close();
    expect((await world.ask('SELECT 1')).rows).toEqual([[1]]);
  });

  it('ends with its signal', async () => {
    const stop = new AbortController();
    const request = sqlRequestSchema.parse({ sql: 'SELECT count(*) FROM range(1000000000000)' });
    const answer = world.queries.run({ accountId: 'acc_own' as never, hasPrivate: false }, request, {
      signal: stop.signal,
    });
    stop.abort(new Error('gone'));
    await expect(answer).rejects.toThrow('gone');
  });
});
