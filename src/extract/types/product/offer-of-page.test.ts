import { describe, expect, it } from 'vitest';
import type { PageMetadata } from '../../../core/model/page.ts';
import { extractPage } from '../../scan/extract-page.ts';
import { NO_OFFER, offerOfPage } from './offer-of-page.ts';

/** As a crawl stores it. */
function metadataOf(text: string): PageMetadata | null {
  const given = { charset: 'utf-8', url: 'https://a.test/', contentType: 'text/html', linkHeader: null };
  return extractPage({ ...given, text, xRobotsTag: null, formats: ['metadata'] }).metadata;
}
const offerIn = (html: string, extracted?: Record<string, unknown>) =>
  offerOfPage({
    url: 'https://a.test/',
    fetchedAt: 0,
    metadata: metadataOf(html),
    ...(extracted === undefined ? {} : { extracted }),
  });
const jsonLd = (data: unknown) => `<script type="application/ld+json">${JSON.stringify(data)}</script>`;
const product = (price: unknown, more: object = {}) => ({
  '@context': 'https://schema.org',
  '@type': 'Product',
  name: 'Lamp',
  offers: { '@type': 'Offer', price, priceCurrency: 'EUR', ...more },
});

describe('the offer of a stored page', () => {
  it('is read from JSON-LD', () => {
    const html = jsonLd(product('19.90', { availability: 'https://schema.org/InStock' }));
    expect(offerIn(html)).toEqual({ price: 19.9, currency: 'EUR', availability: 'InStock' });
  });

  it('is read from microdata', () => {
    const html = `<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Lamp</b>
      <p itemprop=offers itemscope itemtype="https://schema.org/Offer"><b itemprop=price content="7.5">7,50</b>
      <meta itemprop=priceCurrency content=USD><link itemprop=availability href="https://schema.org/OutOfStock"></p></div>`;
    expect(offerIn(html)).toEqual({ price: 7.5, currency: 'USD', availability: 'OutOfStock' });
  });

  it('is read from Open Graph tags', () => {
    const html =
      '<meta property="product:price:amount" content="12.00"><meta property="product:price:currency" content="GBP">';
    expect(offerIn(html)).toMatchObject({ price: 12, currency: 'GBP' });
  });

  it('is that of the extracted fields where there are any', () => {
    expect(offerIn(jsonLd(product(1)), { price: 2, currency: 'CHF' })).toEqual({
      price: 2,
      currency: 'CHF',
      availability: null,
    });
  });

  it('is none for a list of products, and for pages that offer nothing', () => {
    expect(offerIn(jsonLd(Array.from({ length: 9 }, (_, at) => product(at + 1))))).toEqual(NO_OFFER);
    expect(offerIn('<h1>News</h1>')).toEqual(NO_OFFER);
    expect(offerIn(jsonLd({ '@type': 'Article', headline: 'x' }))).toEqual(NO_OFFER);
  });
});
