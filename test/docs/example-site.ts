import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

/** The addresses that stand for the hosts of the documentation; all of them are on the loopback interface. */
const ADDRESSES = { 'example.com': '127.0.0.2', 'shop.example': '127.0.0.3' } as const;

/** The web of the documentation: `example.com`, a small site with a sitemap, and `shop.example`, which has a log-in. */
export interface ExampleSite {
  /** In place of `https://NAME`. */
  readonly origins: Readonly<Record<keyof typeof ADDRESSES, string>>;
  /** What the guides say happens on the site between two commands. */
  readonly happenings: Readonly<Record<string, () => void>>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const POSTS = ['first-post', 'second-post', 'third-post'];

export async function startExampleSite(): Promise<ExampleSite> {
  let chairPrice = '129.00';
  let aboutText = 'Founded in 1998, we have made chairs ever since.';
  async function answerTo(request: IncomingMessage): Promise<Answer> {
    const { host = '', cookie = '' } = request.headers;
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    if (!host.startsWith(ADDRESSES['shop.example'])) return example(pathname, `http://${host}`, aboutText);
    if (request.method === 'POST' && pathname === '/login') {
      return logIn(new URLSearchParams(await textOf(request)));
    }
    return shop(pathname, chairPrice, cookie.includes('sid=1'));
  }
  const server = createServer(async (request, response) => {
    const { status, headers, body } = await answerTo(request);
    response.writeHead(status, headers);
    response.end(body);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const originOf = (name: keyof typeof ADDRESSES) => `http://${ADDRESSES[name]}:${port}`;
  return {
    origins: { 'example.com': originOf('example.com'), 'shop.example': originOf('shop.example') },
    happenings: {
      'the-chair-gets-cheaper': () => {
        chairPrice = '99.00';
      },
      'the-about-page-changes': () => {
        aboutText = 'Founded in 1998, we have made chairs and tables ever since.';
      },
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function example(path: string, origin: string, aboutText: string): Answer {
  const post = POSTS.find((name) => path === `/blog/${name}`);
  if (post !== undefined) {
    const text = `This is the ${post.replace('-', ' ')} of our blog. ${'It tells how a chair is made. '.repeat(12)}`;
    return html(page(post.replace('-', ' '), `The ${post}.`, `<article><p>${text}</p></article>`));
  }
  switch (path) {
    case '/': {
      const links = ['/about', '/blog', '/pricing'].map(
        (to) => `<li><a href="${to}">${to.slice(1)}</a></li>`,
      );
      const text = `<p>We make furniture that lasts.</p><ul>${links.join('')}</ul>`;
      return html(page('Example Domain', 'Furniture that lasts.', text));
    }
    // Without a description: something for an audit to find.
    case '/about':
      return html(page('About us', null, `<p>${aboutText}</p>${HISTORY}`));
    case '/pricing':
      return html(page('Pricing', 'What it costs.', '<p>A chair costs less than a table.</p>'));
    case '/blog': {
      const list = POSTS.map((name) => `<li><a href="/blog/${name}">${name}</a></li>`).join('');
      return html(page('Blog', 'News from the workshop.', `<ul>${list}</ul>`));
    }
    case '/sitemap.xml': {
      const paths = ['/', '/about', '/pricing', '/blog', ...POSTS.map((name) => `/blog/${name}`)];
      const urls = paths.map((each) => `<url><loc>${origin}${each}</loc></url>`).join('');
      const body = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls}</urlset>`;
      return { status: 200, headers: { 'content-type': 'application/xml' }, body };
    }
    default:
      return MISSING;
  }
}

function shop(path: string, chairPrice: string, isLoggedIn: boolean): Answer {
  switch (path) {
    case '/':
      return html(page('Shop', null, '<a href="/chair">Chair</a> <a href="/table">Table</a>'));
    case '/chair':
      return html(product('Oak chair', 'CH-1', chairPrice));
    case '/table':
      return html(product('Oak table', 'TB-1', '349.00'));
    case '/orders':
      if (!isLoggedIn) return html(page('Log in', null, LOGIN_FORM));
      return html(page('Your orders', null, '<p>Order 1001: oak chair, delivered.</p>'));
    case '/login':
      return html(page('Log in', null, LOGIN_FORM));
    default:
      return MISSING;
  }
}

/** Enough text that one other sentence does not make it another page. */
const HISTORY = ['oak', 'beech', 'ash', 'walnut', 'cherry', 'maple']
  .map((wood) => `<p>We buy ${wood} from forests nearby and dry it for two years before we use it.</p>`)
  .join('');
const LOGIN_FORM =
  '<form method="post" action="/login"><input name="user"><input type="password" name="password"><button>Log in</button></form>';
const MISSING: Answer = { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not found' };

function logIn(sent: URLSearchParams): Answer {
  const isRight = sent.get('user') === 'ann' && sent.get('password') === 'correct horse';
  const headers: Record<string, string> = isRight
    ? { 'set-cookie': 'sid=1; Path=/', location: '/orders' }
    : { location: '/login' };
  return { status: 303, headers, body: '' };
}

function product(name: string, sku: string, price: string): string {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    sku,
    offers: {
      '@type': 'Offer',
      price,
      priceCurrency: 'EUR',
      availability: 'https://schema.org/InStock',
    },
  };
  const script = `<script type="application/ld+json">${JSON.stringify(data)}</script>`;
  return page(name, `${name}, made by hand.`, `${script}<p class="price">€ ${price}</p><p>In stock.</p>`);
}

function page(title: string, description: string | null, body: string): string {
  const meta = description === null ? '' : `<meta name="description" content="${description}">`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${meta}</head><body><h1>${title}</h1>${body}</body></html>`;
}

const html = (body: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
});
