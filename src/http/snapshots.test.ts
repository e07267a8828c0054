import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../test/isolation/tenants.ts';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { sweepBlobs } from '../capabilities/jobs/maintenance/blob-sweep.ts';
import { applyRetention } from '../capabilities/retention/apply-retention.ts';
import { limitsOfAccount } from '../capabilities/retention/retention-admin.ts';
import { DEFAULT_ACCOUNT } from '../core/model/ids.ts';
import { UNLIMITED_RETENTION } from '../core/model/retention.ts';

const PAGE = 'https://shop.test/hat';
const body = (price: number) =>
  `<html><head><title>Hat</title></head><body><nav>Home</nav><main><h1>Hat</h1><p>It costs ${price} EUR and is the best
   hat that money can buy in all of this town, whatever the others may say about theirs.</p></main></body></html>`;

let platform: Platform;
const bodies = [body(19), body(91), body(19)];
const jobs: string[] = [];

beforeAll(async () => {
  platform = await openPlatform();
  let next = 0;
  await platform.work(() => ({
    end: { state: 'done', rule: null },
    statusCode: 200,
    body: bodies[next++] ?? '',
  }));
  for (const _ of bodies) {
    const payload = { urls: [PAGE], snapshots: true };
    const answer = await platform.call({ method: 'POST', url: '/v1/batch', payload });
    const id = String(answer.at('data.id'));
    jobs.push(id);
    await platform.jobs.waitFor(id as never, 60_000);
    await platform.readSnapshots();
  }
});
afterAll(() => platform.close());

const get = (path: string) => platform.call({ method: 'GET', url: path });
const asked = encodeURIComponent(`${PAGE}?utm_source=mail#top`);

describe('GET /v1/pages', () => {
  it('lists each content of a page once, the one that was seen last first, page by page', async () => {
    const first = await get(`/v1/pages?url=${asked}&limit=1`);
    expect(first.at('data.items')).toMatchObject([{ url: PAGE, timesSeen: 2, jobId: jobs[0] }]);
    const rest = await get(`/v1/pages?url=${asked}&limit=1&cursor=${first.at('data.nextCursor')}`);
    expect(rest.at('data')).toMatchObject({ items: [{ timesSeen: 1, jobId: jobs[1] }], nextCursor: null });
    const none = await get(`/v1/pages?url=${encodeURIComponent('https://shop.test/other')}`);
    expect(none.at('data')).toEqual({ items: [], nextCursor: null });
  });

  it('refuses what is no URL, and asks for one', async () => {
    for (const query of ['?url=ftp%3A%2F%2Fshop.test', '?url=hat', '', '?url=https://a.test/&x=1']) {
      const answer = await get(`/v1/pages${query}`);
      expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    }
  });
});

describe('GET /v1/sightings', () => {
  it('tells which job saw which content, of a page or of a job', async () => {
    const seen = await get(`/v1/sightings?url=${asked}`);
    const items = seen.at('data.items') as { jobId: string; hash: string }[];
    expect(items.map(({ jobId }) => jobId)).toEqual(jobs.toReversed());
    expect(items[0]?.hash).toBe(items[2]?.hash);
    expect(items[0]?.hash).not.toBe(items[1]?.hash);
    const ofJob = await get(`/v1/sightings?job=${jobs[1]}`);
    expect(ofJob.at('data.items')).toEqual([items[1]]);
  });

  it('asks for one of both', async () => {
    for (const query of ['', `?url=${asked}&job=${jobs[0]}`]) {
      expect((await get(`/v1/sightings${query}`)).statusCode).toBe(422);
    }
  });
});

describe('GET /v1/snapshots/:id', () => {
  it('gives the content in the formats that are asked for', async () => {
    const id = String((await get(`/v1/pages?url=${asked}`)).at('data.items.0.id'));
    expect((await get(`/v1/snapshots/${id}`)).at('data')).not.toHaveProperty('text');
    const answer = await get(`/v1/snapshots/${id}?formats=markdown,text,rawHtml&onlyMainContent=false`);
    expect(answer.at('data.markdown')).toContain('# Hat');
    expect(answer.at('data.text')).toMatch(/Home[\s\S]*19 EUR/);
    expect(answer.at('data.rawHtml')).toBe(body(19));
    const main = await get(`/v1/snapshots/${id}?formats=text`);
    expect(main.at('data.text')).toContain('19 EUR');
    expect(main.at('data.text')).not.toContain('Home');
    expect((await get(`/v1/snapshots/${id}?formats=doc`)).statusCode).toBe(422);
    expect((await get(`/v1/snapshots/${id}/screenshot`)).statusCode).toBe(404);
  });

  it('answers 404 for one that there is not', async () => {
    for (const id of [`snap_${'0'.repeat(32)}`, 'x', `snap_${'0'.repeat(33)}`]) {
      expect((await get(`/v1/snapshots/${id}`)).statusCode).toBe(404);
    }
  });

  it('needs the scope to read jobs', async () => {
    const id = String((await get(`/v1/pages?url=${asked}`)).at('data.items.1.id'));
    const secret = await keyOf(platform, DEFAULT_ACCOUNT, ['scrape']);
    const headers = { 'x-api-key': secret };
    for (const path of [`/v1/pages?url=${asked}`, `/v1/sightings?url=${asked}`, `/v1/snapshots/${id}`]) {
      expect((await platform.call({ method: 'GET', url: path, headers })).statusCode).toBe(403);
    }
  });
});

describe('retention', () => {
  const later = (days: number) => ({ ...platform.store, clock: async () => Date.now() + days * 86_400_000 });
  const apply = (days: number) =>
    applyRetention({
      store: later(days),
      limitsOf: (id) => limitsOfAccount(platform.store, id, UNLIMITED_RETENTION),
      eventsMs: 0,
    });
  const count = async () => ((await get(`/v1/pages?url=${asked}`)).at('data.items') as unknown[]).length;

  it('keeps the history when its jobs and their bodies are gone, and deletes it by its own time', async () => {
    const put = async (payload: object) =>
      (await platform.call({ method: 'PUT', url: '/v1/account/retention', payload })).statusCode;
    expect(await put({ jobs: '1d', snapshots: '1s' })).toBe(422);
    expect(await put({ jobs: '1d', bodies: '1d', snapshots: '30d' })).toBe(200);
    expect((await get('/v1/account/retention')).at('data.effective.snapshotsMs')).toBe(30 * 86_400_000);
    await apply(2);
    expect((await get(`/v1/jobs/${jobs[0]}`)).statusCode).toBe(404);
    expect(await count()).toBe(2);
    await sweepBlobs({ ...platform, transit: null }, { graceMs: 0 });
    const id = String((await get(`/v1/pages?url=${asked}`)).at('data.items.0.id'));
    expect((await get(`/v1/snapshots/${id}?formats=rawHtml`)).at('data.rawHtml')).toBe(body(19));
    const report = await apply(31);
    expect(report.snapshots).toMatchObject({ items: 2 });
    expect([await count(), (await get(`/v1/snapshots/${id}`)).statusCode]).toEqual([0, 404]);
  });
});
