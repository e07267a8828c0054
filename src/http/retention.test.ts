import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, hashOf, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { applyRetention } from '../capabilities/retention/apply-retention.ts';
import { pageSchema } from '../capabilities/views/page-schemas.ts';
import { type RetentionLimits, UNLIMITED_RETENTION } from '../core/model/retention.ts';

const PNG = Buffer.from('\x89PNG picture');
const RAW = Buffer.from('<p>as sent</p>');
const FORMATS = ['html', 'rawHtml', 'screenshot'];
const READ_AGAIN = { formats: ['text'] };

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(() => ({
    ...DONE,
    body: '<p>as shown</p>',
    record: {
      rendered: {
        screenshot: { contentHash: hashOf(PNG), contentType: 'image/png', bytes: PNG.byteLength },
        raw: { contentHash: hashOf(RAW), charset: 'utf-8' },
      },
      metadata: null,
      links: [],
      html: '<p>as shown</p>',
    },
    artifacts: [PNG, RAW],
  }));
});
afterAll(() => platform.close());

const get = (url: string) => platform.call({ method: 'GET', url });
const expire = (limits: Partial<RetentionLimits>, isDryRun = false) =>
  applyRetention(
    { store: platform.store, limitsOf: () => ({ ...UNLIMITED_RETENTION, ...limits }), eventsMs: 0 },
    { isDryRun },
  );

async function scraped(path: string, more: object = {}) {
  const answer = await platform.call({
    method: 'POST',
    url: '/v1/scrape',
    payload: { url: `https://site.example/${path}`, formats: FORMATS, ...more },
  });
  expect(answer.statusCode).toBe(200);
  const id = String(answer.at('data.id'));
  const { pathname } = new URL(String(answer.at('data.screenshot.url')));
  return { job: `/v1/jobs/${id}`, screenshot: pathname };
}

describe('after the time of its parts was over', () => {
  it('a page keeps its record and says what is gone, and a picture answers 410', async () => {
    const { job, screenshot } = await scraped('parts');
    const ages = { bodiesMs: 0, artifactsMs: 0 };
    const planned = await expire({ ages }, true);
    expect(planned).toMatchObject({ bodies: { items: 1 }, artifacts: { items: 1, bytes: PNG.byteLength } });
    expect((await get(`${job}/results`)).at('data.items.0.rawHtml')).toBe('<p>as sent</p>');
    expect(await expire({ ages })).toEqual(planned);
    const results = await get(`${job}/results`);
    expect(results.statusCode).toBe(200);
    expect(results.at('data.items.0')).toMatchObject({
      html: '<p>as shown</p>',
      rawHtml: null,
      expired: ['bodies', 'artifacts'],
    });
    expect(pageSchema.parse(results.at('data.items.0'))).toEqual(results.at('data.items.0'));
    const picture = await get(screenshot);
    expect([picture.statusCode, picture.at('error.code')]).toEqual([410, 'EXPIRED']);
    const other = await get(screenshot.replace('screenshot', 'pdf'));
    expect([other.statusCode, other.at('error.code')]).toEqual([404, 'NOT_FOUND']);
    expect((await get(job)).at('data.expired')).toEqual(['bodies', 'artifacts']);
    const again = await platform.call({ method: 'POST', url: `${job}/reextract`, payload: READ_AGAIN });
    expect(JSON.parse(again.payload.trim())).toMatchObject({ error: { code: 'EXPIRED' } });
  });

  it('a page without its record is still listed', async () => {
    const { job, screenshot } = await scraped('records');
    await expire({ ages: { recordsMs: 0 } });
    expect((await get(`${job}/results`)).at('data.items.0')).toMatchObject({
      url: 'https://site.example/records',
      html: null,
      expired: ['bodies', 'artifacts', 'records'],
    });
    expect((await get(screenshot)).statusCode).toBe(410);
  });

  it('a job of which the summary is left answers 410 for everything else', async () => {
    const { job, screenshot } = await scraped('ledger');
    await expire({ ages: { ledgerMs: 0 } });
    const shown = await get(job);
    expect([shown.statusCode, shown.at('data.expired')]).toEqual([200, ['ledger']]);
    expect(shown.at('data.progress.pages')).toBe(1);
    for (const url of ['results', 'errors', 'urls'].map((what) => `${job}/${what}`).concat(screenshot)) {
      const answer = await get(url);
      expect([url, answer.statusCode, answer.at('error.code')]).toEqual([url, 410, 'EXPIRED']);
    }
    for (const what of ['retry', 'resume', 'reextract']) {
      const answer = await platform.call({
        method: 'POST',
        url: `${job}/${what}`,
        payload: what === 'reextract' ? READ_AGAIN : {},
      });
      expect([what, answer.statusCode, answer.at('error.code')]).toEqual([what, 410, 'EXPIRED']);
    }
    const deleted = await platform.call({ method: 'DELETE', url: job });
    expect(deleted.statusCode).toBe(200);
  });
});

describe('the times of a request', () => {
  it('hold for its job alone', async () => {
    const short = await scraped('short', { retention: { jobs: '1m' } });
    const long = await scraped('long', { retention: { jobs: '2h' } });
    const ages = (await get(short.job)).at('data.options.retention');
    expect(ages).toEqual({ jobsMs: 60_000 });
    const hourLater = { ...platform.store, clock: async () => Date.now() + 3_600_000 };
    await applyRetention({ store: hourLater, limitsOf: () => UNLIMITED_RETENTION, eventsMs: 0 });
    expect((await get(short.job)).statusCode).toBe(404);
    expect((await get(long.job)).statusCode).toBe(200);
  });

  it.each([
    [{ bodies: '59s' }, 'retention.bodies'],
    [{ jobs: -1 }, 'retention.jobs'],
    [{ jobs: 'soon' }, 'retention.jobs'],
    [{ pages: '1d' }, 'retention.pages'],
  ])('are refused when they cannot be: %j', async (retention, field) => {
    const answer = await platform.call({
      method: 'POST',
      url: '/v1/scrape',
      payload: { url: 'https://site.example/', retention },
    });
    expect([answer.statusCode, answer.at('error.details.0.field')]).toEqual([422, field]);
  });
});

it('jobs beyond the count go, the oldest first', async () => {
  const jobs = [await scraped('1'), await scraped('2'), await scraped('3')];
  await expire({ maxJobs: 2 });
  const found = await Promise.all(jobs.map(({ job }) => get(job)));
  expect(found.map(({ statusCode }) => statusCode)).toEqual([404, 200, 200]);
});
