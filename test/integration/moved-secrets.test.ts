import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { recheckRequest } from '../../src/capabilities/monitors/monitor-jobs.ts';
import { SECRET_FIELDS, type SecretField } from '../../src/capabilities/sessions/secret-fields.ts';
import type { AccountId, ScheduleId } from '../../src/core/model/ids.ts';
import type { Schedule } from '../../src/core/ports/schedule-store.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { QUICK_POLICY } from './world.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const SECRET = 'hunter2-the-secret';

/** A place that notes whatever it is sent. */
interface Place {
  readonly origin: string;
  readonly heard: string[];
  readonly server: Server;
}

async function startPlace(elsewhere: () => string = () => ''): Promise<Place> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`);
      if (request.url === '/robots.txt') return response.writeHead(404).end();
      if (request.url === '/away') return response.writeHead(302, { location: elsewhere() }).end();
      if (request.url === '/sitemap.xml') {
        response.setHeader('content-type', 'application/xml');
        return response.end(`<urlset><url><loc>${elsewhere()}</loc></url></urlset>`);
      }
      response.setHeader('content-type', 'text/html');
      return response.end(`<title>t</title><p>words</p><a href="${elsewhere()}">on</a>`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard, server };
}

let world: ApiWorld;
let own: Place;
let stranger: Place;
beforeAll(async () => {
  stranger = await startPlace();
  own = await startPlace(() => `${stranger.origin}/led`);
  world = await openApiWorld({ policy: QUICK_POLICY, settings: { vaultKey: '5a'.repeat(32) } });
});
afterAll(async () => {
  await world.close();
  for (const { server } of [own, stranger]) server.close();
});
beforeEach(() => {
  own.heard.length = 0;
  stranger.heard.length = 0;
});

const patch = (url: string, payload: object) => world.call({ method: 'PATCH', url, payload });
const told = ({ heard }: Place) => heard.join('\n');

async function make(path: string, request: object): Promise<string> {
  const made = await world.post(path, request);
  expect(made.body.error).toBeUndefined();
  expect(made.status).toBe(201);
  return `${path}/${made.body.data?.id}`;
}

/** Runs what a monitor or schedule starts, until its last run has a job that has ended. */
async function run(url: string): Promise<void> {
  const started = await vi.waitFor(async () => {
    const answer = await world.post(`${url}/run`, {});
    expect(answer.status).toBe(202);
    return answer.body.data as { scheduleId: string; id: string };
  }, WAIT);
  await vi.waitFor(async () => {
    const { body } = await world.call({
      url: `/v1/schedules/${started.scheduleId}/runs/${started.id}`,
    });
    expect(['completed', 'failed', 'partially_completed']).toContain(body.data?.jobStatus);
  }, WAIT);
}

/** Page options with a value of the field; null where no request of a monitor takes one. */
const OPTIONS: { readonly [Field in SecretField & `page.${string}`]: object | null } = {
  'page.headers': { headers: { 'X-Api-Key': SECRET } },
  'page.cookies': { cookies: { sid: SECRET } },
  'page.body': null,
  'page.actions.text': { actions: [{ type: 'type', selector: '#a', text: SECRET, timeoutMs: 100 }] },
  'page.actions.value': { actions: [{ type: 'select', selector: '#a', value: SECRET, timeoutMs: 100 }] },
  'page.actions.files': {
    actions: [
      { type: 'upload', selector: '#a', files: [{ name: 'f', base64: btoa(SECRET) }], timeoutMs: 100 },
    ],
  },
  'page.actions.script': { actions: [{ type: 'evaluate', script: `'${SECRET}'` }] },
  'page.proxy.url': { proxy: { url: 'http://user:hunter2-the-secret@127.0.0.1:1' } },
  'page.proxy.urls': { proxy: { urls: ['http://user:hunter2-the-secret@127.0.0.1:1'] } },
};
const SENT = { headers: { 'X-Api-Key': SECRET }, cookies: { sid: SECRET } };
const monitorOf = (request: object) =>
  make('/v1/monitors', { name: 'm', schedule: { every: '1d' }, confirm: 1, recheck: false, ...request });

describe('the secrets of a monitor', { timeout: 180_000 }, () => {
  const fields = Object.keys(OPTIONS) as (keyof typeof OPTIONS)[];
  const moved = fields.filter((field) => OPTIONS[field] !== null && SECRET_FIELDS[field] === 'pages');
  test.each(moved)('do not go to another origin: %s', async (field) => {
    const url = await monitorOf({ urls: [`${own.origin}/page`], options: OPTIONS[field] });
    for (const urls of [[`${stranger.origin}/`], [`${own.origin}/page`, `${stranger.origin}/`]]) {
      const refused = await patch(url, { urls });
      expect([refused.status, refused.body.error?.code]).toEqual([422, 'SECRETS_BOUND']);
      expect(refused.body.error?.details).toMatchObject([{ field: `options.${field.split('.')[1]}` }]);
      expect(JSON.stringify(refused.body)).not.toContain(SECRET);
    }
    expect((await patch(url, { urls: [`${own.origin}/other`] })).status).toBe(200);
    expect((await patch(url, { urls: [`${stranger.origin}/`], options: {} })).status).toBe(200);
    await run(url);
    expect(told(stranger)).toContain('GET / ');
    expect(told(stranger)).not.toContain(SECRET);
  });

  test('of a site or sitemap do not, either', async () => {
    for (const [target, path] of [
      ['site', '/'],
      ['sitemap', '/sitemap.xml'],
    ] as const) {
      const url = await monitorOf({ [target]: `${own.origin}${path}`, options: SENT });
      const refused = await patch(url, { [target]: `${stranger.origin}${path}` });
      expect([refused.status, refused.body.error?.code]).toEqual([422, 'SECRETS_BOUND']);
      await run(url);
      expect(told(own)).toContain(SECRET);
      expect(told(stranger)).not.toContain(SECRET);
    }
  });

  test('stay where a redirect leads elsewhere', async () => {
    await run(await monitorOf({ urls: [`${own.origin}/away`], options: SENT }));
    await vi.waitFor(() => expect(told(stranger)).toContain('GET /led'), WAIT);
    expect(told(own)).toContain(SECRET);
    expect(told(stranger)).not.toContain(SECRET);
  });

  test('that are bound to a server of their own do not hinder a change', async () => {
    const url = await monitorOf({ urls: [`${own.origin}/page`], options: OPTIONS['page.proxy.url'] });
    expect((await patch(url, { urls: [`${stranger.origin}/`] })).status).toBe(200);
  });

  test('do not go to a page that the site has named when it is looked at again', async () => {
    const job = { kind: 'crawl', request: { urls: [`${own.origin}/`], options: SENT }, credentials: 'use' };
    const schedule = { id: 's' as ScheduleId, accountId: 'default' as AccountId, job } as Schedule;
    const again = recheckRequest(schedule, null, [`${own.origin}/page`, `${stranger.origin}/again`]);
    expect(again.secretOrigins).toEqual([own.origin]);
    const { jobs, store } = world.platform;
    const started = await jobs.batch(again.request, await store.defaultAccount(), {
      secretOrigins: again.secretOrigins,
    });
    await jobs.waitFor(started.id, 60_000);
    expect(told(own)).toContain(SECRET);
    expect(told(stranger)).toContain('GET /again');
    expect(told(stranger)).not.toContain(SECRET);
  });
});

describe('the secrets of a schedule', { timeout: 180_000 }, () => {
  test('are those of the job that a change gives, and of no earlier one', async () => {
    const page = { ...SENT, method: 'POST', body: SECRET };
    const webhook = { url: `${own.origin}/hook`, secret: SECRET, headers: { 'x-hook': SECRET } };
    const job = { kind: 'batch', urls: [`${own.origin}/`], options: page, webhook };
    const url = await make('/v1/schedules', { name: 's', every: '1d', job });
    await run(url);
    expect(told(own)).toContain(SECRET);
    const moved = {
      kind: 'batch',
      urls: [`${stranger.origin}/`],
      webhook: { url: `${stranger.origin}/hook` },
    };
    expect((await patch(url, { job: moved })).status).toBe(200);
    await run(url);
    await vi.waitFor(() => expect(told(stranger)).toContain('POST /hook'), WAIT);
    expect(told(stranger)).not.toContain(SECRET);
  });
});

describe('the secrets of a webhook', { timeout: 180_000 }, () => {
  test('are not sent to another receiver', async () => {
    const url = await make('/v1/webhooks', {
      url: `${own.origin}/hook`,
      events: ['job.*'],
      secret: SECRET,
      headers: { 'x-hook': SECRET },
    });
    await world.post(`${url}/test`, {});
    await vi.waitFor(() => expect(told(own)).toContain('POST /hook'), WAIT);
    expect(told(own)).toContain(SECRET);
    const refused = await patch(url, { url: `${stranger.origin}/hook` });
    expect([refused.status, refused.body.error?.code]).toEqual([422, 'SECRETS_BOUND']);
    expect(refused.body.error?.details).toMatchObject([{ field: 'headers' }]);
    expect((await patch(url, { format: 'slack' })).body.error?.code).toBe('SECRETS_BOUND');
    const moved = await patch(url, { url: `${stranger.origin}/hook`, headers: {} });
    expect(moved.body.data?.secret).toMatch(/^whsec_/);
    await world.post(`${url}/test`, {});
    await vi.waitFor(() => expect(told(stranger)).toContain('POST /hook'), WAIT);
    expect(told(stranger)).not.toContain(SECRET);
  });
});
