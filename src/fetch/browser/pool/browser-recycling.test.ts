import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serve } from '../../http/loopback.fixture.ts';
import { lastingBrowser, render } from '../browser.fixture.ts';

test('property 12: a browser shows as many pages as it may, and the next page has another browser', async () => {
  const { origin } = await serve((_, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><p>x');
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 4 }),
      async (pagesPerBrowser, pages) => {
        const { engine, runtime } = lastingBrowser({ maxBrowsers: 1, pagesAtOnce: 1, pagesPerBrowser });
        try {
          for (let count = 1; count <= pages; count += 1) {
            expect((await render(engine, `${origin}/`)).statusCode).toBe(200);
            expect(runtime.running?.pool.stats).toMatchObject({
              launched: Math.ceil(count / pagesPerBrowser),
              crashed: 0,
            });
          }
        } finally {
          await engine.close();
        }
      },
    ),
    { numRuns: 2 },
  );
}, 120_000);
