import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Format } from '../../core/model/job.ts';
import { type ExtractInput, extractPage } from './extract-page.ts';

const ALL: readonly Format[] = ['html', 'text', 'links', 'metadata'];

function extract(text: string, more: Partial<ExtractInput> = {}) {
  return extractPage({
    text,
    charset: 'utf-8',
    url: 'https://example.com/dir/page',
    contentType: 'text/html; charset=utf-8',
    linkHeader: null,
    xRobotsTag: null,
    formats: ALL,
    ...more,
  });
}

describe('extractPage', () => {
  it('keeps the text with navigation and the like behind the content, and hashes it as it stands', () => {
    const html = `<body><header>Shop <nav>Home Offers</nav></header><main><article><header><h1>Heat pumps</h1></header>
      They heat.<aside>Related</aside> <b>Well.</b><footer>By Ada</footer></article></main><footer>Imprint</footer> End`;
    const kept = extract(html, { keepsText: true });
    expect(kept.text).toBe('Heat pumps They heat. Well. By Ada End Shop Home Offers Related Imprint');
    expect(kept.textHash).toBe(extract(html).textHash);
    // A header that is never closed takes no text away.
    expect(extract('<header>Shop<p>All of it', { keepsText: true }).text).toBe('Shop All of it');
    const long = `<nav>Home</nav><p>Begin ${'word '.repeat(50_000)}</p><nav>End</nav>`;
    expect(extract(long, { keepsText: true }).text).toMatch(/^Begin word .* word Home$/);
  });

  it('never throws and always answers the same, whatever the page', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...[
          '<',
          '>',
          '</',
          '<!--',
          '-->',
          '"',
          "'",
          '=',
          ' ',
          '<a href="/x">',
          '</a>',
          '<p>',
          '<div itemscope>',
          '</div>',
        ],
        ...[
          '<svg>',
          '</svg>',
          '<title>',
          '</title>',
          '<script type="application/ld+json">',
          '</script>',
          '{"a":1}',
          '[[',
        ],
        ...[
          '<noscript>',
          '</noscript>',
          '<template>',
          '</template>',
          '<td>',
          '<h1>',
          '</h2>',
          '<img src=a srcset="a 1x,b">',
        ],
        ...[
          '<span itemprop=name>',
          '</span>',
          '<b property=x typeof=Y vocab=z>',
          '</b>',
          '<base href="//">',
          '<input type=hidden>',
        ],
        ...[
          '<meta name=robots content=none>',
          '<meta http-equiv=refresh content="0;url=/r">',
          '<link rel=next href=n>',
          '&amp;',
          '\0',
        ],
        ...['<form action=/f>', '<iframe src=i>', '<plaintext>', '<![CDATA[', ']]>', '\ud800', '😀'],
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.string(),
        fc.string(),
        (pieces, linkHeader, xRobotsTag) => {
          const html = pieces.join('');
          const first = extract(html, { linkHeader, xRobotsTag });
          expect(extract(html, { linkHeader, xRobotsTag })).toEqual(first);
          expect(JSON.parse(JSON.stringify(first.links))).toEqual(first.links);
          expect(first.links.every((link) => /^https?:/.test(link.url))).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('gives only what was asked for', () => {
    const page = '<title>T</title><a href=/x>x</a>';
    expect(extract(page, { formats: [] })).toMatchObject({
      title: 'T',
      metadata: null,
      links: [{ url: 'https://example.com/x' }],
    });
    expect(extract(page, { formats: ['links'] })).not.toHaveProperty('html');
    expect(extract(page, { formats: ['html'] })).not.toHaveProperty('text');
    expect(extract(page).metadata?.title).toBe('T');
  });

  it('finds the same links and text hash with and without metadata', () => {
    const page =
      '<h1>A <a href=/x>b</a></h1><noscript>n<a href=/y>y</a></noscript><p itemscope><b itemprop=q>c</b>';
    const full = extract(page);
    const lean = extract(page, { formats: ['links'] });
    expect(lean.links).toEqual(full.links);
    expect(lean.textHash).toBe(full.textHash);
  });

  describe('the text hash', () => {
    const hashOf = (html: string) => extract(html).textHash;

    it('sees text, not markup, layout or what is not shown', () => {
      const plain = hashOf('<p>Hello big world</p>');
      const same = [
        'Hello big world',
        '<div>Hello</div><div>big</div> world',
        ' Hello\n\t<b>big</b>  wo<i>rl</i>d<!-- x -->',
        '<head><title>T</title><style>p{}</style></head><body>Hello big world<script>x</script>',
        'Hello<noscript>not this</noscript> big<template>nor this</template> world<textarea>nor that</textarea>',
        'Hello&nbsp;big&#32;world<svg><title>icon</title><style>a{}</style></svg>',
      ];
      for (const html of same) expect(hashOf(html), html).toBe(plain);
      for (const html of ['Hello bigworld', 'Hello big worlds', 'hello big world'])
        expect(hashOf(html)).not.toBe(plain);
      expect(plain).toMatch(/^[0-9a-f]{32}$/);
    });

    it('counts the characters of that text', () => {
      expect(extract(' <p>a &amp;  b</p> ').textLength).toBe(5);
      expect(extract('<script>x</script>')).toMatchObject({ textHash: null, textLength: 0 });
    });
  });

  describe('robots', () => {
    it('adds up what meta tags and the header say to all robots and to us', () => {
      const robotsOf = (html: string, xRobotsTag: string | null = null) =>
        extract(html, { xRobotsTag }).robots;
      expect(robotsOf('x')).toEqual({ isNofollow: false, isNoindex: false });
      expect(robotsOf('<META NAME="Robots" CONTENT="NOINDEX, follow">')).toEqual({
        isNofollow: false,
        isNoindex: true,
      });
      expect(robotsOf('<meta name=scrapifiebot content=nofollow>').isNofollow).toBe(true);
      expect(robotsOf('<meta name=otherbot content=none>')).toEqual({ isNofollow: false, isNoindex: false });
      expect(robotsOf('<meta name=robots content=nofollow>', 'noindex')).toEqual({
        isNofollow: true,
        isNoindex: true,
      });
      expect(extract('<meta name=robots content=noindex>', { xRobotsTag: 'nofollow' }).metadata?.robots).toBe(
        'noindex, nofollow',
      );
    });
  });

  describe('what is not HTML', () => {
    it('has a kind, a hash and no links', () => {
      const json = extract('{"a": "<a href=/x>"}', { contentType: 'application/json' });
      expect(json).toMatchObject({
        kind: 'json',
        title: null,
        metadata: null,
        links: [],
      });
      expect(json.textHash).toBe(
        extract('{"a":  "<a href=/x>"}\n', { contentType: 'application/vnd.api+json' }).textHash,
      );
      expect(extract('<rss/>', { contentType: 'application/rss+xml' }).kind).toBe('xml');
      expect(extract('<p>&amp;', { contentType: 'text/plain' })).toMatchObject({
        kind: 'text',
        textLength: 8,
      });
      expect(extract('%PDF', { contentType: 'application/pdf' })).toMatchObject({
        kind: 'other',
        textHash: null,
        charset: null,
      });
    });

    it('still obeys its headers', () => {
      const headers = {
        contentType: 'application/pdf',
        linkHeader: '</doc>; rel=canonical',
        xRobotsTag: 'noindex',
      };
      expect(extract('%PDF', headers)).toMatchObject({
        canonical: 'https://example.com/doc',
        robots: { isNoindex: true, isNofollow: false },
      });
    });

    it('is told apart by its beginning where the server gives no type', () => {
      const kindOf = (text: string) => extract(text, { contentType: null }).kind;
      expect(kindOf('\n<!DOCTYPE html><p>')).toBe('html');
      expect(kindOf('<!-- c --><html>')).toBe('html');
      expect(kindOf('<?xml version="1.0"?><x/>')).toBe('xml');
      expect(kindOf('[1, 2]')).toBe('json');
      expect(kindOf('[not json')).toBe('text');
      expect(kindOf('\0\x01\x02')).toBe('other');
    });
  });

  it('notes the small facts that tell what a page is', () => {
    const { facts } = extract(
      `<noscript>Please <b>enable</b> JavaScript</noscript><script src=/app.js></script><script>1234</script>
       <form method=post><input TYPE=Password></form><iframe src=/i></iframe><meta http-equiv=refresh content="3; URL='/r'">`,
    );
    expect(facts).toEqual({
      hasPasswordField: true,
      formCount: 1,
      iframeCount: 1,
      scriptCount: 2,
      scriptChars: 4,
      scriptSources: ['/app.js'],
      noscriptText: 'Please enable JavaScript',
      refresh: 'https://example.com/r',
      refreshSeconds: 3,
    });
    const hidden = extract(`<noscript><meta http-equiv=refresh content="0; url=/nojs"></noscript>`).facts;
    expect(hidden).toMatchObject({ refresh: 'https://example.com/nojs', refreshSeconds: null });
  });

  describe('limits', () => {
    it('cuts links, texts, values and depth, and says so', () => {
      const links = extract('<a href=/x>y</a>'.repeat(10_500));
      expect(links.links).toHaveLength(10_000);
      expect(links.isTruncated).toBe(true);
      expect(extract(`<a href=/x>${'y'.repeat(600)}</a>`).links[0]?.text).toHaveLength(500);
      expect(extract(`<title>${'t'.repeat(2_000)}</title>`).title).toHaveLength(1_000);
      expect(
        extract(`<script type="application/ld+json">"${'x'.repeat(300_000)}"</script>`).isTruncated,
      ).toBe(true);
      expect(extract('<p>ok').isTruncated).toBe(false);
    });

    it('reads 100,000 nested elements and what comes after them', () => {
      const deep = extract(
        `${'<div>'.repeat(100_000)}<a href=/x>in</a>${'</div>'.repeat(100_000)}<a href=/y>out</a>`,
      );
      expect(deep.links.map((link) => link.text)).toEqual(['in', 'out']);
      expect(deep.isTruncated).toBe(true);
    });

    it('reads pages of one huge attribute, comment, script or run of anything', () => {
      const mega = 1_000_000;
      const pages = [
        `<a href="/${'x'.repeat(mega)}" title='y'>t</a>`,
        `<a ${'x '.repeat(mega / 2)}href=/ok>t</a>`,
        `<!--${'-'.repeat(mega)}`,
        `<script>${'</'.repeat(mega / 2)}`,
        '<'.repeat(mega),
        '<a '.repeat(mega / 3),
        '&'.repeat(mega),
        ' '.repeat(mega),
        `<meta http-equiv=refresh content="${' '.repeat(mega)}">`,
        `<img srcset="${'a,,,,'.repeat(mega / 5)}b">`,
        `<div itemscope>${'<b itemprop=x>'.repeat(mega / 14)}`,
        `<h1>${'<i>x</i> '.repeat(mega / 9)}`,
        `<td><p>x</td>`.repeat(mega / 13),
        `<script type="application/ld+json">${'['.repeat(120_000)}${']'.repeat(120_000)}</script>`,
      ];
      for (const page of pages) expect(extract(page).kind).toBe('html');
    });
  });

  it('goes on after an <iframe/> in <noscript>', () => {
    const text = '<noscript><iframe src="/count" /></noscript><a href="/next">next</a>';
    const { links } = extractPage({
      text,
      charset: 'utf-8',
      url: 'http://site.test/',
      contentType: 'text/html',
      linkHeader: null,
      xRobotsTag: null,
      formats: ['links'],
    });
    expect(links.map(({ url }) => url)).toEqual(['http://site.test/count', 'http://site.test/next']);
  });
});
