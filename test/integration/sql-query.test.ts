import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drainEvents } from '../../src/capabilities/lake/rebuild.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';

const PAGES = 6;

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld({ site: { pages: PAGES } });
  const urls = Array.from({ length: PAGES }, (_, page) => `${world.site.hostUrl(1)}/big/${page}`);
  await drainEvents([await world.batchNow({ urls, lake: true })], world.platform.lake.parts);
}, 60_000);
afterAll(() => world.close());

describe('POST /v1/query with sql', { timeout: 60_000 }, () => {
  it('answers with columns and objects, in the form of typed queries', async () => {
    const answer = await world.post('/v1/query', {
      sql: 'SELECT status_code, count(*) AS pages FROM pages GROUP BY ALL',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: {
          columns: [
            { name: 'status_code', type: 'INTEGER' },
            { name: 'pages', type: 'BIGINT' },
          ],
          items: [{ status_code: 200, pages: PAGES }],
          nextCursor: null,
          isTruncated: false,
        },
      },
    });
  });

  it('calls the host by its name and port in `domain`, and finds it by that', async () => {
    const host = new URL(world.site.hostUrl(1)).host;
    const sql = `SELECT DISTINCT domain, host FROM pages WHERE domain = '${host}'`;
    const answer = await world.post('/v1/query', { sql });
    expect(host).toContain(':');
    expect(answer).toMatchObject({ body: { data: { items: [{ domain: host, host }] } } });
  });

  it('streams one object per line', async () => {
    const answer = await world.send({
      method: 'POST',
      url: '/v1/query',
      headers: { accept: 'application/x-ndjson' },
      payload: { sql: 'SELECT url FROM pages ORDER BY url', limit: 3 },
    });
    expect(answer.headers['content-type']).toContain('application/x-ndjson');
    const lines = answer.body.trim().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([['url'], ['url'], ['url']]);
  });

  it('refuses what a query must not do, with the field', async () => {
    const answer = await world.post('/v1/query', { sql: `SELECT * FROM read_text('/etc/passwd')` });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'QUERY_REFUSED' } } });
    const both = await world.post('/v1/query', { sql: 'SELECT 1', from: 'pages' });
    expect(both).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_FAILED' } } });
    const mixed = await world.post('/v1/query', { from: 'pages', since: '2026-01-01' });
    expect(mixed).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_FAILED' } } });
    expect(await world.post('/v1/query', {})).toMatchObject({ status: 422 });
  });
});
