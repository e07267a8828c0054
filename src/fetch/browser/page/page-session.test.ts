import type { Page } from 'patchright-core';
import { afterAll, expect, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { lastingBrowser, render, testBrowser, textOf } from '../browser.fixture.ts';

const { engine } = lastingBrowser({ maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 });
afterAll(() => engine.close());

const wantsPassword = { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="ours"' };

test('a page that wants a password is shown as it is without', async () => {
  const { origin } = await serve((_, response) => {
    response.writeHead(401, wantsPassword).end('<p>members only');
  });
  const response = await render(engine, `${origin}/`);
  expect(response.statusCode).toBe(401);
  expect(textOf(response)).toContain('members only');
});

test('a script that is asked for a password hears so', async () => {
  const { origin } = await serve((request, response) => {
    if (request.url === '/data') response.writeHead(401, wantsPassword).end('no');
    else {
      response
        .setHeader('content-type', 'text/html')
        .end(
          "<body><script>fetch('/data').then(({ status }) => { document.body.append('heard ' + status) })</script>",
        );
    }
  });
  expect(textOf(await render(engine, `${origin}/`))).toContain('heard 401');
});

test('nobody is asked for the picture on a tab', async () => {
  const asked: string[] = [];
  const { origin } = await serve((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'text/html').end('<title>t</title><p>text');
  });
  for (const path of ['/a', '/b', '/c']) await render(engine, origin + path);
  expect(asked).toEqual(['/a', '/b', '/c']);
});

test('a tab that has shown many pages has no more worlds in it than one that has shown few', async () => {
  const tabs = new Set<Page>();
  const hooks = { beforeNavigation: (page: Page) => void tabs.add(page) };
  const own = testBrowser({ maxBrowsers: 1, pagesAtOnce: 1, pagesEach: 1 }, { hooks });
  const { origin } = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>text'),
  );
  const show = async (pages: number) => {
    for (let page = 0; page < pages; page += 1) {
      await render(own.engine, `${origin}/${page}`, { wait: { selector: 'p' } });
    }
  };
  const worlds = async (): Promise<number> => {
    const [tab] = [...tabs] as [Page];
    const session = await tab.context().newCDPSession(tab);
    let count = 0;
    session.on('Runtime.executionContextCreated', () => {
      count += 1;
    });
    await session.send('Runtime.enable');
    await session.detach();
    return count;
  };
  await show(2);
  const few = await worlds();
  expect(few).toBeGreaterThan(0);
  await show(8);
  expect(tabs.size).toBe(1);
  // The worlds of the last page may exist for a moment beside those of the empty page that follows it.
  await expect.poll(worlds).toBeLessThanOrEqual(few);
});
