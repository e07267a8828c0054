import type { ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { createByteBudget } from '../../byte-budget.ts';
import { serve } from '../../http/loopback.fixture.ts';
import { failureOf, lastingBrowser, render, textOf } from '../browser.fixture.ts';

const MAX_PAGE_BYTES = 3_000_000;
const { engine } = lastingBrowser(
  { pagesAtOnce: 2, pagesEach: 2, maxBrowsers: 1 },
  { limits: { maxPageBytes: MAX_PAGE_BYTES } },
);
afterAll(() => engine.close());

const TEXT = Buffer.alloc(65_536, 'text of a comment ');

/** Writes the same bytes for as long as they are taken. */
function pour(response: NodeJS.WritableStream & { readonly destroyed?: boolean }): void {
  const more = () => {
    while (response.destroyed !== true && response.write(TEXT));
  };
  response.on('drain', more);
  more();
}

function pourCompressed(response: ServerResponse): void {
  const coder = createGzip();
  coder.pipe(response);
  response.on('close', () => coder.destroy());
  pour(coder);
}

/** Each path is answered without end. */
async function site() {
  let isCut = 0;
  const { origin } = await serve((request, response) => {
    const { url = '' } = request;
    response.on('close', () => {
      if (!response.writableFinished) isCut += 1;
    });
    const type = url.startsWith('/page') ? 'text/html' : 'application/octet-stream';
    const encoding = url.endsWith('gzip') ? { 'content-encoding': 'gzip' } : {};
    const loads = /^\/loads-(.+)$/.exec(url)?.[1];
    if (url === '/small') response.end('<p>small</p>');
    else if (loads !== undefined) {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<p>loads</p><script>fetch('/data-${loads}').then((r) => r.arrayBuffer())</script>`);
    } else {
      response.writeHead(200, { 'content-type': type, ...encoding });
      if (type === 'text/html') response.write(url.endsWith('gzip') ? '' : '<p>page</p><!--');
      if (url.endsWith('gzip')) pourCompressed(response);
      else pour(response);
    }
  });
  return { origin, isCut: () => isCut };
}

const wait = { until: 'networkidle' } as const;

describe('a page that loads without end', () => {
  test.each([
    // Where nothing is compressed, the proxy may be the first to notice.
    ['its document', '/page', /larger than [13]000000 bytes/],
    ['its document, compressed', '/page-gzip', /^The body is larger than 1000000 bytes/],
    ['by script', '/loads-plain', /^The page and what it loads are larger than 3000000 bytes/],
    ['by script, compressed', '/loads-gzip', /^The page and what it loads are larger than 3000000 bytes/],
  ])('%s: is ended while it loads, and given back', async (_, path, message) => {
    const { origin, isCut } = await site();
    const held = createByteBudget(100_000_000).open();
    const limits = { maxBodyBytes: 1_000_000, timeoutMs: 60_000, navigationTimeoutMs: 60_000, wait, held };
    const failure = await failureOf(render(engine, `${origin}${path}`, limits));
    expect(failure.code).toBe('BODY_LIMIT_EXCEEDED');
    expect(failure.message).toMatch(message);
    expect(held.bytes).toBe(0);
    await expect.poll(isCut, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(textOf(await render(engine, `${origin}/small`))).toContain('small');
  });
});

test('what a page may load is at least what its document may be', async () => {
  const { origin } = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<p>large</p><!--${'a'.repeat(MAX_PAGE_BYTES + 500_000)}-->`);
  });
  const response = await render(engine, origin, { maxBodyBytes: 5_000_000 });
  expect(response.body.byteLength).toBeGreaterThan(MAX_PAGE_BYTES);
});
