import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import type { JobId } from '../core/model/ids.ts';

const url = 'https://site.example/page';
const PAGE = `<!doctype html><html lang="en"><head><title>Ferry</title></head><body>
<nav><a href="/">Start</a> <a href="/prices">Prices</a></nav>
<main><h1>Ferry</h1><p>${'The ferry leaves at noon and returns in the evening. '.repeat(8)}</p><p class="note">Dogs travel free.</p></main>
<footer>Harbour office, pier 3</footer></body></html>`;

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(() => ({ ...DONE, body: PAGE }));
});
afterAll(() => platform.close());

const post = (path: string, payload: unknown) =>
  platform.call({ method: 'POST', url: path, payload: payload as object });
const extract = async (payload: object) => {
  const answer = await post('/v1/extract', { html: PAGE, url, formats: ['text', 'html'], ...payload });
  expect(answer.statusCode).toBe(200);
  return answer.at('data') as Readonly<Record<string, unknown>>;
};

describe('parts of a page', () => {
  it('are the whole page, some elements, or all but some', async () => {
    const main = await extract({});
    expect(main.text).not.toContain('Harbour');
    const whole = await extract({ onlyMainContent: false });
    expect(whole.text).toMatch(/Prices[\s\S]*returns in the evening[\s\S]*Harbour office, pier 3/);
    const some = await extract({ includeTags: ['.note', 'footer'] });
    expect(some).toMatchObject({
      text: 'Dogs travel free.\n\nHarbour office, pier 3',
      html: '<p class="note">Dogs travel free.</p><footer>Harbour office, pier 3</footer>',
    });
    const rest = await extract({ onlyMainContent: false, excludeTags: ['main', 'nav'] });
    expect(rest.text).toBe('Harbour office, pier 3');
    expect(rest.html).not.toContain('Dogs');
  });

  it.each(['/v1/scrape', '/v1/extract'])(
    'with a wrong selector are refused by %s with its place',
    async (path) => {
      const request = path === '/v1/scrape' ? { url } : { html: PAGE, url };
      const answer = await post(path, { ...request, includeTags: ['main', 'p > ['] });
      expect(answer.statusCode).toBe(422);
      expect(answer.payload).toMatch(/includeTags.*column 6/s);
    },
  );

  it('are read again from stored pages', async () => {
    const batch = await post('/v1/batch', { urls: [url], options: { formats: ['metadata'] } });
    const id = batch.at('data.id') as JobId;
    await platform.jobs.waitFor(id, 60_000);
    const answer = await post(`/v1/jobs/${id}/reextract`, { formats: ['text'], includeTags: ['footer'] });
    expect(JSON.parse(answer.payload)).toMatchObject({ text: 'Harbour office, pier 3' });
  });
});

const FEED = `<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>News &amp; views</title><link>https://site.example/</link>
<item><title>One</title><link>https://site.example/1</link><dc:creator>Ann</dc:creator></item>
<item><title>Two</title><link>https://site.example/2</link></item></channel></rss>`;

describe('a feed', () => {
  const read = (payload: object) =>
    extract({ html: FEED, contentType: 'application/rss+xml', formats: ['links'], ...payload });

  it('has a title and the links of its items', async () => {
    const { title, links } = await read({});
    expect(title).toBe('News & views');
    expect((links as { url: string }[]).map((link) => link.url)).toEqual([
      'https://site.example/1',
      'https://site.example/2',
      'https://site.example/',
    ]);
  });

  it('is searched by CSS and XPath, names with and without their prefix', async () => {
    const rules = {
      items: {
        css: 'channel > item',
        list: true,
        fields: {
          title: 'title',
          url: { css: 'link', type: 'url' },
          author: 'dc|creator',
          name: 'xpath:creator',
        },
      },
      count: 'xpath:count(//item)',
    };
    const { extracted } = await read({ extract: { rules } });
    expect(extracted).toEqual({
      items: [
        { title: 'One', url: 'https://site.example/1', author: 'Ann', name: 'Ann' },
        { title: 'Two', url: 'https://site.example/2', author: null, name: null },
      ],
      count: 2,
    });
  });
});

describe('the probability of a type', () => {
  const CONTACT = `<title>Contact</title><h1>Contact</h1><p>Write to us: <a href="mailto:hello@site.example">hello@site.example</a>.</p>`;

  it('is low where a page is read as a type that it is not, and auto then finds none', async () => {
    const asked = await extract({ html: CONTACT, extract: { type: 'product' } });
    expect(asked).toMatchObject({ extractedType: 'product', extractedProbability: 0 });
    const auto = await extract({ html: CONTACT, extract: { type: 'auto' } });
    expect(auto).toMatchObject({ extractedType: null, extracted: null, extractedProbability: 0 });
  });

  it('is high where the page says what it is', async () => {
    const data = { '@type': 'Product', name: 'Hat', offers: { price: '5', priceCurrency: 'EUR' } };
    const html = `<script type="application/ld+json">${JSON.stringify(data)}</script><h1>Hat</h1>`;
    const { extractedType, extractedProbability } = await extract({ html, extract: { type: 'auto' } });
    expect(extractedType).toBe('product');
    expect(extractedProbability).toBeGreaterThan(0.9);
  });
});
