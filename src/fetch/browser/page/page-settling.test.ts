import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { lastingBrowser, render, testBrowser, textOf, until } from '../browser.fixture.ts';
import { treePids } from '../pool/process-tree.ts';

const { engine } = lastingBrowser({ maxBrowsers: 1, pagesAtOnce: 4, pagesEach: 4 });
afterAll(() => engine.close());

const shell = (script: string): string =>
  `<!doctype html><title>t</title><body><div id=app></div><script>const app = document.getElementById('app'); ${script}</script>`;
const SHOW = "fetch('/data').then((answer) => answer.text()).then((text) => { app.textContent = text; });";

describe('a page that nobody said when to read', () => {
  test.each([
    ['asks at once and is answered late', SHOW, 400],
    [
      'asks only after it has loaded',
      `addEventListener('load', () => setTimeout(() => { ${SHOW} }, 300));`,
      0,
    ],
    ['asks again for what the first answer named', `fetch('/data').then(() => { ${SHOW} });`, 150],
  ])('and whose script %s is read when its content is there', async (_, script, delayMs) => {
    const { origin } = await serve((request, response) => {
      if (request.url === '/data') setTimeout(() => response.end('what was fetched'), delayMs);
      else response.setHeader('content-type', 'text/html').end(shell(script));
    });
    expect(textOf(await render(engine, `${origin}/`))).toContain('<div id="app">what was fetched</div>');
  });

  test('and that stands behind a challenge is read when that is over', async () => {
    const { origin } = await serve((request, response) => {
      const isLet = request.headers.cookie?.includes('cf_clearance=1') === true;
      response.writeHead(isLet ? 200 : 403, {
        'content-type': 'text/html',
        ...(isLet ? {} : { 'cf-mitigated': 'challenge', server: 'cloudflare' }),
      });
      const work =
        "window._cf_chl_opt = { cRay: '0' }; setTimeout(() => { document.cookie = 'cf_clearance=1'; location.reload(); }, 400);";
      response.end(isLet ? '<p>behind' : `<title>Just a moment...</title><body><script>${work}</script>`);
    });
    const response = await render(engine, `${origin}/`);
    expect(response.statusCode).toBe(200);
    expect(textOf(response)).toContain('behind');
  });

  test('and that stays a shell is read all the same', async () => {
    const { origin } = await serve((_, response) =>
      response.setHeader('content-type', 'text/html').end(shell('')),
    );
    const response = await render(engine, `${origin}/`);
    expect(response.failure).toBeNull();
    expect(textOf(response)).toContain('<div id="app"></div>');
  });
});

test('what is to be looked at after loading is, before waits and actions, and its result is kept', async () => {
  const order: string[] = [];
  const captcha = { outcome: 'solved', kind: 'x', solver: 'y', ms: 1, costUsd: null, note: '' } as const;
  const own = testBrowser(
    { maxBrowsers: 1 },
    {
      hooks: {
        async afterLoad(page, request, signal) {
          order.push(`${request.url} ${signal.aborted}`);
          await page.evaluate(
            "document.body.append(Object.assign(document.createElement('i'), { id: 'late' }))",
          );
          return captcha;
        },
      },
    },
  );
  const { origin } = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>x'),
  );
  const { extra, failure } = await render(own.engine, `${origin}/`, { wait: { selector: '#late' } });
  expect(failure).toBeNull();
  expect(order).toEqual([`${origin}/ false`]);
  expect(extra.captcha).toEqual(captcha);
});

test('a page whose process is gone refuses what is asked of it, and this process lives on', async () => {
  const { engine: own, runtime } = testBrowser({ maxBrowsers: 1 });
  const { origin } = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>x'),
  );
  await render(own, `${origin}/`);
  const running = await runtime.ready();
  const plan = { identity: 'crash', options: {}, upstream: null };
  const lease = await running.pool.acquire(plan, 10_000);
  onTestFinished(() => lease.release('broken'));
  const [browser = 0] = running.pool.pids;
  const before = new Set(await treePids(browser));
  await lease.page.goto(`${origin}/`);
  const asked = [lease.page.evaluate('new Promise(() => {})'), lease.page.evaluate('new Promise(() => {})')];
  for (const each of asked) each.catch(() => {});
  const session = await lease.page.context().newCDPSession(lease.page);
  session.send('Page.crash').catch(() => {});
  await until(() => lease.lost.aborted);
  expect(lease.lost.reason).toMatchObject({ code: 'BROWSER_CRASHED' });
  // Each of these would try for ever.
  await expect(lease.page.evaluate('1')).rejects.toThrow();
  await expect(lease.page.locator('p').first().click({ timeout: 1_000 })).rejects.toThrow();
  expect(before.size).toBeGreaterThan(0);
  expect(textOf(await render(own, `${origin}/`))).toContain('<p>x');
});
