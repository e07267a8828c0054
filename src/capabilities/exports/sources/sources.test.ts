import { describe, expect, it } from 'vitest';
import type { Page, PageMetadata, PageRecord } from '../../../core/model/page.ts';
import type { ExportPage, Table } from '../table.ts';
import { extractedCells, recordsTable } from './extracted.ts';
import { fullTable, productFacts, seoTable } from './page-tables.ts';

const METADATA: PageMetadata = {
  title: 'Red hat',
  description: 'A hat.',
  language: 'en',
  canonical: 'https://shop.test/hat',
  robots: 'index',
  charset: 'utf-8',
  headings: [{ level: 1, text: 'Hat' }],
  meta: {},
  openGraph: { title: 'OG hat', image: ['https://shop.test/og.png', 'https://shop.test/2.png'] },
  twitter: { title: 'Tweet' },
  hreflang: [
    { lang: 'de', url: 'https://shop.test/de' },
    { lang: 'en', url: 'https://shop.test/en' },
  ],
  jsonLd: [],
  microdata: [],
  rdfa: [],
  feeds: [],
  pagination: { next: null, prev: null },
  images: [
    { url: 'https://shop.test/1.png', alt: 'front' },
    { url: 'https://shop.test/2.png', alt: ' ' },
    { url: 'https://shop.test/1.png', alt: 'again' },
  ],
};
const PAGE = {
  url: 'https://shop.test/hat',
  finalUrl: 'https://shop.test/hat',
  statusCode: 200,
  contentType: 'text/html',
  fetchedAt: 0,
  title: 'Red hat',
  bytes: 12,
  textHash: 'ab',
  contentHash: 'cd',
  errorCode: null,
} as unknown as Page;

const pageOf = (record: Partial<PageRecord> = {}): ExportPage => ({
  page: PAGE,
  record: { metadata: METADATA, links: [], ...record },
  body: async () => null,
  blob: async () => null,
});
const source = (...pages: readonly ExportPage[]) =>
  async function* () {
    yield* pages;
  };
async function rowsOf(table: Table): Promise<Record<string, unknown>[]> {
  const rows = (await Array.fromAsync(table.rows())).flat();
  return rows.map((row) => Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at]])));
}

const FETCHED = { finalUrl: 'https://shop.test/hat', fetchedAt: 1_750_000_000_000 };

const JSON_LD = {
  '@graph': [
    { '@type': 'BreadcrumbList', itemListElement: [{ name: 'Home' }, { item: { name: 'Hats' } }] },
    {
      '@type': ['Thing', 'Product'],
      sku: 17,
      brand: { name: 'Acme' },
      category: 'Hats',
      image: ['https://shop.test/a.png', { url: 'https://shop.test/b.png' }],
      offers: [{ price: '19.90', priceCurrency: 'EUR', availability: 'https://schema.org/InStock' }],
      additionalProperty: [{ name: 'color', value: 'red' }, { value: 'nameless' }],
    },
  ],
};

describe('what a page says about a product', () => {
  it('comes from its structured data where nothing was extracted', () => {
    expect(productFacts({ metadata: { ...METADATA, jsonLd: [JSON_LD] }, links: [] }, FETCHED)).toEqual({
      price: 19.9,
      currency: 'EUR',
      availability: 'InStock',
      sku: '17',
      brand: 'Acme',
      category: 'Hats',
      breadcrumbs: ['Home', 'Hats'],
      images: ['https://shop.test/a.png', 'https://shop.test/b.png'],
      attributes: { color: 'red' },
    });
  });

  it('pictures are named by whole URLs, whatever the page wrote', () => {
    const image = ['/i/a.jpg', { url: 'b.jpg' }, '//cdn.test/c.jpg', 'data:image/png;base64,AA', 'http://['];
    const jsonLd = [{ '@type': 'Product', image }];
    const page = { ...FETCHED, finalUrl: 'https://shop.test/hats/1' };
    const { images } = productFacts({ metadata: { ...METADATA, jsonLd }, links: [] }, page);
    expect(images).toEqual([
      'https://shop.test/i/a.jpg',
      'https://shop.test/hats/b.jpg',
      'https://cdn.test/c.jpg',
      'data:image/png;base64,AA',
      'http://[',
    ]);
  });

  it('what was extracted counts first, unless it is of another type', () => {
    const record = {
      metadata: { ...METADATA, jsonLd: [JSON_LD] },
      links: [],
      extracted: {
        price: 5,
        currency: 'USD',
        sku: 'X',
        breadcrumbs: [{ name: 'Shop' }],
        attributes: { size: 'L' },
      },
    };
    expect(productFacts({ ...record, extractedType: 'product' }, FETCHED)).toMatchObject({
      price: 5,
      currency: 'USD',
      sku: 'X',
      breadcrumbs: ['Shop'],
      attributes: { size: 'L' },
    });
    expect(productFacts({ ...record, extractedType: 'article' }, FETCHED)).toMatchObject({
      price: 19.9,
      sku: '17',
    });
  });

  it('survives structured data of any shape', () => {
    const deep = JSON.parse(`${'{"@graph":'.repeat(500)}1${'}'.repeat(500)}`);
    for (const jsonLd of [
      [null, 1, 'x', [[]]],
      [deep],
      [{ '@type': 'Product', offers: 'none', brand: [] }],
    ]) {
      expect(productFacts({ metadata: { ...METADATA, jsonLd }, links: [] }, FETCHED).price).toBeNull();
    }
    expect(productFacts({ metadata: null, links: [] }, FETCHED)).toMatchObject({
      images: [],
      breadcrumbs: [],
    });
  });
});

describe('rows of pages', () => {
  it('says what of a page is in no column', async () => {
    const warnings = [
      { code: 'pdf-page-limit', message: 'Only the first 2 of 5 pages were read.' },
      { code: 'text-cut', message: 'The text was cut.' },
    ];
    const rows = await rowsOf(fullTable(source(pageOf(), pageOf({ warnings }))));
    expect(rows.map((row) => row.warnings)).toEqual([
      null,
      'Only the first 2 of 5 pages were read. The text was cut.',
    ]);
  });

  it('full has texts of the page, and all its pictures once where it names none', async () => {
    const metadata = { ...METADATA, openGraph: {} };
    const [row] = await rowsOf(fullTable(source(pageOf({ metadata }))));
    expect(row).toMatchObject({
      url: PAGE.url,
      http_status: 200,
      fetched_at: '1970-01-01T00:00:00.000Z',
      h1: 'Hat',
      price: null,
      breadcrumbs: null,
      images: 'https://shop.test/1.png|https://shop.test/2.png',
      attrs_json: null,
      text_hash: 'ab',
      error_code: null,
    });
  });

  it('seo joins lists and counts', async () => {
    const links = [
      { url: 'https://shop.test/a', text: '', rel: '', from: 'a' },
      { url: 'https://other.test/', text: '', rel: '', from: 'a' },
      { url: 'https://shop.test/c', text: '', rel: '', from: 'link' },
    ];
    const [row] = await rowsOf(seoTable(source(pageOf({ links }))));
    expect(row).toMatchObject({
      og_title: 'OG hat',
      og_image: 'https://shop.test/og.png',
      twitter_description: null,
      hreflang: 'de=https://shop.test/de|en=https://shop.test/en',
      images_alt_joined: 'front|again',
      images_without_alt: 1,
      internal_links: 1,
      external_links: 1,
      title_length: 7,
    });
  });

  it('records have a column for each field, of a type that fits all of them', async () => {
    const table = await recordsTable(
      source(
        pageOf({ extracted: { name: 'Hat', price: 1, url: 'https://shop.test/own' } }),
        pageOf({ extracted: null }),
        pageOf({ extracted: { name: 'Cap', price: 'free', offer: { seller: { name: 'Ann' } } } }),
      ),
    );
    expect(table.columns.slice(3)).toEqual([
      { name: 'name', type: 'string' },
      { name: 'price', type: 'string' },
      { name: 'url', type: 'string' },
      { name: 'offer.seller.name', type: 'string' },
    ]);
    expect((await rowsOf(table)).map(({ price, page_url: url }) => [price, url])).toEqual([
      ['1', PAGE.url],
      ['free', PAGE.url],
    ]);
  });

  it('extracted fields become cells by name', () => {
    const extracted = {
      name: 'Hat',
      offer: { price: 9.5, seller: { name: 'Ann, Bob' } },
      colors: ['red', 'blue'],
      isNew: false,
      sizes: [{ cm: 56 }],
      gone: null,
    };
    expect([...extractedCells(extracted)]).toEqual([
      ['name', 'Hat'],
      ['offer.price', 9.5],
      ['offer.seller.name', 'Ann, Bob'],
      ['colors', 'red; blue'],
      ['isNew', false],
      ['sizes', '[{"cm":56}]'],
      ['gone', null],
    ]);
  });
});
