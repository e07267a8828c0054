import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';
import { type GuardedSite, PASSWORD, PRIVATE_PAGES, startGuardedSite, USER } from './guarded-site.ts';

const LIMIT_MS = 120_000;

let site: GuardedSite;
let world: ApiWorld;
beforeAll(async () => {
  site = await startGuardedSite();
  world = await openBrowserWorld();
  const login = { kind: 'login', hosts: [site.host], username: USER };
  await put('right', { ...login, password: PASSWORD });
  await put('wrong', { ...login, password: 'not this one' });
  await put('elsewhere', { ...login, hosts: ['other.example'], password: PASSWORD });
}, LIMIT_MS);
beforeEach(() => site.logOut());
afterAll(async () => {
  await world?.close();
  await site?.close();
}, LIMIT_MS);

async function put(name: string, payload: Record<string, unknown>): Promise<void> {
  const { status } = await world.call({ method: 'PUT', url: `/v1/credentials/${name}`, payload });
  expect(status).toBe(200);
}
const session = (name: string, credentials: string | null) =>
  world.post('/v1/sessions', { name, credentials });
const logIn = (name: string, request: object) => world.post(`/v1/sessions/${name}/login`, request);
const crawl = async (name: string, more: object = {}) => {
  const urls = [`${site.origin}/private/`];
  const made = await world.post('/v1/crawl', { urls, sitemap: 'skip', options: { session: name }, ...more });
  return world.ended({ id: made.body.data?.id as never });
};
const titles = async (job: { id: never } | Awaited<ReturnType<typeof crawl>>) =>
  (await world.pages(job)).map(({ title }) => title);

describe('a log-in', () => {
  test('sends the form of the page by plain HTTP, and a crawl in the session reads what is behind it', async () => {
    await session('plain', 'right');
    const { status, body } = await logIn('plain', { url: `${site.origin}/login` });
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.data).toMatchObject({
      method: 'form',
      finalUrl: `${site.origin}/private/`,
      statusCode: 200,
      session: { name: 'plain', cookies: [{ name: 'visitor' }] },
    });
    const job = await crawl('plain');
    expect([job.status, job.stopReason, job.counters.pages]).toEqual(['completed', null, PRIVATE_PAGES]);
    expect(await titles(job)).toContain('Secret /private/3');
  });

  test(
    'is done by a browser where scripts make the form',
    async () => {
      await session('scripted', 'right');
      const { body } = await logIn('scripted', { url: `${site.origin}/scripted-login` });
      expect(body.error).toBeUndefined();
      expect(body.data).toMatchObject({ method: 'browser', finalUrl: `${site.origin}/private/` });
      expect((await crawl('scripted')).counters.pages).toBe(PRIVATE_PAGES);
    },
    LIMIT_MS,
  );

  test(
    'does the actions of the request instead',
    async () => {
      await session('stepwise', 'right');
      const { body } = await logIn('stepwise', {
        url: `${site.origin}/login`,
        actions: [
          { type: 'type', selector: 'input[name=user]', text: '{{username}}' },
          { type: 'type', selector: 'input[name=secret]', text: '{{password}}' },
          { type: 'click', selector: 'button' },
          { type: 'wait', selector: 'a[href="/private/1"]' },
        ],
      });
      expect(body.error).toBeUndefined();
      expect(body.data).toMatchObject({ method: 'actions' });
      expect((await crawl('stepwise')).counters.pages).toBe(PRIVATE_PAGES);
    },
    LIMIT_MS,
  );

  test('that the site refuses is LOGIN_FAILED, and is sent once', async () => {
    await session('refused', 'wrong');
    const before = site.heard.length;
    const { status, body } = await logIn('refused', { url: `${site.origin}/login` });
    expect([status, body.error?.code]).toEqual([422, 'LOGIN_FAILED']);
    expect(body.error?.message).toContain('still asks to log in');
    expect(site.heard.slice(before).filter((line) => line.startsWith('POST'))).toHaveLength(1);
  });

  test('says what is missing: a form, or credentials', async () => {
    await session('formless', 'right');
    const formless = await logIn('formless', { url: `${site.origin}/` });
    expect(formless.body.error?.code).toBe('LOGIN_FAILED');
    expect(formless.body.error?.message).toContain('no log-in form');
    await session('bare', null);
    expect((await logIn('bare', { url: `${site.origin}/login` })).body.error?.code).toBe(
      'UNSUPPORTED_OPTION',
    );
  });

  test('sends the password to the hosts of the credentials alone, and keeps it out of jobs', async () => {
    await session('abroad', 'elsewhere');
    const before = site.heard.length;
    const { body } = await logIn('abroad', { url: `${site.origin}/login` });
    expect(JSON.stringify(body)).toContain('other.example');
    expect(site.heard.slice(before).join('\n')).not.toContain('horse');
    const { body: jobs } = await world.call({ method: 'GET', url: '/v1/jobs' });
    expect(JSON.stringify(jobs)).not.toContain('horse');
  });

  test('of a caller cannot be had by a body of the caller', async () => {
    await session('thief', 'right');
    const before = site.heard.length;
    const request = {
      url: `${site.origin}/session`,
      session: 'thief',
      method: 'POST',
      body: 'user={{password}}',
    };
    await world.post('/v1/scrape', request);
    const forged = { ...request, fillBodyFrom: `${site.origin}/login` };
    expect((await world.post('/v1/scrape', forged)).status).toBe(422);
    expect(site.heard.slice(before).join('\n')).not.toContain('horse');
  });
});

describe('a crawl whose pages ask to log in', () => {
  test('stops, says so, keeps no log-in form as a result, and goes on after the next log-in', async () => {
    await session('ended', 'right');
    await logIn('ended', { url: `${site.origin}/login` });
    site.logOut();
    const urls = Array.from({ length: PRIVATE_PAGES - 1 }, (_, n) => `${site.origin}/private/${n + 1}`);
    const job = await crawl('ended', { urls, maxLoginWalls: 3, concurrency: 1 });
    expect([job.status, job.stopReason, job.counters.pages]).toEqual(['failed', 'login-walls', 0]);
    const { body } = await world.call({ method: 'GET', url: `/v1/jobs/${job.id}/errors` });
    const items = body.data?.items as { code: string; url: string }[];
    expect(items.length).toBeGreaterThanOrEqual(3);
    expect(items.every(({ code, url }) => code === 'LOGIN_REQUIRED' && urls.includes(url))).toBe(true);

    await logIn('ended', { url: `${site.origin}/login` });
    await world.post(`/v1/jobs/${job.id}/resume`, {});
    const ended = await world.ended(job);
    expect([ended.status, ended.stopReason, ended.counters.failed]).toEqual(['completed', null, 0]);
    expect(ended.counters.pages).toBe(urls.length);
  });

  test('goes on to its end where it is told to', async () => {
    const urls = Array.from({ length: 6 }, (_, n) => `${site.origin}/private/${n + 1}`);
    const job = await crawl('never-logged-in', { urls, maxLoginWalls: 0 });
    expect([job.status, job.stopReason, job.counters.failed]).toEqual(['failed', null, 6]);
  });
});
