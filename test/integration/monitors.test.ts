import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { MonitorChangeView, MonitorView } from '../../src/capabilities/views/monitor-view.ts';
import type { MonitorId } from '../../src/core/model/ids.ts';
import { type ChangingSite, startChangingSite } from '../site/changing-site.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { runCommand, temporaryFolder } from './cli-command.ts';
import { QUICK_POLICY } from './world.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const LIMIT_MS = 180_000;
/** What is seen once is told: noise is learned over days, and these tests take seconds. */
const AT_ONCE = { confirm: 1, settle: 0, learnNoise: false, recheck: false, options: { maxAttempts: 1 } };

let world: ApiWorld;
let site: ChangingSite;
let receiver: Receiver;
beforeAll(async () => {
  site = await startChangingSite();
  receiver = await startReceiver();
  world = await openApiWorld({ policy: QUICK_POLICY });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
  await site.close();
});

async function get(id: string): Promise<MonitorView> {
  return (await world.call({ url: `/v1/monitors/${id}` })).body.data as unknown as MonitorView;
}

async function make(request: object): Promise<string> {
  const made = await world.post('/v1/monitors', { schedule: { every: '1d' }, ...AT_ONCE, ...request });
  expect(made.body.error).toBeUndefined();
  expect(made.status).toBe(201);
  const id = String(made.body.data?.id);
  await untilChecked(id, 1);
  return id;
}

/** Readers make checks of pages, and take their time unless they are waited for. */
function untilChecked(id: string, checks: number): Promise<void> {
  return vi.waitFor(async () => {
    await world.platform.settleReaders();
    expect((await get(id)).checks).toBe(checks);
  }, WAIT);
}

/** Runs a check to its end; returns what it has told, by path. */
async function check(id: string): Promise<Record<string, string>> {
  const { checks } = await get(id);
  const since = new Date(await world.platform.store.clock()).toISOString();
  expect((await world.post(`/v1/monitors/${id}/run`, {})).status).toBe(202);
  await untilChecked(id, checks + 1);
  const { body } = await world.call({ url: `/v1/monitors/${id}/changes?since=${since}` });
  const items = (body.data?.items ?? []) as unknown as MonitorChangeView[];
  return Object.fromEntries(items.map(({ url, kind }) => [new URL(url).pathname, kind]));
}

describe('a monitor of a running server', { timeout: LIMIT_MS }, () => {
  test('of a site tells what changed, what is new and, once that is proven, what is gone', async () => {
    site.show(0);
    const id = await make({
      name: 'shop',
      site: `${site.origin}/`,
      ignore: { selectors: ['.counter'] },
      notify: { webhook: { url: `${receiver.url}/own` }, slack: `${receiver.url}/slack` },
    });
    expect(await get(id)).toMatchObject({ target: 'site', lastCheck: { isCovered: true, changes: 0 } });
    site.show(1);
    expect(await check(id)).toEqual({
      '/': 'MODIFIED',
      '/swap': 'MODIFIED',
      '/revert': 'MODIFIED',
      '/sold': 'MODIFIED',
      '/new': 'ADDED',
      '/new-place': 'ADDED',
    });
    // Two pages failed, so that nothing is known about those that were not seen.
    expect((await get(id)).lastCheck).toMatchObject({ isCovered: false, changes: 6 });
    await expect.poll(() => receiver.received.length, WAIT).toBe(2);
    const own = receiver.received.find(({ path }) => path === '/own')?.message;
    expect(own?.type).toBe('monitor.changed');
    expect(own?.data).toMatchObject({ monitorId: id, count: 6, kinds: { MODIFIED: 4, ADDED: 2 } });
    const told = own?.data.changes as readonly { readonly url: string; readonly text: string }[];
    expect(told.find(({ url }) => url.endsWith('/swap'))?.text).toContain('price: 19 → 91');
    expect(receiver.received.find(({ path }) => path === '/slack')?.body).toContain('6 pages have changed');
    site.show(2);
    expect(await check(id)).toEqual({ '/revert': 'REVERTED' });
    expect(await check(id)).toEqual({ '/old-place': 'REMOVED', '/gone': 'REMOVED', '/dropped': 'REMOVED' });
    expect(await check(id)).toEqual({});
    expect((await world.call({ method: 'DELETE', url: `/v1/monitors/${id}` })).status).toBe(200);
    expect((await world.call({ url: `/v1/monitors/${id}` })).status).toBe(404);
  });

  test('of a site has its baseline by one crawl', async () => {
    site.show(0);
    const id = await make({
      name: 'one crawl',
      site: `${site.origin}/`,
      ignore: { selectors: ['.counter'] },
      ...{ confirm: 3, learnNoise: true, recheck: true },
    });
    const { store } = world.platform;
    const monitor = await store.getMonitor(await store.defaultAccount(), id as string as MonitorId);
    expect(monitor).toMatchObject({ checks: 1, recheckAt: null, lastCheck: { hasBaseline: true } });
  });

  test('of pages is paused, changed and previewed; its schedule belongs to it', async () => {
    site.show(0);
    const urls = ['/swap', '/flaky'].map((path) => `${site.origin}${path}`);
    const id = await make({ name: 'two', urls, watch: { fields: ['price'] }, failAfter: 1 });
    const { schedule } = await get(id);
    const foreign = await world.call({ method: 'DELETE', url: `/v1/schedules/${schedule.id}` });
    expect(foreign.status).toBe(409);
    site.show(1);
    expect(await check(id)).toEqual({ '/swap': 'MODIFIED' });
    const { body } = await world.call({ url: `/v1/monitors/${id}/changes` });
    const [change] = (body.data?.items ?? []) as unknown as MonitorChangeView[];
    expect(change?.diff?.fields).toMatchObject([{ field: 'price', before: 19, after: 91 }]);
    const patch = { name: 'one', urls: urls.slice(0, 1), schedule: { every: '2h' } };
    const changed = await world.call({ method: 'PATCH', url: `/v1/monitors/${id}`, payload: patch });
    expect(changed.body.data).toMatchObject({ name: 'one', urls: urls.slice(0, 1), checks: 2 });
    expect((await world.post(`/v1/monitors/${id}/pause`, {})).body.data).toMatchObject({ status: 'paused' });
    const other = await world.call({
      method: 'PATCH',
      url: `/v1/monitors/${id}`,
      payload: { watch: { text: true } },
    });
    // Something else is watched: what is remembered cannot be compared.
    expect(other.body.data).toMatchObject({ checks: 0, status: 'paused' });
    expect(await check(id)).toEqual({});
    const preview = await world.post('/v1/monitors/preview', {
      url: urls[0],
      watch: { selectors: ['.price'], fields: ['price'] },
    });
    expect(preview.body.data).toMatchObject({
      fields: { price: 91 },
      texts: [{ name: '.price', text: '91.00 EUR' }],
    });
  });

  test('of a huge page that is another at each look comes to an end and says so', async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      const lines = Array.from({ length: 12_000 }, (_, at) => `w${at * 7_919 + requests * 1_000_003}<br>`);
      response.setHeader('content-type', 'text/html');
      response.end(`<title>Numbers</title><main>${lines.join('\n')}</main>`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const id = await make({ name: 'huge', urls: [url], learnNoise: true, failAfter: 1 });
    expect([await check(id), await check(id)]).toEqual([{}, {}]);
    expect((await get(id)).lastCheck).toMatchObject({ pages: 1, changes: 0, failed: 1 });
    server.close();
  });

  test('refuses what it could not honour, by field', async () => {
    const base = { name: 'x', urls: [`${site.origin}/`], schedule: { every: '1h' } };
    for (const [field, rest] of [
      ['urls', { site: site.origin }],
      ['watch.screenshot', { watch: { screenshot: true } }],
      ['schedule.cron', { schedule: {} }],
      ['schedule.cron', { schedule: { cron: '* * * * * *' } }],
      ['schedule.every', { schedule: { every: '30s' } }],
      ['notify.slack', { notify: { slack: 'ftp://x/' } }],
      ['notify.email', { notify: { email: 'me@example.com' } }],
    ] as const) {
      const { status, body } = await world.post('/v1/monitors', { ...base, ...rest });
      expect([field, status]).toEqual([field, 422]);
      expect(JSON.stringify(body.error)).toContain(`"${field}"`);
    }
  });
});

describe('the command "monitor"', () => {
  test('makes a baseline, then exits with 0 or with 10 and the changes', { timeout: 120_000 }, async () => {
    const folder = temporaryFolder();
    site.show(0);
    const run = () =>
      runCommand(
        [
          ...['monitor', `${site.origin}/swap`, `${site.origin}/stable`, '--allow-private'],
          ...['--watch', 'field:price', '--confirm', '1', '--no-noise', '--no-recheck'],
        ],
        { env: { SCRAPIFIE_DATA_DIR: folder.path('data') } },
      );
    try {
      expect(await run()).toMatchObject({ exitCode: 0, stdout: '' });
      expect(await run()).toMatchObject({ exitCode: 0, stdout: '' });
      site.show(1);
      const { exitCode, stdout, stderr } = await run();
      expect(exitCode).toBe(10);
      expect(stderr).toContain('1 change.\n');
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'MODIFIED', url: `${site.origin}/swap` });
      expect(await run()).toMatchObject({ exitCode: 0, stdout: '' });
    } finally {
      folder.remove();
    }
  });
});
