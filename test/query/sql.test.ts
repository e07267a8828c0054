import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SqlRequest, sqlRequestSchema } from '../../src/capabilities/query/sql/sql-request.ts';
import type { AccountId, JobId } from '../../src/core/model/ids.ts';
import type { LakeRule } from '../../src/core/ports/lake-store.ts';
import { OTHER, OWN, openSqlWorld, type SqlWorld } from './sql-world.ts';

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
      "SELECT url[1:3], [1, 2][1], {'a': 1}.a, map {'a': 1}, row(1, 2), [x * 2 FOR x IN [1, 2] IF x > 1], 5!, @ -3 FROM pages",
      `SELECT title ILIKE 'a%', url LIKE '%x%' ESCAPE '$', url SIMILAR TO '.*', url GLOB 'a*', url ^@ 'h', position('a' IN url) FROM pages`,
      `SELECT fetched_at - INTERVAL 1 DAY, extract(year FROM fetched_at), fetched_at AT TIME ZONE 'UTC', current_date, now() FROM pages`,
      `SELECT quantile_cont(bytes, 0.5), string_agg(url, ' ' ORDER BY url), arg_max(url, bytes), histogram(bytes) FROM pages`,
      `SELECT coalesce(title, ''), nullif(title, 'x'), if(bytes > 1, 1, 2), try_cast(title AS INT), 7 // 2, 2 ** 3 FROM pages`,
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

  it('runs one query of an account at a time, and those of other accounts beside it', async () => {
    const request = sqlRequestSchema.parse({ sql: 'SELECT * FROM range(100000000)', limit: 100_000 });
    const run = (accountId: AccountId, changes: Partial<SqlRequest> = {}) =>
      world.queries.run({ accountId, hasPrivate: false }, { ...request, ...changes });
    const first = await run(OWN);
    const second = run(OWN);
    const others = await run(OTHER, { sql: 'SELECT 1' });
    expect(await Array.fromAsync(others.rows)).toEqual([[1]]);
    // The reader of the first is gone, which ends it.
    await first.close();
    await (await second).close();
  });

  it('tells a query whose turn does not come when to try again', async () => {
    const hasty = await openSqlWorld({ mostWaitMs: 1 });
    const request = sqlRequestSchema.parse({ sql: 'SELECT * FROM range(100000000)', limit: 100_000 });
    const running = await hasty.queries.run({ accountId: OWN, hasPrivate: false }, request);
    await expect(hasty.ask('SELECT 1')).rejects.toMatchObject({
      code: 'TOO_MANY_QUERIES',
      retryAfterMs: 5_000,
    });
    await running.close();
    await hasty.close();
  });

  it('gives the turn on when the process has ended, though its rows are not read', async () => {
    const request = sqlRequestSchema.parse({ sql: 'SELECT * FROM range(100000000)', limit: 100_000 });
    const slow = await world.queries.run(
      { accountId: OWN, hasPrivate: false },
      { ...request, timeoutMs: 4_000 },
    );
    expect((await world.ask('SELECT 1')).rows).toEqual([[1]]);
    await slow.close();
  });

  it('tells nothing of rows that a view hides', async () => {
    world.rules = [rule({ keepFrom: 3 })];
    for (const sql of [
      'SELECT stats(page_seq) FROM pages',
      'SELECT main.stats(url) FROM pages',
      'SELECT list_transform([1], x -> stats(page_seq)) FROM pages',
      'SELECT * FROM pages WHERE stats(bytes) IS NOT NULL',
    ]) {
      await expect(world.ask(sql), sql).rejects.toMatchObject({ code: 'QUERY_REFUSED' });
    }
    // Neither by the message of an error, nor by whether there is one: hidden rows are gone before others are looked at.
    const number = 'CAST(url AS INTEGER)';
    const hidden = `CASE WHEN page_seq < 3 THEN ${number} END`;
    for (const sql of [
      `SELECT count(*) FROM pages WHERE ${hidden} = 1`,
      `SELECT count(*) FROM pages WHERE page_seq < 3 AND ${number} = 1`,
      `SELECT count(*) FROM (SELECT ${hidden} AS x FROM pages) WHERE x > 0`,
      `SELECT count(*) FROM range(3) t (n) JOIN pages ON n + ${hidden} = page_seq`,
      `SELECT count(*) FROM pages WHERE date < '2026-01-04' AND CAST(CAST(date AS VARCHAR) AS INTEGER) = 1`,
    ]) {
      expect((await world.ask(sql)).rows, sql).toEqual([[0]]);
    }
    expect((await world.ask('SELECT min(page_seq), approx_quantile(page_seq, 0) FROM pages')).rows).toEqual([
      [3, 3],
    ]);
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
