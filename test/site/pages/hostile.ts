import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { numberIn, reply, segmentsOf } from '../exchange.ts';
import { addressAt } from '../hosts.ts';
import { randomFrom, seedOf } from '../random.ts';

/**
 * `/hostile/ANY/N` are ten whole pages that lead to each other. Every text in them that a crawler might store in a column
 * or an index is one that databases refuse: host names far beyond what DNS allows, NUL bytes, halves of surrogate pairs,
 * URLs and headers of many kilobytes. None of the links leaves the loopback.
 */
const PREFIX = '/hostile/';
const PAGES = 10;
const NUL = '\0';
/** As bytes: no text in memory can be encoded to this. */
const HALF_PAIR = Buffer.from([0xed, 0xa0, 0x80]);

/** Letters by chance, the same every time: a database that compresses long values would store a run of one letter. */
function letters(count: number, salt: string): string {
  const random = randomFrom(seedOf(salt));
  return Array.from({ length: count }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
}

function linksOf(request: SiteRequest, name: string, page: number): string[] {
  const { port } = request;
  const other = `http://${addressAt(700 + page)}:${port}`;
  const salt = `${name} ${page}`;
  const longHost = Array.from({ length: 60 }, (_, label) => letters(59, `${salt} ${label}`)).join('.');
  return [
    `${PREFIX}${name}/${(page + 1) % PAGES}`,
    `${PREFIX}${name}/${(page + 3) % PAGES}`,
    // About 3,600 characters, of labels that are each allowed.
    `http://${longHost}.localhost:${port}/`,
    `http://${letters(3_600, `c ${salt}`)}.localhost:${port}/`,
    `http://${letters(64, salt)}.localhost:${port}/`,
    `${other}/content/text?nul=${NUL}&more`,
    `${other}/content/text?nul=%00`,
    `${other}/content/text?half=&#xD800;`,
    `${other}/content/text?half=%ED%A0%80`,
    `${other}/content/text?long=${letters(8_000, `d ${salt}`)}`,
    `${other}/content/text?longer=${letters(60_000, `e ${salt}`)}`,
    `http://user${NUL}:pass@${addressAt(700)}:${port}/content/text`,
    `http://[::ffff:127.0.0.1]:${port}/content/text`,
  ];
}

function documentOf(request: SiteRequest, name: string, page: number): Buffer {
  const links = linksOf(request, name, page).map((href) => `<li><a href="${href}">${NUL}link</a></li>`);
  const data = `{"@type":"Article","headline":"\\ud800 \\u0000","author":{"name":"\\udfff"},"${'k'.repeat(9_000)}":1}`;
  const head =
    `<!doctype html>\n<html lang="${'l'.repeat(5_000)}">\n<head>\n<meta charset="utf-8">\n<title>Page ${page}</title>\n` +
    `<meta name="description" content="${NUL}&#0;&#xD800;`;
  const rest =
    `">\n<meta property="og:title" content="\\u0000${NUL}">\n<script type="application/ld+json">${data}</script>\n` +
    `</head>\n<body>\n<h1>${NUL}&#xDFFF;</h1>\n<ul>\n${links.join('\n')}\n</ul>\n<p>`;
  return Buffer.concat([
    Buffer.from(head),
    HALF_PAIR,
    Buffer.from(rest),
    HALF_PAIR,
    Buffer.from('</p>\n</body>\n</html>\n'),
  ]);
}

function answer(request: SiteRequest): Answer | null {
  const [name = '', number, ...rest] = segmentsOf(request, PREFIX);
  const page = numberIn(number, PAGES - 1);
  if (!/^[a-z0-9-]{1,40}$/.test(name) || page === null || rest.length > 0) return null;
  const headers = { etag: `"${'t'.repeat(9_000)}"`, 'last-modified': 'm'.repeat(9_000) };
  return reply(
    200,
    `text/html; charset=utf-8; x=${'x'.repeat(5_000)}`,
    documentOf(request, name, page),
    headers,
  );
}

export const hostile: Family = {
  prefix: PREFIX,
  about: 'whole pages with links, titles and headers that databases refuse',
  starts: [],
  answer,
};
