import { describe, expect, it } from 'vitest';
import { extractPage } from './extract-page.ts';

function metadataOf(text: string, more: { linkHeader?: string; contentLanguage?: string } = {}) {
  const input = { text, charset: 'utf-8', url: 'https://example.com/dir/page', contentType: 'text/html' };
  const { metadata } = extractPage({
    ...input,
    linkHeader: null,
    xRobotsTag: null,
    formats: ['metadata'],
    ...more,
  });
  if (metadata === null) throw new Error('no metadata');
  return metadata;
}

describe('the metadata of a page', () => {
  it('has the first title outside of SVG and templates', () => {
    const titleOf = (html: string) => metadataOf(html).title;
    expect(
      titleOf(
        '<svg><title>icon</title></svg><template><title>no</title></template><title> A &amp;\n <b> </title>',
      ),
    ).toBe('A & <b>');
    expect(titleOf('<title>1</title><title>2</title>')).toBe('1');
    expect(titleOf('<TITLE>x</TITLE >')).toBe('x');
    expect(titleOf('<p>none')).toBeNull();
  });

  it('has headings in order, however they are closed', () => {
    expect(
      metadataOf(
        '<h1>One <small>1</small></h1><h2>Two<h3>Three</h2><p>x<h6></h6><H4><a href=/x>Four</a></H4>',
      ).headings,
    ).toEqual([
      { level: 1, text: 'One 1' },
      { level: 2, text: 'Two' },
      { level: 3, text: 'Three' },
      { level: 4, text: 'Four' },
    ]);
  });

  it('has description and other meta tags, the first of each', () => {
    const found =
      metadataOf(`<meta name="Description" content=" D "><meta name=description content=E><meta name=author content=A>
      <meta name=author content=B><meta name=keywords content="a,b"><meta name=__proto__ content=p><meta charset=utf-8><meta name=x>`);
    expect(found.description).toBe('D');
    expect(Object.entries(found.meta)).toEqual([
      ['author', 'A'],
      ['keywords', 'a,b'],
      ['__proto__', 'p'],
    ]);
  });

  it('has Open Graph and Twitter cards under short keys', () => {
    const found =
      metadataOf(`<meta property="og:title" content="T"><meta property="og:image" content="/1.png">
      <meta property="og:image" content="/2.png"><meta name="og:type" content="article"><meta property="article:author" content="A">
      <meta name="twitter:card" content="summary"><meta property="twitter:site" content="@s">`);
    expect(found.openGraph).toEqual({
      title: 'T',
      image: ['/1.png', '/2.png'],
      type: 'article',
      'article:author': 'A',
    });
    expect(found.twitter).toEqual({ card: 'summary', site: '@s' });
  });

  it('has its place among other pages', () => {
    const found = metadataOf(
      `<link rel=canonical href=/c><link rel=canonical href=/c2><link rel="alternate" hreflang="de" href="/de">
       <link rel=alternate hreflang=x-default href=/><link rel=next href=?p=2><link rel=alternate type="application/rss+xml" title="News" href=/rss>
       <link rel=alternate type=application/atom+xml href=/atom>`,
      { linkHeader: '</c3>; rel=canonical, <?p=0>; rel=prev, </fr>; rel=alternate; hreflang=fr' },
    );
    expect(found.canonical).toBe('https://example.com/c');
    expect(found.pagination).toEqual({
      next: 'https://example.com/dir/page?p=2',
      prev: 'https://example.com/dir/page?p=0',
    });
    expect(found.hreflang).toEqual([
      { lang: 'de', url: 'https://example.com/de' },
      { lang: 'x-default', url: 'https://example.com/' },
      { lang: 'fr', url: 'https://example.com/fr' },
    ]);
    expect(found.feeds).toEqual([
      { url: 'https://example.com/rss', type: 'application/rss+xml', title: 'News' },
      { url: 'https://example.com/atom', type: 'application/atom+xml', title: '' },
    ]);
  });

  it('has a language from the element, the meta tag or the header, in this order', () => {
    const meta = '<meta http-equiv=Content-Language content=fr>';
    expect(metadataOf(`<html lang="en-GB">${meta}`).language).toBe('en-GB');
    expect(metadataOf(`<html xml:lang=de>${meta}`).language).toBe('de');
    expect(metadataOf(meta, { contentLanguage: 'it' }).language).toBe('fr');
    expect(metadataOf('x', { contentLanguage: 'it' }).language).toBe('it');
    expect(metadataOf('x').language).toBeNull();
  });

  it('has images with their alt texts, each address once, srcset and lazy ones included', () => {
    expect(
      metadataOf(`<img src=/a.png alt=" A "><img src=/a.png alt=B><img src=/b.png><img src=b.png srcset="/b.png 1x, /b,2.png 2x,/b3.png">
        <picture><source srcset="/c.webp 100w"><img src="data:image/gif;base64,x" data-src=/c.png alt=C></picture><img>`)
        .images,
    ).toEqual([
      { url: 'https://example.com/a.png', alt: 'A' },
      { url: 'https://example.com/b.png', alt: '' },
      { url: 'https://example.com/dir/b.png', alt: '' },
      { url: 'https://example.com/b,2.png', alt: '' },
      { url: 'https://example.com/b3.png', alt: '' },
      { url: 'https://example.com/c.webp', alt: '' },
      { url: 'https://example.com/c.png', alt: 'C' },
    ]);
  });

  it('has JSON-LD that parses, and leaves out what does not', () => {
    const block = (json: string, type = 'application/ld+json') => `<script type="${type}">${json}</script>`;
    expect(
      metadataOf(
        block('{"@type":"Product","name":"<b>"}') +
          block('[{"a":1}]', 'Application/LD+JSON; charset=utf-8') +
          block('{broken') +
          block('<!-- {"b":2} -->') +
          block('//<![CDATA[\n{"c":3}\n//]]>') +
          block('"text"') +
          block('{"no":1}', 'application/json') +
          block(`${'['.repeat(100)}${']'.repeat(100)}`),
      ).jsonLd,
    ).toEqual([{ '@type': 'Product', name: '<b>' }, [{ a: 1 }], { b: 2 }, { c: 3 }]);
  });

  it('keeps no more than 64 blocks of JSON-LD', () => {
    const blocks = '<script type="application/ld+json">{}</script>'.repeat(70);
    expect(metadataOf(blocks).jsonLd).toHaveLength(64);
  });
});
