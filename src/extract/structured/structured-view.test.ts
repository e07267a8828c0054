import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { readStructured, type StructuredView, viewOf } from './structured-view.ts';

// Through JSON, because that is what becomes of it.
const viewIn = (html: string, linkHeader: string | null = null): StructuredView =>
  JSON.parse(
    JSON.stringify(viewOf(readStructured(buildTree(html), 'https://example.com/a/b', { linkHeader }))),
  );
const ld = (value: unknown): string => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

describe('the structured view of a page', () => {
  it('merges what two syntaxes say of one thing, and names the origin of every value', () => {
    const { items } = viewIn(
      `${ld({ '@type': 'Product', name: 'Desk', sku: 'D1', offers: { '@type': 'Offer', price: '5.00' } })}
      <div itemscope itemtype="https://schema.org/Product"><b itemprop=name>desk</b><i itemprop=color>red</i>
      <p itemprop=offers itemscope itemtype="https://schema.org/Offer"><b itemprop=price>5.00</b><b itemprop=priceCurrency>EUR</b></p></div>`,
    );
    const both = ['json-ld', 'microdata'];
    expect(items).toEqual([
      {
        type: ['Product'],
        from: both,
        properties: {
          name: [{ value: 'Desk', from: both }],
          sku: [{ value: 'D1', from: ['json-ld'] }],
          color: [{ value: 'red', from: ['microdata'] }],
          offers: [
            {
              from: both,
              value: {
                type: ['Offer'],
                from: both,
                properties: {
                  price: [{ value: '5.00', from: both }],
                  priceCurrency: [{ value: 'EUR', from: ['microdata'] }],
                },
              },
            },
          ],
        },
      },
    ]);
  });

  it('keeps things of different names apart', () => {
    const { items } = viewIn(
      `${ld({ '@type': 'Product', name: 'Desk' })}<p itemscope itemtype="https://schema.org/Product"><b itemprop=name>Chair</b></p>`,
    );
    expect(items).toHaveLength(2);
  });

  it('writes circles out once', () => {
    const { items } = viewIn(
      ld({
        '@graph': [
          { '@type': 'A', '@id': '#a', b: { '@id': '#b' } },
          { '@type': 'B', '@id': '#b', a: { '@id': '#a' } },
        ],
      }),
    );
    expect(items.map(({ id }) => id)).toEqual(['https://example.com/a/b#a', 'https://example.com/a/b#b']);
    expect(JSON.stringify(items[0])).toContain('"a":[{"value":"https://example.com/a/b#a"');
  });

  it('gives what a page says of itself from the most trusted source, and who agrees', () => {
    const { page } = viewIn(`<html lang=en><title>Trams | Gazette</title><link rel=canonical href="/c">
      <meta property="og:title" content="Trams"><meta name="twitter:title" content="trams"><meta name="DC.creator" content="Mara">
      <meta name=description content="a &amp; b"><meta property="og:image" content="/i.png"><meta property="og:site_name" content=Gazette>
      ${ld({ '@type': 'NewsArticle', headline: 'Trams', datePublished: '2024-05-03' })}`);
    expect(page).toEqual({
      title: { value: 'Trams', from: ['json-ld', 'open-graph', 'twitter'] },
      description: { value: 'a & b', from: ['meta'] },
      url: { value: 'https://example.com/c', from: ['link'] },
      image: { value: 'https://example.com/i.png', from: ['open-graph'] },
      siteName: { value: 'Gazette', from: ['open-graph'] },
      type: { value: 'NewsArticle', from: ['json-ld'] },
      language: { value: 'en', from: ['markup'] },
      author: { value: 'Mara', from: ['dublin-core'] },
      publishedAt: { value: '2024-05-03', from: ['json-ld'] },
      modifiedAt: null,
      keywords: null,
    });
  });

  it('has hreflang, feeds, Open Graph, Twitter and Dublin Core', () => {
    const view =
      viewIn(`<link rel=alternate hreflang=de href="/de"><link rel=alternate type="application/rss+xml" title=F href=/f>
      <meta property="og:image" content=a><meta property="og:image" content=b><meta property="product:price:amount" content=5>
      <meta name="twitter:card" content=summary><meta name="dcterms.date" content=2024>`);
    expect(view.hreflang).toEqual([{ lang: 'de', url: 'https://example.com/de' }]);
    expect(view.feeds).toEqual([{ url: 'https://example.com/f', type: 'application/rss+xml', title: 'F' }]);
    expect(view.openGraph).toEqual({ image: ['a', 'b'], 'product:price:amount': ['5'] });
    expect(view.twitter).toEqual({ card: 'summary' });
    expect(view.dublinCore).toEqual({ date: ['2024'] });
  });

  it('says what was broken', () => {
    const view = viewIn(
      '<script type="application/ld+json">{"a":1,}</script><script type="application/ld+json">{broken</script>',
    );
    expect(view.problems).toEqual([
      { source: 'json-ld', message: 'block 1 was mended: comma' },
      { source: 'json-ld', message: 'block 2 is no JSON that could be read or mended' },
    ]);
  });
});

describe('breadcrumbs', () => {
  const home = { name: 'Home', url: 'https://example.com/' };
  const here = { name: 'Here', url: null };

  it.each([
    [
      'JSON-LD, in the order of its positions',
      ld({
        '@type': 'BreadcrumbList',
        itemListElement: [
          { '@type': 'ListItem', position: 2, name: 'Here' },
          { '@type': 'ListItem', position: 1, item: { '@id': '/', name: 'Home' } },
        ],
      }),
      'json-ld',
    ],
    [
      'microdata',
      '<ol itemscope itemtype="https://schema.org/BreadcrumbList"><li itemprop=itemListElement itemscope itemtype="https://schema.org/ListItem"><a itemprop=item href="/"><span itemprop=name>Home</span></a><li itemprop=itemListElement itemscope itemtype="https://schema.org/ListItem"><b itemprop=name>Here</b></ol>',
      'microdata',
    ],
    [
      'RDFa',
      '<ol vocab="https://schema.org/" typeof=BreadcrumbList><li property=itemListElement typeof=ListItem><a property=item typeof=WebPage href="/"><span property=name>Home</span></a></li><li property=itemListElement typeof=ListItem><span property=name>Here</span></li></ol>',
      'rdfa',
    ],
    [
      'a trail that is called so',
      '<nav aria-label="Breadcrumb"><a href="/">Home</a> › <span>Here</span></nav>',
      'markup',
    ],
    [
      'a list that is called so',
      '<div class="page-breadcrumbs">You are here: <ul><li><a href="/">Home</a><li>/ Here</ul></div>',
      'markup',
    ],
  ])('come from %s', (_, html, from) => {
    expect(viewIn(html).breadcrumbs).toEqual({ from, crumbs: [home, here] });
  });

  it('are none where there are none', () => {
    expect(viewIn('<nav><a href=/>Home</a></nav>').breadcrumbs).toBeNull();
  });
});

describe('pagination', () => {
  const next = 'https://example.com/a/2';
  it.each([
    ['links in the head', '<link rel=next href=2>', null, 'links'],
    ['a header', '', '<2>; rel="next"', 'links'],
    ['links in the page', '<a rel=next href=2>more</a>', null, 'links'],
    ['the row of numbers', '<nav class=pagination><a href=1>1</a><a href=2>Next »</a></nav>', null, 'markup'],
    ['its arrows', '<ul class="pager"><li><a href=2>›</a></ul>', null, 'markup'],
  ])('comes from %s', (_, html, header, from) => {
    expect(viewIn(html, header).pagination).toEqual({ next, prev: null, from });
  });

  it('is none where there is none', () => {
    expect(viewIn('<a href=2>Next</a>').pagination).toEqual({ next: null, prev: null, from: null });
  });
});
