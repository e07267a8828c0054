import { describe, expect, it } from 'vitest';
import { GOLDEN_PAGES } from '../content/golden-pages.fixture.ts';
import { buildTree } from '../tree/tree-builder.ts';
import { extractTyped, type TypedResult, type TypeName } from './extract-typed.ts';

const FETCHED_AT = Date.UTC(2026, 10, 15);
const read = (html: string, type: TypeName | 'auto', url = 'https://shop.example/p'): TypedResult =>
  extractTyped({ tree: buildTree(html), url, fetchedAt: FETCHED_AT }, type);
const ld = (value: unknown): string => `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const offer = (price: unknown, more: object = {}): object => ({
  '@type': 'Product',
  name: 'x',
  offers: { '@type': 'Offer', price, ...more },
});

describe('a field', () => {
  it('comes from the most trusted source that has it, and gains from those that agree', () => {
    const alone = read(
      ld({ '@type': 'Product', name: 'Desk', offers: { price: 5, priceCurrency: 'EUR' } }),
      'product',
    );
    const agreed = read(
      `${ld({ '@type': 'Product', name: 'Desk', offers: { price: 5, priceCurrency: 'EUR' } })}<meta property="product:price:amount" content="5">`,
      'product',
    );
    expect(alone.by.price).toEqual({ source: 'json-ld', confidence: 0.95 });
    expect(agreed.by.price?.source).toBe('json-ld');
    expect(agreed.by.price?.confidence).toBeGreaterThan(0.95);
  });

  it('falls back source by source', () => {
    const shown = '<h1>Desk</h1><p class=price>€ 7,00</p><button>Add to cart</button>';
    const og = '<meta property="product:price:amount" content="6">';
    const state =
      '<script>window.__STATE__={product:{id:1,name:"Desk",sku:"s",price:8,inStock:true}}</script>';
    const data = ld(offer(9));
    const sourceOf = (html: string): unknown => {
      const { value, by } = read(html, 'product');
      return [value?.price, by.price?.source];
    };
    expect(sourceOf(shown)).toEqual([7, 'markup']);
    expect(sourceOf(og + shown)).toEqual([6, 'open-graph']);
    expect(sourceOf(state + og + shown)).toEqual([8, 'embedded-state']);
    expect(sourceOf(data + state + og + shown)).toEqual([9, 'json-ld']);
  });

  it('that cannot be read is a problem and goes to the next source', () => {
    const { value, by, problems } = read(
      `${ld({ ...offer('call us'), gtin13: '4006381333930' })}<h1>x</h1><p class=price>€ 7,00</p>`,
      'product',
    );
    expect(value?.price).toBe(7);
    expect(by.price?.source).toBe('markup');
    expect(value?.gtin).toBeNull();
    expect(problems).toEqual([
      { field: 'gtin', source: 'json-ld', message: 'not a gtin: 4006381333930' },
      { field: 'price', source: 'json-ld', message: 'not a price: call us' },
    ]);
  });
});

describe('the price of a product', () => {
  it.each<[string, unknown, object, number | null, string | null]>([
    ['a number', 1299.5, { priceCurrency: 'EUR' }, 1299.5, 'EUR'],
    ['a text with a point', '1299.50', { priceCurrency: 'EUR' }, 1299.5, 'EUR'],
    ['more decimals than cents', '19.9900', { priceCurrency: 'USD' }, 19.99, 'USD'],
    ['a text for people', '1.299,50 €', {}, 1299.5, null],
    ['nothing', '', { priceCurrency: 'EUR' }, null, 'EUR'],
    ['free', 0, { priceCurrency: 'EUR' }, 0, 'EUR'],
  ])('is read from %s', (_, price, more, amount, currency) => {
    const { value } = read(`<html lang=de>${ld(offer(price, more))}`, 'product');
    expect([value?.price, value?.currency]).toEqual([amount, currency]);
  });

  it('is the lowest that can be had', () => {
    const offers = [
      { '@type': 'Offer', price: 5, availability: 'https://schema.org/OutOfStock' },
      { '@type': 'Offer', price: 8, availability: 'InStock' },
      { '@type': 'Offer', price: 7, availability: 'https://schema.org/InStock' },
    ];
    const { value } = read(ld({ '@type': 'Product', name: 'x', offers }), 'product');
    expect(value).toMatchObject({ price: 7, availability: 'InStock' });
  });

  it('is a span in an aggregate offer', () => {
    const offers = {
      '@type': 'AggregateOffer',
      lowPrice: '5',
      highPrice: '9',
      priceCurrency: 'GBP',
      offerCount: 3,
    };
    expect(read(ld({ '@type': 'Product', name: 'x', offers }), 'product').value).toMatchObject({
      price: 5,
      highPrice: 9,
      currency: 'GBP',
    });
  });

  it('is that of the product of the page, not of those beside it', () => {
    const { value } = read(
      `${ld([
        { '@type': 'Product', name: 'Chair', offers: { price: 1 } },
        {
          '@type': 'Product',
          name: 'Desk',
          offers: { price: 2 },
          isRelatedTo: { '@type': 'Product', name: 'Lamp', offers: { price: 3 } },
        },
      ])}<h1>Desk</h1>`,
      'product',
    );
    expect(value).toMatchObject({ name: 'Desk', price: 2 });
  });
});

describe('auto', () => {
  it('says nothing where nothing speaks', () => {
    expect(read('<p>Hello</p>', 'auto', 'https://a.example/x/y')).toEqual({
      type: null,
      value: null,
      by: {},
      problems: [],
      confidence: 0,
    });
  });

  it.each<[TypeName, string, string]>([
    ['product', ld(offer(5)), 'https://a.example/x'],
    ['article', ld({ '@type': 'BlogPosting', headline: 'x' }), 'https://a.example/x'],
    ['job_posting', ld({ '@type': 'JobPosting', title: 'x' }), 'https://a.example/x'],
    ['event', ld({ '@type': 'TheaterEvent', name: 'x', startDate: '2026-01-01' }), 'https://a.example/x'],
    ['recipe', ld({ '@type': ['Recipe', 'Article'], name: 'x' }), 'https://a.example/x'],
    [
      'forum_thread',
      ld({ '@type': 'QAPage', mainEntity: { '@type': 'Question', name: 'x' } }),
      'https://a.example/x',
    ],
    ['company_website', ld({ '@type': 'Organization', name: 'x' }), 'https://a.example/'],
    ['organization', ld({ '@type': 'Organization', name: 'x' }), 'https://a.example/people/x'],
    ['linkedin_profile', '<h1>x</h1>', 'https://www.linkedin.com/in/x'],
    ['breadcrumbs', '<nav class=breadcrumb><a href=/>a</a> / <a href=/b>b</a></nav>', 'https://a.example/b'],
  ])('decides by evidence: %s', (type, html, url) => {
    const result = read(html, 'auto', url);
    expect(result.type).toBe(type);
    expect(result.confidence).toBeGreaterThan(0.3);
  });

  it('takes a list of products for no product', () => {
    const items = Array.from({ length: 8 }, (_, index) => ({
      '@type': 'Product',
      name: `p${index}`,
      offers: { price: index },
    }));
    expect(read(ld({ '@type': 'ItemList', itemListElement: items }), 'auto').type).not.toBe('product');
  });
});

describe('the body of an article', () => {
  const [page] = GOLDEN_PAGES;
  const html = page?.html ?? '';

  it('is the main content of the page, without its title and who wrote it', () => {
    const { value, by } = read(html, 'article', page?.url);
    expect(value?.body).toMatch(/^The river had been rising/);
    expect(value?.body).toContain('The boat KEEP');
    expect(value?.body).not.toContain('DROP');
    expect(by.body).toEqual({ source: 'markup', confidence: 0.65 });
  });

  it('is what the page states, where it does', () => {
    const stated = ld({ '@type': 'Article', headline: 'x', articleBody: 'All of it.' });
    const { value, by } = read(stated + html, 'article', page?.url);
    expect([value?.body, by.body?.source]).toEqual(['All of it.', 'json-ld']);
  });

  it('has the paragraphs of the page, of its data and of a short element as paragraphs', () => {
    const paragraphs = (value: Readonly<Record<string, unknown>> | null | undefined) =>
      String(value?.body).split('\n\n');
    const found = paragraphs(read(html, 'article', page?.url).value);
    expect(found.slice(0, 2).map((text) => text.slice(0, 22))).toEqual([
      'The river had been ris',
      'Engineers from the cou',
    ]);
    expect(found).toHaveLength(7);
    const stated = (articleBody: string) =>
      paragraphs(read(ld({ '@type': 'Article', headline: 'x', articleBody }), 'article').value);
    expect(stated('One.\n\nTwo\nlines.')).toEqual(['One.', 'Two\nlines.']);
    expect(stated('<p>One\nline.</p><p>Two<br>lines.</p>')).toEqual(['One line.', 'Two\nlines.']);
    const marked =
      '<div itemscope itemtype="https://schema.org/Article"><h1 itemprop="headline">x</h1><div itemprop="articleBody"><p>One.</p><p>Two.</p></div></div>';
    expect(paragraphs(read(marked, 'article').value)).toEqual(['One.', 'Two.']);
    const short = '<h1>x</h1><div class="entry-content"><p>One.</p><p>Two.</p></div>';
    expect(paragraphs(read(short, 'article').value)).toEqual(['One.', 'Two.']);
  });

  it('is made only when it is needed, from what others have found', () => {
    let asked = 0;
    const contentText = () => {
      asked += 1;
      return 'On maps\nA text.';
    };
    const given = { url: 'https://a.example/', fetchedAt: FETCHED_AT, contentText };
    expect(extractTyped({ ...given, tree: buildTree('<h1>On maps</h1>') }, 'article').value?.body).toBe(
      'A text.',
    );
    extractTyped({ ...given, tree: buildTree(ld({ '@type': 'Article', articleBody: 'b' })) }, 'article');
    extractTyped({ ...given, tree: buildTree('<h1>x</h1>') }, 'product');
    expect(asked).toBe(1);
  });
});
