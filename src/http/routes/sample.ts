import type { App } from '../server/app.ts';

/**
 * The pages of a small bookshop, by path: for `scrapifie demo`, which serves them on a port of their own, and for first
 * tries on a server without a network, which serves them below a folder.
 */
export function shopPages({ base = '', hasChanged = false } = {}): ReadonlyMap<string, string> {
  return pagesOf(booksOf(hasChanged), base);
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

function pagesOf(books: readonly Book[], base: string): ReadonlyMap<string, string> {
  const shelves = Array.from({ length: Math.ceil(books.length / PER_PAGE) }, (_, at) =>
    books.slice(at * PER_PAGE, (at + 1) * PER_PAGE),
  );
  const shelfLinks = shelves
    .map((_, at) => `<li><a href="${base}/shelf/${at + 1}">Shelf ${at + 1}</a></li>`)
    .join('');
  return new Map([
    [
      `${base}/`,
      page(
        base,
        'The Harbour Bookshop',
        `<p>Books about the sea, the sky and the kitchen.</p><ul>${shelfLinks}</ul>`,
      ),
    ],
    [`${base}/about`, page(base, 'About the shop', '<p>A shop that exists on your machine only.</p>')],
    ...shelves.map((shelf, at) => {
      const items = shelf
        .map(({ slug, title }) => `<li><a href="${base}/books/${slug}">${title}</a></li>`)
        .join('');
      return [`${base}/shelf/${at + 1}`, page(base, `Shelf ${at + 1}`, `<ul>${items}</ul>`)] as const;
    }),
    ...books.map((each) => [`${base}/books/${each.slug}`, bookPage(base, each)] as const),
  ]);
}

function bookPage(base: string, { title, about, price }: Book): string {
  const offer = { '@type': 'Offer', price, priceCurrency: 'EUR', availability: 'https://schema.org/InStock' };
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: title,
    description: about,
    offers: offer,
  };
  return page(
    base,
    title,
    `<p>${about}</p><p>Price: ${price} EUR</p><script type="application/ld+json">${JSON.stringify(data)}</script>`,
  );
}

const page = (base: string, title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body>
<nav><a href="${base}/">Home</a> <a href="${base}/about">About</a> <a href="${base}/staff/orders">Staff</a>
<a href="${base}/shipping">Shipping</a></nav>
<main><h1>${title}</h1>${content}</main></body></html>`;

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
