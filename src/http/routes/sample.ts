import { shopPages } from '../samples/bookshop.ts';
import type { App } from '../server/app.ts';

/** Where the page is that a first try can scrape without a network. */
export const SAMPLE_PATH = '/sample';
/** Where the small site is that a first crawl can follow without a network. */
const SHOP_PATH = '/sample/shop';
const SHOP = shopPages({ base: SHOP_PATH });
/** A link of the shop that leads nowhere, so that a first crawl shows a failure and its cause. */
const BROKEN_LINK = `${SHOP_PATH}/shipping`;
/** What must be fetched from this server itself to scrape them, and all that may be. */
export const SAMPLE_PATHS: readonly string[] = [SAMPLE_PATH, '/robots.txt', BROKEN_LINK, ...SHOP.keys()];

const SAMPLE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page to try Scrapifie on</title>
<meta name="description" content="Served by your own Scrapifie, so that the first scrape needs no network.">
</head>
<body>
<h1>It works</h1>
<p>Your server has fetched this page from itself: asked robots.txt first, kept to the host's rate, stored the body and
read out what you see in the answer.</p>
<h2>What next</h2>
<ul>
<li><a href="/help">Read the documentation</a></li>
<li><a href="/docs">Try the API</a></li>
<li><a href="https://example.com/">Scrape a page of the web</a></li>
</ul>
</body>
</html>
`;

/** Crawlers that come by have no business with an API. */
const ROBOTS = `User-agent: *\nAllow: ${SAMPLE_PATH}$\nAllow: ${SHOP_PATH}/\nDisallow: /\nDisallow: ${SHOP_PATH}/staff/\n`;

export function addSampleRoutes(app: App): void {
  app.route({
    method: 'GET',
    url: SAMPLE_PATH,
    config: { access: 'open' },
    schema: { hide: true },
    handler: async (_request, reply) => reply.type('text/html; charset=utf-8').send(SAMPLE),
  });
  app.route({
    method: 'GET',
    url: `${SHOP_PATH}/*`,
    config: { access: 'open' },
    schema: { hide: true },
    handler: async (request, reply) => {
      const path = request.url.split('?')[0] ?? '';
      const page = SHOP.get(path);
      if (page === undefined) reply.code(404);
      return reply.type('text/html; charset=utf-8').send(page ?? '<h1>Not found</h1>');
    },
  });
  app.route({
    method: 'GET',
    url: '/robots.txt',
    config: { access: 'open' },
    schema: { hide: true },
    handler: async (_request, reply) => reply.type('text/plain; charset=utf-8').send(ROBOTS),
  });
}
