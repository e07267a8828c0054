import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, json, numberIn, pageIn, redirect, reply, segmentsOf, text } from '../exchange.ts';
import { documentOf, link, linkList } from '../layout.ts';
import { paragraph, titleOf } from '../prose.ts';
import { randomFrom } from '../random.ts';

/** Pages whose meaning differs from their status: soft 404s, robots meta tags, canonicals, cookies, caches, types. */
const PREFIX = '/content/';
const MODIFIED = 'Tue, 05 Mar 2024 10:00:00 GMT';

const prose = (seed: number): string => `<p>${paragraph(randomFrom(seed), 400)}</p>`;
const page = (title: string, body: string, head = ''): Answer => html(documentOf({ title, body, head }));
const next = (name: string): string => link(PREFIX + name);

const NAMES = [
  'soft-404',
  'soft-404-redirect',
  'noindex',
  'nofollow',
  'noindex-header',
  'rel-nofollow',
  'canonical',
  'canonical?sort=price',
  'canonical?sort=name',
  'canonical-other',
  'duplicate-a',
  'duplicate-b',
  'tracking?utm_source=a',
  'cookie-gate',
  'etag',
  'modified',
  'json',
  'text',
  'pdf',
  'png',
  'octets',
  'xhtml',
  'no-type',
  'wrong-type',
  'download',
  'login',
  'language',
];

const PAGES: Readonly<Record<string, (request: SiteRequest) => Answer>> = {
  '': () => page('Content', linkList(NAMES.map((name) => PREFIX + name))),
  'soft-404': () =>
    page('Page not found', '<p>Sorry, the page you are looking for does not exist or was moved.</p>'),
  'soft-404-redirect': () => redirect(`${PREFIX}soft-404`),
  '404': () => html(documentOf({ title: 'Not found', body: '<p>Gone fishing.</p>' }), 404),
  '410': () => html(documentOf({ title: 'Gone', body: '<p>For good.</p>' }), 410),
  '401': () =>
    html(documentOf({ title: 'Who are you?', body: '' }), 401, { 'www-authenticate': 'Basic realm="site"' }),
  '403': () => html(documentOf({ title: 'Forbidden', body: '<p>Access denied.</p>' }), 403),
  '418': () => html(documentOf({ title: 'Teapot', body: '' }), 418),
  noindex: () =>
    page('Not for the index', prose(1) + next('from-noindex'), '<meta name="robots" content="noindex">\n'),
  nofollow: () =>
    page('Not to be followed', prose(2) + next('from-nofollow'), '<meta name="robots" content="nofollow">\n'),
  'noindex-header': () =>
    html(documentOf({ title: 'Not for the index, by header', body: prose(3) }), 200, {
      'x-robots-tag': 'noindex, nofollow',
    }),
  'rel-nofollow': () =>
    page(
      'One link is not to be followed',
      `<a rel="nofollow" href="${PREFIX}from-rel-nofollow">no</a> ${next('from-rel-follow')}`,
    ),
  'from-noindex': () => page('Linked from a noindex page', prose(4)),
  'from-nofollow': () => page('Linked from a nofollow page', prose(5)),
  'from-rel-nofollow': () => page('Linked with rel nofollow', prose(6)),
  'from-rel-follow': () => page('Linked without rel nofollow', prose(7)),
  secret: () => page('Secret', prose(8)),
  // The same list, sorted in many ways; all of them name one address as theirs.
  canonical: () =>
    page(
      'A sorted list',
      prose(9) +
        linkList([
          `${PREFIX}canonical?sort=price`,
          `${PREFIX}canonical?sort=name`,
          `${PREFIX}canonical?sort=new&dir=up`,
        ]),
      `<link rel="canonical" href="${PREFIX}canonical">\n`,
    ),
  'canonical-other': () =>
    page('A copy that knows it', prose(10), `<link rel="canonical" href="${PREFIX}duplicate-a">\n`),
  'canonical-home': () =>
    page('A page with a wrong canonical', prose(11), '<link rel="canonical" href="/">\n'),
  'duplicate-a': () => page('The same twice', prose(12)),
  'duplicate-b': () => page('The same twice', prose(12)),
  tracking: () =>
    page(
      'Tracked',
      prose(13) + linkList([`${PREFIX}tracking?utm_source=b&fbclid=1`, `${PREFIX}tracking#top`]),
    ),
  // Sets a cookie and sends the visitor on; inside, a visitor without the cookie is sent back.
  'cookie-gate': () => ({
    ...redirect(`${PREFIX}cookie-inside`),
    headers: {
      location: `${PREFIX}cookie-inside`,
      'set-cookie': ['pass=open; Path=/content; HttpOnly', 'seen=1; Path=/'],
    },
  }),
  'cookie-inside': (request) =>
    /(^|; )pass=open(;|$)/.test(request.headers.cookie ?? '')
      ? page('Inside', prose(14))
      : redirect(`${PREFIX}cookie-gate`),
  etag: (request) => {
    const headers = { etag: '"v1"', 'cache-control': 'no-cache' };
    if (request.headers['if-none-match']?.includes('"v1"'))
      return { status: 304, headers, body: Buffer.alloc(0) };
    return html(documentOf({ title: 'With an ETag', body: prose(15) }), 200, headers);
  },
  modified: (request) => {
    const headers = { 'last-modified': MODIFIED };
    const since = Date.parse(request.headers['if-modified-since'] ?? '');
    if (since >= Date.parse(MODIFIED)) return { status: 304, headers, body: Buffer.alloc(0) };
    return html(documentOf({ title: 'With a date', body: prose(16) }), 200, headers);
  },
  // Another page with every visit.
  changing: (request) => page('Changing', `<p>Visit ${request.countVisit() + 1}.</p>`),
  json: () => json({ title: 'JSON', items: [1, 2, 3] }),
  text: () => text('Plain text, no markup. <a href="/never">not a link</a>\n'),
  xml: () => reply(200, 'application/xml', '<?xml version="1.0"?><root><item id="1"/></root>'),
  xhtml: () =>
    reply(
      200,
      'application/xhtml+xml',
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>XHTML</title></head><body><p>Strict.</p></body></html>',
    ),
  pdf: () =>
    reply(
      200,
      'application/pdf',
      '%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
    ),
  png: () =>
    reply(
      200,
      'image/png',
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    ),
  octets: () => reply(200, 'application/octet-stream', Buffer.alloc(10_000, 7)),
  download: () =>
    reply(200, 'text/html', documentOf({ title: 'A download', body: '' }), {
      'content-disposition': 'attachment; filename="a.html"',
    }),
  'no-type': () => ({
    status: 200,
    headers: {},
    body: Buffer.from(documentOf({ title: 'No type', body: prose(17) })),
  }),
  'wrong-type': () =>
    reply(200, 'image/jpeg', documentOf({ title: 'HTML that says it is a picture', body: prose(18) })),
  'html-but-binary': () => reply(200, 'text/html', Buffer.alloc(50_000, 'PK\x03\x04\x00\xff\xfe', 'latin1')),
  login: () =>
    page(
      'Sign in',
      '<form method="post" action="/content/login"><input name="user"><input type="password" name="password"><button>Sign in</button></form>',
    ),
  language: (request) => {
    const lang = /^de\b/.test(request.headers['accept-language'] ?? '') ? 'de' : 'en';
    return html(documentOf({ title: lang === 'de' ? 'Guten Tag' : 'Good day', lang, body: prose(19) }), 200, {
      vary: 'accept-language',
      'content-language': lang,
    });
  },
};

export const content: Family = {
  prefix: PREFIX,
  about: 'soft 404s, robots meta tags, canonicals, duplicates, cookies, caches, types',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second] = segmentsOf(request, PREFIX);
    if (first === 'item') {
      const item = numberIn(second, 999_999);
      return item === null ? null : page(titleOf(item), prose(item));
    }
    return pageIn(PAGES, first)?.(request) ?? null;
  },
};

/** What robots.txt variants keep crawlers out of. */
export function answerPrivate(request: SiteRequest): Answer {
  return page(`Behind ${request.path}`, prose(20) + linkList(['/private/open', '/private/closed']));
}
