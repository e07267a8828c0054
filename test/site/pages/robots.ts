import { gzipSync } from 'node:zlib';
import type { Answer, SiteRequest } from '../exchange.ts';
import { html, raw, redirect, reply, text } from '../exchange.ts';
import { addressOf } from '../hosts.ts';
import { documentOf } from '../layout.ts';
import { randomFrom } from '../random.ts';
import { headOf } from '../wire.ts';
import { BAD_SITEMAPS, GOOD_SITEMAPS } from './sitemaps.ts';

const ALLOW_ALL = 'User-agent: *\nAllow: /\n';
const NO_PRIVATE = 'User-agent: *\nDisallow: /private/\n';
const SOME =
  'User-agent: *\nDisallow: /private/\nAllow: /private/open\nDisallow: /*.pdf$\nDisallow: /content/secret\n';
const HUGE_BYTES = 1_048_576;

const declare = (request: SiteRequest, paths: readonly string[]): string =>
  `${ALLOW_ALL}\n${paths.map((path) => `Sitemap: http://${request.host}${path}`).join('\n')}\n`;

function huge(): Buffer {
  const filler = Buffer.alloc(HUGE_BYTES, `# ${'filler '.repeat(10)}\n`);
  filler.write(`${NO_PRIVATE}`, 0);
  // The line the filler was in may be cut: the last rules begin on a line of their own.
  const end = '\nUser-agent: *\nDisallow: /late/\n';
  filler.write(end, HUGE_BYTES - end.length);
  return filler;
}

function binary(): Buffer {
  const random = randomFrom(0xb1);
  const noise = Buffer.from(Array.from({ length: 2_048 }, () => Math.floor(random() * 256)));
  return Buffer.concat([noise, Buffer.from(`\n${NO_PRIVATE}`), noise]);
}

/** The robots.txt of each virtual host; every other host allows all. */
const VARIANTS: Readonly<Record<string, (request: SiteRequest) => Answer>> = {
  shop: (request) => text(declare(request, ['/shop/sitemap.xml'])),
  'robots-some': () => text(SOME),
  'robots-all': () => text('User-agent: *\nDisallow: /\n'),
  'robots-agents': () => text('User-agent: scrapifie\nDisallow: /\n\nUser-agent: *\nDisallow:\n'),
  'robots-delay': () => text(`${ALLOW_ALL}Crawl-delay: 1\n`),
  'robots-long-delay': () => text(`${ALLOW_ALL}Crawl-delay: 86400\n`),
  'robots-404': () => text('There are no rules here.\n', 404),
  'robots-403': () => text('Forbidden.\n', 403),
  'robots-429': () => text('Too many.\n', 429, { 'retry-after': '1' }),
  'robots-500': () => text('Out of order.\n', 500),
  'robots-503': () => text('Back soon.\n', 503, { 'retry-after': '1' }),
  'robots-heals': (request) => (request.countVisit() < 2 ? text('Back soon.\n', 503) : text(ALLOW_ALL)),
  'robots-redirect': () => redirect('/robots-real.txt', 301),
  'robots-redirect-host': (request) =>
    redirect(`http://${addressOf('robots-some')}:${request.port}/robots.txt`, 302),
  'robots-redirect-loop': () => redirect('/robots.txt', 302),
  'robots-hang': () => raw(() => {}),
  'robots-reset': () => raw((wire) => wire.reset()),
  'robots-endless': () =>
    raw((wire) => {
      wire.write(`${headOf('HTTP/1.1 200 OK', ['content-type: text/plain'])}${NO_PRIVATE}`);
      const comment = Buffer.from('# and so on and on and on\n'.repeat(2_000));
      wire.pour(() => comment);
    }),
  'robots-huge': () => reply(200, 'text/plain', huge()),
  'robots-html': () =>
    html(documentOf({ title: 'Welcome', body: '<p>Disallow: / is what we would say.</p>' })),
  'robots-empty': () => text(''),
  'robots-bom': () => text('\uFEFFUSER-AGENT :  * \r\rdisallow\t:\t/private/  # keep out\r\r'),
  'robots-binary': () => reply(200, 'application/octet-stream', binary()),
  'robots-gzip': () => reply(200, 'text/plain', gzipSync(NO_PRIVATE), { 'content-encoding': 'gzip' }),
  sitemaps: (request) => text(declare(request, GOOD_SITEMAPS)),
  'sitemaps-bad': (request) => text(declare(request, BAD_SITEMAPS)),
};

export function answerRobots(request: SiteRequest): Answer | null {
  if (request.path === '/robots-real.txt') return text(NO_PRIVATE);
  if (request.path !== '/robots.txt') return null;
  return VARIANTS[request.site]?.(request) ?? text(ALLOW_ALL);
}
