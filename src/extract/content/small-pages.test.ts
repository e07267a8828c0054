import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { extractContent } from './extract-content.ts';
import { SMALL_BODIES } from './small-pages.fixture.ts';

const page = (body: string) => `<!doctype html><html lang="en"><head><title>Corner Bakery</title></head><body>
<header><a href="/">Corner Bakery</a><nav><ul><li><a href="/">Home</a></li><li><a href="/menu">Menu</a></li>
<li><a href="/about">About us</a></li><li><a href="/contact">Contact</a></li></ul></nav></header>
${body}
<footer><p>© 2026 Corner Bakery. All rights reserved.</p><ul><li><a href="/imprint">Imprint</a></li></ul></footer></body></html>`;

const textOf = (html: string) =>
  extractContent(buildTree(html), 'https://bakery.example/page').text.replace(/\s+/g, ' ');

describe('the content of a page of a few lines', () => {
  it.each(SMALL_BODIES)('is whole: %s', (_name, body, texts) => {
    const text = textOf(page(body));
    expect(texts.filter((each) => !text.includes(each))).toEqual([]);
    expect(text).not.toMatch(/All rights reserved|Imprint|About us/);
  });

  it('is whole on a page without any other part', () => {
    const html =
      '<!doctype html><title>Page</title><h1>Prices</h1><ul><li>Haircut £20</li><li>Shave £15</li></ul>';
    expect(textOf(html)).toBe('Prices - Haircut £20 - Shave £15');
  });

  it('has no related links, buttons, forms and notes of the template', () => {
    const text = textOf(
      page(`<main><nav><a href="/">Home</a> › <a href="/p">Prices</a></nav><h1>Prices</h1><ul><li>Bread £3</li>
<li>Rolls £1</li></ul><button>Add to cart</button><form><label>Your name</label></form><noscript>Please enable JavaScript.</noscript>
<aside><h3>Related</h3><ul><li><a href="/x">Our flour story</a></li></ul></aside></main>`),
    );
    expect(text).toBe('Prices - Bread £3 - Rolls £1');
  });
});
