import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { numberIn, reply, segmentsOf } from '../exchange.ts';
import { addressAt } from '../hosts.ts';

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
const LONG_LABEL = 'a'.repeat(64);

function linksOf(request: SiteRequest, name: string, page: number): string[] {
  const { port } = request;
  const other = `http://${addressAt(700 + page)}:${port}`;
  const longHost = Array.from({ length: 60 }, () => 'b'.repeat(59)).join('.');
  return [
    `${PREFIX}${name}/${(page + 1) % PAGES}`,
    `${PREFIX}${name}/${(page + 3) % PAGES}`,
    // About 3,600 characters, of labels that are each allowed.
    `http://${longHost}.localhost:${port}/`,
    `http://${'c'.repeat(3_600)}.localhost:${port}/`,
    `http://${LONG_LABEL}.localhost:${port}/`,
    `${other}/content/text?nul=${NUL}&more`,
    `${other}/content/text?nul=%00`,
    `${other}/content/text?half=&#xD800;`,
    `${other}/content/text?half=%ED%A0%80`,
    `${other}/content/text?long=${'d'.repeat(8_000)}`,
    `${other}/content/text?longer=${'e'.repeat(60_000)}`,
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
