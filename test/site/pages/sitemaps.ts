import { gzipSync } from 'node:zlib';
import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, numberIn, pageIn, raw, reply, segmentsOf, text } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { headOf } from '../wire.ts';
import { bombBytes, gzipBombOf } from './encodings.ts';

/** Sitemaps, good and bad. The pages they name are `/sitemaps/page/<n>`; each good one names ten of its own. */
const PREFIX = '/sitemaps/';
const XML = 'application/xml';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
const PER_SITEMAP = 10;

export const LARGE_SITEMAP_URLS = 60_000;
export const GOOD_SITEMAPS: readonly string[] = [
  'index.xml',
  'plain.xml',
  'zipped.xml.gz',
  'list.txt',
  'rss.xml',
  'atom.xml',
].map((name) => PREFIX + name);
export const BAD_SITEMAPS: readonly string[] = [
  'broken.xml',
  'html.xml',
  'empty.xml',
  'bomb.xml.gz',
  'loop.xml',
  'deep.xml',
  'entities.xml',
  'endless.xml',
  'missing.xml',
  'foreign.xml',
  'large.xml',
].map((name) => PREFIX + name);

const pageUrl = (request: SiteRequest, n: number): string => `http://${request.host}${PREFIX}page/${n}`;
const urlTag = (loc: string): string =>
  `<url><loc>${loc}</loc><lastmod>2024-03-05</lastmod><changefreq>weekly</changefreq><priority>0.5</priority></url>\n`;
const urlset = (locs: readonly string[]): string =>
  `${DECLARATION}<urlset ${NAMESPACE}>\n${locs.map(urlTag).join('')}</urlset>\n`;
const index = (locs: readonly string[]): string =>
  `${DECLARATION}<sitemapindex ${NAMESPACE}>\n${locs.map((loc) => `<sitemap><loc>${loc}</loc></sitemap>\n`).join('')}</sitemapindex>\n`;
const ten = (request: SiteRequest, from: number): readonly string[] =>
  Array.from({ length: PER_SITEMAP }, (_, at) => pageUrl(request, from + at));
const at = (request: SiteRequest, name: string): string => `http://${request.host}${PREFIX}${name}`;

/** Sends a urlset of any length without holding it. */
function stream(request: SiteRequest, count: number): Answer {
  return raw((wire) => {
    wire.write(
      `${headOf('HTTP/1.1 200 OK', [`content-type: ${XML}`, 'connection: close'])}${DECLARATION}<urlset ${NAMESPACE}>\n`,
    );
    let sent = 0;
    let isClosed = false;
    wire.pour(() => {
      if (isClosed) return null;
      let made = '';
      for (const end = Math.min(sent + 500, count); sent < end; sent++)
        made += urlTag(pageUrl(request, 1_000 + sent));
      if (sent >= count) {
        made += '</urlset>\n';
        isClosed = true;
      }
      return Buffer.from(made);
    });
  });
}

const LAUGHS = `${DECLARATION}<!DOCTYPE urlset [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;"><!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;"><!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;"><!ENTITY file SYSTEM "file:///etc/passwd">]>
<urlset ${NAMESPACE}><url><loc>http://x/&g;&file;</loc></url></urlset>`;

const FILES: Readonly<Record<string, (request: SiteRequest) => Answer>> = {
  '': () => html(documentOf({ title: 'Sitemaps', body: linkList(GOOD_SITEMAPS) })),
  'index.xml': (request) =>
    reply(200, XML, index(['child-a.xml', 'child-b.xml.gz'].map((name) => at(request, name)))),
  'child-a.xml': (request) => reply(200, XML, urlset(ten(request, 0))),
  'child-b.xml.gz': (request) => reply(200, 'application/gzip', gzipSync(urlset(ten(request, 10)))),
  'plain.xml': (request) => reply(200, XML, urlset(ten(request, 20))),
  'zipped.xml.gz': (request) => reply(200, 'application/x-gzip', gzipSync(urlset(ten(request, 30)))),
  'list.txt': (request) => text(`\uFEFF${ten(request, 40).join('\r\n')}\r\n\r\nnot a url\r\n`),
  'rss.xml': (request) =>
    reply(
      200,
      'application/rss+xml',
      `${DECLARATION}<rss version="2.0"><channel><title>News</title><link>http://${request.host}/</link><description>All of it</description>` +
        `${ten(request, 50)
          .map(
            (loc) =>
              `<item><title>Item</title><link>${loc}</link><pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate></item>`,
          )
          .join('')}</channel></rss>`,
    ),
  'atom.xml': (request) =>
    reply(
      200,
      'application/atom+xml',
      `${DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><link rel="self" href="${at(request, 'atom.xml')}"/>` +
        `${ten(request, 60)
          .map(
            (loc) =>
              `<entry><title>Entry</title><link rel="alternate" href="${loc}"/><updated>2024-03-05T10:00:00Z</updated></entry>`,
          )
          .join('')}</feed>`,
    ),
  'odd.xml': (request) =>
    reply(
      200,
      'text/html',
      `\uFEFF${DECLARATION}<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">` +
        `<s:url><s:loc>\n  <![CDATA[${pageUrl(request, 70)}]]>\n</s:loc></s:url><s:url><s:loc>${pageUrl(request, 71)}?a=1&amp;b=2</s:loc></s:url></s:urlset>`,
    ),
  'large.xml': (request) => stream(request, LARGE_SITEMAP_URLS),
  'endless.xml': (request) => stream(request, Number.MAX_SAFE_INTEGER),
  // Good up to the middle: what came before may be kept.
  'broken.xml': (request) => reply(200, XML, urlset(ten(request, 80)).slice(0, -300)),
  'html.xml': () => html(documentOf({ title: 'Not a sitemap', body: '<p>&nbsp;At all<br></p>' })),
  'empty.xml': () => reply(200, XML, ''),
  'bomb.xml.gz': () => reply(200, 'application/gzip', bombBytes(gzipBombOf())),
  'loop.xml': (request) => reply(200, XML, index([at(request, 'loop.xml'), at(request, 'loop-b.xml')])),
  'loop-b.xml': (request) => reply(200, XML, index([at(request, 'loop.xml')])),
  // An index in an index in an index, each with a new address.
  'deep.xml': (request) =>
    reply(200, XML, index([`${at(request, 'deep.xml')}?${(Number(request.query) || 0) + 1}`])),
  'entities.xml': () => reply(200, XML, LAUGHS),
  'foreign.xml': () =>
    reply(200, XML, urlset(['http://example.org/elsewhere', 'ftp://example.org/', 'nonsense', ''])),
};

export const sitemaps: Family = {
  prefix: PREFIX,
  about: 'sitemaps and feeds, good and bad',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second] = segmentsOf(request, PREFIX);
    if (first === 'page') {
      const page = numberIn(second, 999_999_999);
      return page === null
        ? null
        : html(documentOf({ title: `Sitemap page ${page}`, body: '<p>Found by sitemap.</p>' }));
    }
    return pageIn(FILES, first)?.(request) ?? null;
  },
};
