import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small shop on this machine, for the demo: it needs no network, and changes when it is told to. */
export interface DemoSite {
  /** Without a slash at its end. */
  readonly origin: string;
  /** From now on a price is lower, a book is new, and one is sold out and gone. */
  change(): void;
  close(): Promise<void>;
}

interface Book {
  readonly slug: string;
  readonly title: string;
  readonly about: string;
  readonly price: string;
}

const book = (title: string, price: string, about: string): Book => ({
  slug: title.toLowerCase().replace(/[^a-z]+/g, '-'),
  title,
  about,
  price,
});

const BOOKS: readonly Book[] = [
  book(
    'Lighthouses of the North',
    '24.00',
    'Forty lighthouses, their keepers and the storms that they stood.',
  ),
  book(
    'Bread for Beginners',
    '18.50',
    'Flour, water, salt and patience: twelve loaves from the first to the last.',
  ),
  book(
    'A History of Maps',
    '32.00',
    'From clay tablets to satellites: how people drew what they could not see.',
  ),
  book('Knots and Ropes', '14.00', 'Every knot that a sailor, a climber or a gardener will ever need.'),
  book('The Night Sky', '27.90', 'Stars, planets and the stories behind the names of the constellations.'),
  book('Rivers and Bridges', '29.00', 'Why bridges stand, and why a few of them did not.'),
  book(
    'Gardens in Small Places',
    '21.00',
    'Herbs on a window sill, tomatoes on a balcony, apples against a wall.',
  ),
  book(
    'The Sound of Bells',
    '19.00',
    'How bells are cast, tuned and rung, with a lighthouse bell on the cover.',
  ),
  book('Clocks before Clockwork', '26.00', 'Sundials, water clocks and candles that measured the hours.'),
  book('Birds at the Window', '16.00', 'Sixty birds that come by themselves, and what they like to eat.'),
  book('Paper and Ink', '23.00', 'Making paper by hand, and the inks that lasted a thousand years.'),
  book('Walking the Coast', '20.00', 'Twenty days on foot along cliffs, harbours and beaches.'),
];
const NEW_BOOK = book('Tea and Its Ways', '17.00', 'Leaves, water, time: tea from the garden to the cup.');

const PER_PAGE = 4;

/** The books of the shop before and after it has changed. */
function booksOf(hasChanged: boolean): readonly Book[] {
  if (!hasChanged) return BOOKS;
  const [first, ...others] = BOOKS.filter(({ title }) => title !== 'Knots and Ropes');
  return [...(first === undefined ? [] : [{ ...first, price: '19.00' }]), ...others, NEW_BOOK];
}

export async function startDemoSite(): Promise<DemoSite> {
  let pages = pagesOf(booksOf(false));
  const server = createServer((request, response) => answer(request, response, pages));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    change() {
      pages = pagesOf(booksOf(true));
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: ReadonlyMap<string, string>,
): void {
  const path = URL.parse(request.url ?? '/', 'http://shop')?.pathname ?? '/';
  if (path === '/shipping') {
    response.writeHead(301, { location: '/about' }).end();
    return;
  }
  const body = pages.get(path);
  const isText = path.endsWith('.txt');
  const etag = `"${createHash('sha1')
    .update(body ?? '')
    .digest('hex')}"`;
  const headers = { 'content-type': isText ? 'text/plain' : 'text/html; charset=utf-8', etag };
  if (body === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
  else if (request.headers['if-none-match'] === etag) response.writeHead(304, headers).end();
  else response.writeHead(200, headers).end(body);
}

function pagesOf(books: readonly Book[]): ReadonlyMap<string, string> {
  const shelves = Array.from({ length: Math.ceil(books.length / PER_PAGE) }, (_, at) =>
    books.slice(at * PER_PAGE, (at + 1) * PER_PAGE),
  );
  const shelfLinks = shelves
    .map((_, at) => `<li><a href="/shelf/${at + 1}">Shelf ${at + 1}</a></li>`)
    .join('');
  return new Map([
    ['/robots.txt', 'User-agent: *\nDisallow: /staff/\n'],
    [
      '/',
      page(
        'The Harbour Bookshop',
        `<p>Books about the sea, the sky and the kitchen.</p><ul>${shelfLinks}</ul>`,
      ),
    ],
    [
      '/about',
      page('About the shop', '<p>A shop that exists on your machine for as long as the demo runs.</p>'),
    ],
    ...shelves.map((shelf, at) => {
      const items = shelf.map(({ slug, title }) => `<li><a href="/books/${slug}">${title}</a></li>`).join('');
      return [`/shelf/${at + 1}`, page(`Shelf ${at + 1}`, `<ul>${items}</ul>`)] as const;
    }),
    ...books.map((each) => [`/books/${each.slug}`, bookPage(each)] as const),
  ]);
}

function bookPage({ title, about, price }: Book): string {
  const offer = { '@type': 'Offer', price, priceCurrency: 'EUR', availability: 'https://schema.org/InStock' };
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: title,
    description: about,
    offers: offer,
  };
  return page(
    title,
    `<p>${about}</p><p>Price: ${price} EUR</p><script type="application/ld+json">${JSON.stringify(data)}</script>`,
  );
}

const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About</a> <a href="/shipping">Shipping</a> <a href="/staff/orders">Staff</a></nav>
<main><h1>${title}</h1>${content}</main></body></html>`;
