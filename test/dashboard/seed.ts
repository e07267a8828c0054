import { type Call, until } from './dashboard-server.ts';
import type { DashboardWorld } from './dashboard-world.ts';
import { VECTORS } from './vectors.ts';

/** What the pages of the dashboard show, by their ids. */
export interface Seed {
  readonly shopJob: string;
  readonly hostileJob: string;
  readonly earlierHostileJob: string;
  readonly htmlJob: string;
  readonly renderedJob: string;
  readonly hostileUrl: string;
  readonly monitor: string;
  readonly schedule: string;
  readonly webhook: string;
  readonly account: string;
  readonly host: string;
}

const EVERYTHING = { snapshots: true, search: true, lake: true };
const FORMATS = ['metadata', 'links', 'text', 'markdown', 'content', 'structured', 'html', 'rawHtml'];
const hasItems = (data: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(data.items) && data.items.length > 0;
/** A name that is code, such as an account of another person may have. */
const NAME = VECTORS.title[1] ?? '';

async function ended(call: Call, path: string, body: Readonly<Record<string, unknown>>): Promise<string> {
  const id = String((await call(path, body)).id);
  await until(call, `/v1/jobs/${id}`, ({ finishedAt }) => typeof finishedAt === 'string');
  return id;
}

export async function seedDashboard({ call, origin, site }: DashboardWorld): Promise<Seed> {
  const hostileUrl = `${site.origin}/`;
  const webhook = await call('/v1/webhooks', { url: `${site.origin}/hook`, events: ['*'] });
  const crawl = (url: string, more = {}) =>
    ended(call, '/v1/crawl', {
      urls: [url],
      sitemap: 'skip',
      ...EVERYTHING,
      options: { formats: FORMATS, maxAttempts: 1, extract: { type: 'product' } },
      ...more,
    });
  const [shopJob, earlierHostileJob] = await Promise.all([
    crawl(`${origin}/sample/shop/`),
    crawl(hostileUrl),
  ]);
  const monitor = String((await call('/v1/monitors', monitorOf(hostileUrl))).id);
  await until(call, `/v1/monitors/${monitor}`, ({ checks }) => checks === 1);
  site.show(1);
  const [hostileJob, htmlJob, renderedJob] = await Promise.all([
    crawl(hostileUrl, { exports: [{ type: 'full', format: 'csv' }] }),
    ended(call, '/v1/batch', { urls: [`${site.origin}/html`], options: { formats: FORMATS } }),
    ended(call, '/v1/batch', {
      urls: [`${site.origin}/html`],
      ...EVERYTHING,
      options: { engine: 'browser', formats: [...FORMATS, 'screenshot', 'xhr'] },
    }),
    call(`/v1/monitors/${monitor}/run`, {}),
  ]);
  const schedule = await call('/v1/schedules', {
    name: NAME,
    cron: '30 2 * * MON-FRI',
    job: { kind: 'crawl', urls: [hostileUrl] },
  });
  const { account } = await call('/v1/accounts', { name: NAME });
  await Promise.all([
    call(
      '/v1/credentials/shop',
      { kind: 'basic', hosts: ['shop.example'], username: NAME, password: NAME },
      'PUT',
    ),
    call('/v1/sessions', { name: 'visitor' }),
    call('/v1/keys', { name: NAME, scopes: ['read'] }),
    call('/v1/map', { url: `${origin}/sample/shop/` }),
  ]);
  await Promise.all([
    until(call, `/v1/monitors/${monitor}/changes`, hasItems),
    until(call, `/v1/webhooks/${webhook.id}/deliveries?state=delivered`, hasItems),
    until(call, '/v1/search?q=alert', hasItems),
    until(call, `/v1/pages?url=${encodeURIComponent(hostileUrl)}`, hasItems),
    until(call, '/v1/exports', ({ items }) => JSON.stringify(items).includes('"status":"ready"')),
    until(call, '/v1/query', hasItems, { sql: 'SELECT url FROM pages' }),
  ]);
  return {
    shopJob,
    hostileJob,
    earlierHostileJob,
    htmlJob,
    renderedJob,
    hostileUrl,
    monitor,
    schedule: String(schedule.id),
    webhook: String(webhook.id),
    account: String((account as { id: string }).id),
    host: new URL(hostileUrl).host,
  };
}

/** What is seen once is told: noise is learned over days, and these tests take seconds. */
const monitorOf = (url: string) => ({
  name: NAME,
  urls: [url, `${url}title/0`, `${url}notes.md`],
  schedule: { every: '1d' },
  watch: { text: true, markdown: true, fields: 'all' },
  confirm: 1,
  settle: 0,
  learnNoise: false,
  recheck: false,
  options: { maxAttempts: 1 },
});
