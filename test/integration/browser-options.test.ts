import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScrapeResult } from '../../src/capabilities/jobs/results/job-reader.ts';
import type { ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';

const LIMIT_MS = 90_000;
const PAGES: Readonly<Record<string, string>> = {
  '/robots.txt': 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  '/pushed': answer(
    '<p>list</p><a href="next">next</a><script>history.pushState(null, "", "/shop/list/2")</script>',
  ),
  '/odd-head': 'HTTP/1.1 200 OK\nContent-Type : text/html\nContent-Length: 10, 10\n\n<p>odd</p>',
  // A space behind the size of a chunk: browsers read over it, the parser of plain HTTP does not.
  '/odd-chunks':
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nc \r\n<p>chunk</p>\r\n0\r\n\r\n',
  // More of it comes when it is scrolled.
  '/job': answer(
    '<h1>Baker</h1><div style="height:3000px"></div><p id=m></p><script>onscroll = () => { m.textContent = "all of it" }</script>',
  ),
  '/phone': answer('<p id=w></p><script>w.textContent = innerWidth + " " + navigator.userAgent</script>'),
};
let world: ApiWorld;
let origin: string;
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (head) => {
    const path = /^GET (\S+)/.exec(head.toString('latin1'))?.[1] ?? '';
    socket.end(PAGES[path] ?? 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  });
});

function answer(body: string): string {
  const html = `<!doctype html><html><head><meta name=viewport content="width=device-width"></head><body>${body}</body></html>`;
  return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${html}`;
}

beforeAll(async () => {
  world = await openBrowserWorld({ site: { pages: 1 } });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterAll(async () => {
  server.close();
  await world.close();
}, LIMIT_MS);

async function scrape(path: string, more: Record<string, unknown> = {}): Promise<ScrapeResult> {
  const { status, body } = await world.post('/v1/scrape', {
    url: origin + path,
    formats: ['html', 'links'],
    timeoutMs: 60_000,
    ...more,
  });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as unknown as ScrapeResult;
}

describe('a rendered page', () => {
  test(
    'has the URL that its scripts have given it, and its links are relative to that',
    async () => {
      const { finalUrl, links } = await scrape('/pushed', { engine: 'browser' });
      expect(finalUrl).toBe(`${origin}/shop/list/2`);
      expect(links?.map(({ url }) => url)).toEqual([`${origin}/shop/list/next`]);
    },
    LIMIT_MS,
  );

  test(
    'is shown on the screen that was asked for',
    async () => {
      const { html } = await scrape('/phone', { mobile: true, viewport: { width: 390, height: 800 } });
      expect(html).toMatch(/<p id="w">390 .* Mobile<\/p>/);
    },
    LIMIT_MS,
  );
});

test(
  'a page that is rendered for a type that loads on the way is scrolled by itself, unless the request says no',
  async () => {
    const extract = { type: 'job_posting' };
    const job = { engine: 'browser', extract };
    expect((await scrape('/job', job)).html).toContain('all of it</p>');
    expect((await scrape('/job', { ...job, scroll: false })).html).not.toContain('all of it</p>');
    expect((await scrape('/job', { engine: 'browser' })).html).not.toContain('all of it</p>');
  },
  LIMIT_MS,
);

describe('a response that browsers accept', () => {
  test(
    'is read by plain HTTP where its head alone is unusual, and by the browser as well',
    async () => {
      const plain = await scrape('/odd-head');
      expect(plain.trace.attempts.map(({ engine, outcome }) => [engine, outcome])).toEqual([['http', 'ok']]);
      expect(plain.html).toContain('<p>odd</p>');
      expect((await scrape('/odd-head', { engine: 'browser' })).html).toContain('<p>odd</p>');
    },
    LIMIT_MS,
  );

  test(
    'and plain HTTP refuses is rendered with `auto`',
    async () => {
      const { html, trace } = await scrape('/odd-chunks');
      expect(html).toContain('<p>chunk</p>');
      expect(trace.attempts.map(({ engine, reason }) => [engine, reason])).toEqual([
        ['http', 'plan.cheapest'],
        ['browser', 'plan.render:PROTOCOL_ERROR'],
      ]);
      let again = await scrape('/odd-chunks');
      // Now and then a cheaper way is tried, to notice when the site has changed.
      if (again.trace.attempts[0]?.reason === 'plan.probe') again = await scrape('/odd-chunks');
      expect(again.trace.attempts.map(({ reason }) => reason)).toEqual(['plan.remembered']);
    },
    LIMIT_MS,
  );
});
