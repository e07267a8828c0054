import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { VECTORS } from './vectors.ts';

/** A site whose every answer is full of code that wants to run in the page of the person who looks at what was scraped. */
export interface HostileSite {
  readonly origin: string;
  /** From now on this edition is served: what it says differs, so that a diff has something to show. */
  show(edition: number): void;
  close(): Promise<void>;
}

interface Served {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
const list = (items: readonly string[]): string => items.map((item) => `<li>${item}</li>`).join('\n');
/** A reader has to find enough prose to take the page for an article. */
const PROSE = 'This article tells at some length how a page can try to run code in another one. '.repeat(6);

const page = (title: string, body: string, head = ''): Served => ({
  body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(VECTORS.title[1] ?? '')}">${head}</head>
<body><main><h1>${escapeHtml(title)}</h1><p>${PROSE}</p>${body}</main></body></html>`,
});

/** JSON-LD whose keys are vectors, as a product that extraction finds. */
const product = (edition: number): string => {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: VECTORS.json[0],
    description: VECTORS.json[1],
    ...Object.fromEntries(VECTORS.json.map((key) => [key, key])),
    offers: { '@type': 'Offer', price: 19 + edition, priceCurrency: 'EUR' },
  };
  return `<script type="application/ld+json">${JSON.stringify(data).replaceAll('</', '<\\/')}</script>`;
};

const link = (address: string): string => `<a href="${escapeHtml(address)}">${escapeHtml(address)}</a>`;
/** Each vector by itself: an element that is left open hides those behind it. */
export const ALONE = VECTORS.html.map((_, at) => `/vector/${at}`);
const TITLED = VECTORS.title.map((_, at) => `/title/${at}`);
const REDIRECTING = VECTORS.redirect.map((_, at) => `/redirect/${at}`);
const PAGES = [
  '/html',
  '/markdown',
  '/notes.md',
  '/vector.svg',
  '/data.json',
  '/table.csv',
  '/headers',
  '/broken',
];

function index(edition: number): Served {
  const files = VECTORS.file.map((name) => `/file/${encodeURIComponent(name)}`);
  const own = [...VECTORS.path, ...TITLED, ...PAGES, ...REDIRECTING, ...files, ...ALONE];
  const told = VECTORS.html.map(escapeHtml);
  return page(
    VECTORS.title[edition] ?? '',
    `<ul>${list([...own, ...VECTORS.url].map(link))}</ul>
<p class="price">${edition} ${escapeHtml(VECTORS.html[edition + 4] ?? '')}</p>
<ul>${list(edition === 0 ? told : told.slice(20))}</ul><form action="/next"><input type="search" name="q"></form>`,
    product(edition),
  );
}

const SVG_PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9"
 onload="alert(200)">${VECTORS.svg.join('')}</svg>`;
const ROBOTS_TXT = `User-agent: *\n${VECTORS.robots.map((path) => `Disallow: ${path}`).join('\n')}
Disallow: /redirect/3\nUser-agent: <script>alert(1000)</script>\nDisallow: /\nSitemap: javascript:alert(1004)\n`;

function served(path: string, edition: number): Served {
  const numbered = /^\/(title|redirect|vector)\/(\d+)$/.exec(path);
  const { 1: kind = '', 2: place = '' } = numbered ?? [];
  const vector =
    VECTORS[kind === 'vector' ? 'html' : kind === 'title' ? 'title' : 'redirect'][Number(place)] ?? '';
  if (kind === 'vector') return page(`Element ${place}`, vector);
  if (kind === 'title') return page(vector, `<p>${edition}</p>`);
  if (kind === 'redirect') return { status: 302, headers: { location: vector }, body: vector };
  if (path.startsWith('/file/')) {
    const disposition = `attachment; filename="${VECTORS.file[0]}"; filename*=UTF-8''${path.slice(6)}`;
    return {
      type: 'text/csv',
      headers: { 'content-disposition': disposition },
      body: VECTORS.csv.join('\n'),
    };
  }
  switch (path) {
    case '/':
      return index(edition);
    case '/alone':
      return { body: ALONE.map((path) => `<iframe src="${path}"></iframe>`).join('') };
    case '/robots.txt':
      return { type: 'text/plain', body: ROBOTS_TXT };
    case '/html':
      return page('Elements', VECTORS.html.join('\n'), product(edition));
    case '/markdown':
      return page(
        'Markdown in text',
        VECTORS.markdown.map((text) => `<p>${escapeHtml(text)}</p><pre>${escapeHtml(text)}</pre>`).join('\n'),
      );
    case '/notes.md':
      return {
        type: 'text/markdown',
        body: `# Notes ${edition}\n\n${VECTORS.markdown.join('\n\n')}\n\n${VECTORS.html.join('\n\n')}`,
      };
    case '/vector.svg':
      return { type: 'image/svg+xml', body: SVG_PICTURE };
    case '/data.json':
      return {
        type: 'application/json',
        body: JSON.stringify(VECTORS.json.map((key) => ({ [key]: key, edition }))),
      };
    case '/table.csv':
      return {
        type: 'text/csv',
        body: `name,value\n${VECTORS.csv.map((cell) => `"${cell.replaceAll('"', '""')}",${edition}`).join('\n')}`,
      };
    case '/headers': {
      const headers = VECTORS.header.map((value, at) => [`x-vector-${at}`, value]);
      return {
        ...page('Headers', '<p>See how it was answered.</p>'),
        headers: {
          ...Object.fromEntries(headers),
          etag: `"${VECTORS.header[0]}"`,
          server: VECTORS.header[4] ?? '',
        },
      };
    }
    case '/broken':
      return {
        status: 500,
        type: 'text/html',
        body: `<title>${VECTORS.html[4]}</title>${VECTORS.html.join('')}`,
      };
    default:
      return page(`Answer to ${path}`, `<p>${escapeHtml(path)}</p>`);
  }
}

/** Also takes what webhooks send, and answers with code. */
function answer(request: IncomingMessage, response: ServerResponse, edition: number): void {
  const path = request.url ?? '/';
  const sent = request.method === 'POST' ? { body: VECTORS.html.join('') } : served(path, edition);
  const { status = 200, type = 'text/html; charset=utf-8', headers = {}, body } = sent as Served;
  request.resume();
  response.writeHead(status, { 'content-type': type, 'x-alert': VECTORS.header[0], ...headers }).end(body);
}

export async function startHostileSite(): Promise<HostileSite> {
  let edition = 0;
  const server = createServer((request, response) => answer(request, response, edition));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show(next) {
      edition = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
