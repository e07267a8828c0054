import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small shop that changes from one edition to the next, in ways that a diff has to tell apart. */
export interface ChangingSite {
  readonly origin: string;
  /** From now on this edition is served: 0, 1 or 2. */
  show(edition: number): void;
  close(): Promise<void>;
}

interface Goods {
  readonly name: string;
  readonly price: number;
  readonly availability?: string;
  readonly text?: string;
}

type ServedPage = { readonly status: number; readonly html: string; readonly location?: string } | null;
type Pages = Readonly<Record<string, (edition: number) => ServedPage>>;

const WORDS = 'It is made by hand, sent within a day and can be given back for a month. '.repeat(4);

function goods({ name, price, availability = 'InStock', text = '' }: Goods): ServedPage {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    offers: {
      '@type': 'Offer',
      price: price.toFixed(2),
      priceCurrency: 'EUR',
      availability: `https://schema.org/${availability}`,
    },
  };
  return page(
    name,
    `<script type="application/ld+json">${JSON.stringify(data)}</script><p>${name}: ${WORDS}</p><p>${text}</p>
     <p class="price">${price.toFixed(2)} EUR</p>`,
  );
}

const page = (title: string, body: string): ServedPage => ({
  status: 200,
  html: `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`,
});

const failing = (status: number): ServedPage => ({
  status,
  html: '<!doctype html><title>Error</title><p>Error</p>',
});

/** What the start page links to, and the sitemap lists, in each edition. */
function linked(edition: number): readonly string[] {
  const always = ['/swap', '/stable', '/revert', '/flaky', '/sold', '/redirected', '/visits', '/list'];
  return edition === 0 ? [...always, '/old-place', '/gone', '/dropped'] : [...always, '/new-place', '/new'];
}

const links = (paths: readonly string[]): string =>
  paths.map((path) => `<li><a href="${path}">The page ${path.slice(1)}</a></li>`).join('');

let visits = 0;

const PAGES: Pages = {
  '/': (edition) => page('A shop', `<p>${WORDS}</p><ul>${links(linked(edition))}</ul>`),
  // Two digits change places: the text has the same characters.
  '/swap': (edition) => goods({ name: 'Lamp', price: edition === 0 ? 19 : 91 }),
  '/stable': () => goods({ name: 'Chair', price: 40 }),
  '/revert': (edition) => goods({ name: 'Table', price: 100, text: edition === 1 ? 'Only today!' : 'Oak.' }),
  // An error page in between is no change.
  '/flaky': (edition) => (edition === 1 ? failing(500) : goods({ name: 'Clock', price: 30 })),
  '/sold': (edition) =>
    goods({ name: 'Vase', price: 12, availability: edition === 0 ? 'InStock' : 'OutOfStock' }),
  '/old-place': (edition) => (edition === 0 ? goods({ name: 'Shelf', price: 55 }) : failing(404)),
  '/new-place': (edition) => (edition === 0 ? null : goods({ name: 'Shelf', price: 55 })),
  '/redirected': (edition) =>
    edition === 0 ? goods({ name: 'Mirror', price: 77 }) : { status: 301, html: '', location: '/target' },
  '/target': (edition) => (edition === 0 ? null : goods({ name: 'Mirror', price: 77 })),
  // Not linked any more, and not there any more.
  '/gone': (edition) => (edition === 0 ? goods({ name: 'Rug', price: 60 }) : failing(404)),
  // Not linked any more; the page itself is still there.
  '/dropped': () => goods({ name: 'Bowl', price: 9 }),
  '/new': (edition) => (edition === 0 ? null : goods({ name: 'Sofa', price: 300 })),
  // A counter that never stands still.
  '/visits': () => {
    visits += 1;
    return page('Visits', `<p>${WORDS}</p><p class="counter">${1_000 + visits} visitors</p>`);
  },
  // While this page fails, nothing is known about the one behind it.
  '/list': (edition) =>
    edition === 1 ? failing(503) : page('List', `<p>${WORDS}</p><ul>${links(['/hidden'])}</ul>`),
  '/hidden': () => goods({ name: 'Spoon', price: 3 }),
};

/** What a diff of the first against the second edition says, by path; of a moved page, that of its new place. */
export const FIRST_TO_SECOND: Readonly<Record<string, string>> = {
  '/': 'MODIFIED',
  '/swap': 'MODIFIED',
  '/stable': 'UNCHANGED',
  '/revert': 'MODIFIED',
  '/flaky': 'NOT_COVERED',
  '/sold': 'MODIFIED',
  '/new-place': 'MOVED',
  '/target': 'MOVED',
  '/gone': 'REMOVED',
  '/dropped': 'REMOVED',
  '/new': 'ADDED',
  '/visits': 'MODIFIED',
  '/list': 'NOT_COVERED',
  '/hidden': 'NOT_COVERED',
};

/** And of the first against the third: what failed meanwhile has not changed. */
export const FIRST_TO_THIRD: Readonly<Record<string, string>> = {
  ...FIRST_TO_SECOND,
  '/revert': 'UNCHANGED',
  '/flaky': 'UNCHANGED',
  '/list': 'UNCHANGED',
  '/hidden': 'UNCHANGED',
};

export async function startChangingSite(): Promise<ChangingSite> {
  let edition = 0;
  let origin = '';
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    if (path === '/robots.txt') {
      response
        .setHeader('content-type', 'text/plain')
        .end(`User-agent: *\nAllow: /\nSitemap: ${origin}/sitemap.xml\n`);
      return;
    }
    if (path === '/sitemap.xml') {
      const urls = ['/', ...linked(edition)].map((each) => `<url><loc>${origin}${each}</loc></url>`).join('');
      response
        .setHeader('content-type', 'application/xml')
        .end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>`);
      return;
    }
    const served = PAGES[path]?.(edition) ?? failing(404);
    response.statusCode = served?.status ?? 404;
    if (served?.location !== undefined) response.setHeader('location', served.location);
    response.setHeader('content-type', 'text/html; charset=utf-8').end(served?.html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    show(next) {
      edition = next;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
