import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { extractContent } from './extract-content.ts';

const ROLES = [
  'Backend engineer (Go)',
  'Frontend engineer',
  'Data analyst',
  'Product designer',
  'Office manager',
  'Site reliability engineer',
  'Account executive',
];
const NAV =
  '<header><nav><a href="/">Home</a><a href="/about">About us</a><a href="/contact">Contact</a></nav></header>';
const FOOTER = '<footer><a href="/privacy">Privacy policy</a> <a href="/terms">Terms of use</a></footer>';
const H1 = '<h1>Open positions</h1>';
const SENTENCE =
  '<p>We are hiring in Berlin and Lisbon. Have a look at all the positions that are open today.</p>';

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('');
const link = (index: number) => `<a href="/j/${index}">${ROLES[index % ROLES.length]}</a>`;
const list = (count: number) => `<ul>${times(count, (index) => `<li>${link(index)}</li>`)}</ul>`;
const page = (body: string, title = 'Open positions | Acme') =>
  `<html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;
const contentOf = (html: string) => extractContent(buildTree(html), 'http://127.0.0.1:9000/listing');

/** A body, the number of its links, and whether it has a heading. */
const LISTINGS: readonly (readonly [string, string, number, boolean])[] = [
  ['20 items in main', `${NAV}<main>${H1}${list(20)}</main>${FOOTER}`, 20, true],
  ['60 items in main', `${NAV}<main>${H1}${list(60)}</main>${FOOTER}`, 60, true],
  ['20 items without main', `${NAV}${H1}${list(20)}${FOOTER}`, 20, true],
  ['60 items without main', `${NAV}${H1}${list(60)}${FOOTER}`, 60, true],
  ['20 items in main alone', `<main>${H1}${list(20)}</main>`, 20, true],
  ['20 items, and no other part', `${H1}${list(20)}`, 20, true],
  ['60 items, and no other part', `${H1}${list(60)}`, 60, true],
  ['20 items without a heading', `${NAV}<main>${list(20)}</main>${FOOTER}`, 20, false],
  ['a sentence above 40 items', `${NAV}<main>${H1}${SENTENCE}${list(40)}</main>${FOOTER}`, 40, true],
  ['a sentence above 40 items, without main', `${NAV}${H1}${SENTENCE}${list(40)}${FOOTER}`, 40, true],
  [
    '60 items that are bare elements',
    `<main>${H1}${times(60, (i) => `<div>${link(i)}</div>`)}</main>`,
    60,
    true,
  ],
  [
    'three sections of 12 items',
    `${NAV}<main>${H1}${times(3, (i) => `<section><h2>Team ${i}</h2>${list(12)}</section>`)}</main>${FOOTER}`,
    36,
    true,
  ],
];

describe('the content of a page that lists links', () => {
  it.each(LISTINGS)('has every link and the heading, and no menu: %s', (_name, body, links, hasHeading) => {
    const { markdown, html, text } = contentOf(page(body));
    expect(markdown.split('](http://127.0.0.1:9000/j/')).toHaveLength(links + 1);
    expect(html.split('/j/')).toHaveLength(links + 1);
    expect(/^# Open positions$/m.test(markdown)).toBe(hasHeading);
    expect(text).not.toMatch(/About us|Privacy policy/);
  });

  it('has no related links beside the list', () => {
    const related = `<aside><h3>Related</h3><ul>${times(8, (index) => `<li><a href="/r/${index}">Story ${index}</a></li>`)}</ul></aside>`;
    const { markdown } = contentOf(page(`${NAV}<main>${H1}${list(20)}${related}</main>${FOOTER}`));
    expect(markdown.split('/j/')).toHaveLength(21);
    expect(markdown).not.toMatch(/Related|Story/);
  });

  it('is an article alone where links of other articles follow in its main part', () => {
    const prose = times(
      6,
      (index) =>
        `<p>Paragraph ${index} of the post says a number of things, gives reasons for them, and ends after a while.</p>`,
    );
    const more = times(8, (index) => `<li><a href="/p/${index}">Another story, number ${index}</a></li>`);
    const { text } = contentOf(
      page(
        `${NAV}<main><h1>The flood</h1>${prose}<div class="related"><h2>More</h2><ul>${more}</ul></div></main>${FOOTER}`,
      ),
    );
    expect(text).toContain('Paragraph 5');
    expect(text).not.toContain('Another story');
  });
});

describe('the content of a page whose main region shows a text', () => {
  /** A word that no language has, by its number. */
  const word = (seed: number) =>
    Array.from({ length: 3 }, (_, at) =>
      'zolqubvextramkin'.slice(((seed * 7 + at * 5) % 7) * 2).slice(0, 2),
    ).join('');
  const words = (seed: number, count: number) =>
    Array.from({ length: count }, (_, index) => word(seed * 31 + index * index)).join(' ');

  it.each([
    ['in main', (body: string) => `${NAV}<main>${body}</main>${FOOTER}`],
    ['without main', (body: string) => `${NAV}<div class="p">${body}</div>${FOOTER}`],
  ])('is never empty, whatever the words of a product are: %s', (_where, around) => {
    for (let seed = 1; seed <= 40; seed++) {
      const name = `${word(seed)} ${word(seed + 3)}`;
      const body = `<h1>${name}</h1><p class="price">${seed}.00 €</p><p>${words(seed, (seed * 7) % 120)}</p>`;
      expect(contentOf(page(around(body), name)).text).toContain(name);
    }
  });

  it('is a product with a short text', () => {
    const body = '<h1>Blue mug</h1><p>Florp.</p><p>€12</p><button>Add to cart</button>';
    const { text } = contentOf(page(`${NAV}<main>${body}</main>${FOOTER}`, 'Blue mug'));
    expect(text).toBe('Blue mug\n\nFlorp.\n\n€12');
  });

  it('is what stands in a form where there is nothing else', () => {
    const fields = times(8, (index) => `<p>Field number ${index} of a long form to be filled in</p>`);
    expect(contentOf(page(`${NAV}<main><form>${fields}</form></main>${FOOTER}`)).text).toContain('number 7');
  });

  it('stays empty where a script would fill the main part', () => {
    const shell = `${NAV}<main id="root"></main><div class="cart">Cart (0) Loading</div>${times(20, (index) => `<nav><a href="/${index}">Department ${index} of the shop</a></nav>`)}${FOOTER}`;
    expect(contentOf(page(shell)).text).toBe('');
  });
});
