import type { RequestListener } from 'node:http';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { RenderAction } from '../../core/model/render.ts';
import { Deadline } from '../deadline.ts';
import type { BrowserRequest } from '../engine.ts';
import { serve } from '../http/loopback.fixture.ts';
import { shuttingDown } from '../render-errors.ts';
import { failureOf, lastingBrowser, requestFor, textOf } from './browser.fixture.ts';
import { contextPlanFor } from './browser-engine.ts';
import { cdpTools } from './page/cdp-tools.ts';
import { type AttemptOptions, RenderAttempt } from './render-attempt.ts';

const { engine, runtime } = lastingBrowser({ maxBrowsers: 1, pagesAtOnce: 2, pagesEach: 2 });
afterAll(() => engine.close());

const limits = {
  maxXhr: 10,
  maxXhrBytes: 10_000,
  maxXhrTotalBytes: 10_000,
  maxErrors: 10,
  maxRawBytes: 10_000,
  maxPageBytes: 1_000_000,
};

/** An attempt on a page of the pool, which gets the page back when the test ends. */
async function attemptAt(
  url: string,
  more: Partial<BrowserRequest> = {},
  options: Partial<AttemptOptions> = {},
): Promise<RenderAttempt> {
  const request = requestFor(url, more);
  const { pool, proxy, guard } = await runtime.ready();
  const lease = await pool.acquire(contextPlanFor(request, 'TestBot/1', {}), 20_000);
  const deadline = new Deadline(request.timeoutMs, new URL(url).host);
  const attempt = new RenderAttempt({
    request,
    lease,
    proxy,
    deadline,
    guard,
    limits,
    ending: new AbortController().signal,
    openTools: cdpTools,
    isDisguised: false,
    hooks: {},
    ...options,
  });
  onTestFinished(() => {
    deadline.end();
    lease.release(attempt.isPageBroken ? 'broken' : 'clean');
  });
  return attempt;
}

const site = async (listener: RequestListener): Promise<string> => `${(await serve(listener)).origin}/`;
const html = (body: string): RequestListener => {
  return (_, response) => response.setHeader('content-type', 'text/html').end(`<!doctype html><body>${body}`);
};

describe('a render attempt', () => {
  test('reads the document as scripts left it, the body as it came, and leaves the page usable', async () => {
    const body = '<p id=a>server</p><script>a.textContent = "script"</script>';
    const attempt = await attemptAt(await site(html(body)));
    const response = await attempt.run();
    expect(response).toMatchObject({ statusCode: 200, failure: null, redirectedTo: null });
    expect(textOf(response)).toContain('<p id="a">script</p>');
    expect(Buffer.from(response.rawBody ?? []).toString()).toContain(body);
    expect(attempt.isPageBroken).toBe(false);
  });

  test('reads a response that is no page without rendering it', async () => {
    const url = await site((_, response) =>
      response.setHeader('content-type', 'text/plain').end('plain <b>'),
    );
    const attempt = await attemptAt(url);
    const response = await attempt.run();
    expect(response).toMatchObject({ contentType: 'text/plain', rawBody: null });
    expect(textOf(response)).toBe('plain <b>');
    expect(attempt.isPageBroken).toBe(false);
  });

  test('returns a redirect that the owner does not want followed, and requests nothing else', async () => {
    const requested: string[] = [];
    const url = await site((request, response) => {
      requested.push(request.url ?? '');
      response.writeHead(302, { location: '/next' }).end();
    });
    const asked: [string, number][] = [];
    const attempt = await attemptAt(url, {
      onRedirect: async (target, hop) => {
        asked.push([target, hop]);
        return 'stop';
      },
    });
    const response = await attempt.run();
    expect(response).toMatchObject({ statusCode: 302, redirectedTo: `${url}next`, redirects: [] });
    expect(asked).toEqual([[`${url}next`, 1]]);
    expect(requested).toEqual(['/']);
  });

  test('ends with the reason of its signal, and gives the page up', async () => {
    const ending = new AbortController();
    const url = await site(() => ending.abort(shuttingDown()));
    const attempt = await attemptAt(url, {}, { ending: ending.signal });
    expect(await failureOf(attempt.run())).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(attempt.isPageBroken).toBe(true);
  });

  test('ends with TASK_TIMEOUT when no document arrives within the navigation limit', async () => {
    const attempt = await attemptAt(await site(() => undefined), { navigationTimeoutMs: 300 });
    expect(await failureOf(attempt.run())).toMatchObject({ code: 'TASK_TIMEOUT' });
    expect(attempt.isPageBroken).toBe(true);
  });

  test('returns a document whose resources never arrive, with the failure', async () => {
    const url = await site((request, response) => {
      if (request.url === '/') html('<p>text</p><img src=/never>')(request, response);
    });
    const response = await (await attemptAt(url, { navigationTimeoutMs: 1_000 })).run();
    expect(response.failure).toMatchObject({ code: 'TASK_TIMEOUT' });
    expect(textOf(response)).toContain('<p>text</p>');
  });

  test('ends when the page loads more than it may', async () => {
    const url = await site((request, response) => {
      if (request.url === '/') html('<script src=/large></script>')(request, response);
      else response.setHeader('content-type', 'text/javascript').end(' '.repeat(3_000_000));
    });
    const attempt = await attemptAt(url, { maxBodyBytes: 100_000 });
    expect(await failureOf(attempt.run())).toMatchObject({ code: 'BODY_LIMIT_EXCEEDED' });
    expect(attempt.isPageBroken).toBe(true);
  });

  test('runs steps until the first that fails, names it, and keeps the results before it', async () => {
    const actions: RenderAction[] = [
      { type: 'evaluate', script: '1 + 1' },
      { type: 'click', selector: '#missing', timeoutMs: 300 },
      { type: 'evaluate', script: 'document.title = "too late"' },
    ];
    const attempt = await attemptAt(await site(html('<p>text</p>')), { actions, screenshot: {} });
    const response = await attempt.run();
    expect(response.failure).toMatchObject({
      code: 'ACTION_FAILED',
      details: { step: 'actions.1 click #missing' },
    });
    expect(response.extra.actions).toMatchObject([{ type: 'evaluate', value: 2 }]);
    expect(response.extra.screenshot).toBeNull();
    expect(textOf(response)).toContain('<p>text</p>');
    const picture = response.extra.failurePicture;
    expect([
      picture?.contentType,
      Buffer.from(picture?.bytes ?? [])
        .subarray(1, 4)
        .toString(),
    ]).toEqual(['image/png', 'PNG']);
  });

  test('tells of a script that fails without the stack of the library', async () => {
    const actions: RenderAction[] = [
      { type: 'evaluate', script: '(() => { throw new TypeError("no hat") })()' },
    ];
    const attempt = await attemptAt(await site(html('<p>text</p>')), { actions });
    const { failure } = await attempt.run();
    expect(failure?.message).toBe('actions.0 evaluate: TypeError: no hat');
  });

  test('passes the page to the hook after loading, and returns what it found', async () => {
    const found = { outcome: 'none', kind: null, solver: null, ms: 0, costUsd: null, note: 'none' } as const;
    const titles: string[] = [];
    const hooks: AttemptOptions['hooks'] = {
      async afterLoad(page) {
        titles.push(await page.title());
        return found;
      },
    };
    const attempt = await attemptAt(await site(html('<title>loaded</title>')), {}, { hooks });
    expect((await attempt.run()).extra.captcha).toEqual(found);
    expect(titles).toEqual(['loaded']);
  });

  test.each([
    [false, ['from a script']],
    [true, []],
  ])('with isDisguised %s reports console errors: %j', async (isDisguised, expected) => {
    const url = await site(html('<script>console.error("from a script")</script>'));
    // Pages keep the session of their first use: each case has a context of its own.
    const attempt = await attemptAt(url, { key: `disguised ${isDisguised}` }, { isDisguised });
    expect((await attempt.run()).extra.consoleErrors).toEqual(expected);
  });
});
