import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A site of a few pages that a test can change. */
export interface SmallSite {
  readonly origin: string;
  /** By path; a path that is not here is answered 404. */
  readonly pages: Map<string, SmallPage>;
  close(): Promise<void>;
}

export interface SmallPage {
  readonly body: string | Buffer;
  readonly contentType?: string;
  readonly location?: string;
  /** Answered when this has resolved. */
  readonly until?: Promise<void>;
}

const page = (title: string, text: string, links: readonly string[] = []) => `<!doctype html>
<html lang="en"><head><title>${title}</title>
<meta name="description" content="About ${title}">
<meta name="keywords" content="small, site">
<meta property="og:title" content="${title} shared">
<meta property="og:image" content="/picture.png"></head>
<body><nav><a href="/">Home</a> <a href="/imprint">Imprint</a></nav>
<main><h1>${title}</h1>
<p>${text}</p>
<p>A second paragraph says a little more, so that the main part of the page is easy to tell from the rest of it.</p>
<img src="/picture.png" alt="A picture"><img alt="dot" src="data:image/png;base64,iVBORw0KGgo=">
<p>${links.map((path) => `<a href="${path}">${path}</a>`).join(' ')}</p></main>
<footer>Footer of the site</footer></body></html>`;

const PAGES: Readonly<Record<string, SmallPage>> = {
  '/': {
    body: page('Start', 'This is where the site begins, with links to all of its pages.', [
      '/docs',
      '/docs/one',
      '/docs/two',
      '/blog',
      '/gone',
    ]),
  },
  '/docs': {
    body: page('Docs', 'The documentation of the site has two chapters, both of them short.', [
      '/docs/one',
      '/docs/two',
      '/',
    ]),
  },
  '/docs/one': {
    body: page('One', 'The first chapter is about turnips and how they are grown in a garden.'),
  },
  '/docs/two': {
    body: page('Two', 'The second chapter is about potatoes, which need less water than one thinks.'),
  },
  '/blog': { body: page('Blog', 'News about the garden are written here whenever there are any to tell.') },
  '/imprint': {
    body: page('Imprint', 'The people who have made this site are named here, with their address.'),
  },
  '/private': {
    body: page('Private', 'Robots are asked not to read this page, and so they should leave it alone.'),
  },
  '/loop': { body: '', location: '/loop' },
  '/robots.txt': { body: 'User-agent: *\nDisallow: /private\n', contentType: 'text/plain' },
};

export async function startSmallSite(): Promise<SmallSite> {
  const pages = new Map(Object.entries(PAGES));
  const server = createServer(async (request, response) => {
    const found = pages.get((request.url ?? '/').split('?', 1)[0] ?? '/');
    await found?.until;
    const status = found === undefined ? 404 : found.location === undefined ? 200 : 302;
    response.writeHead(status, {
      'content-type': found?.contentType ?? 'text/html; charset=utf-8',
      ...(found?.location === undefined ? {} : { location: found.location }),
    });
    response.end(found?.body ?? page('Not found', 'There is nothing here.'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
