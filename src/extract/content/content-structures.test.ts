import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { extractContent } from './extract-content.ts';

const textOf = (html: string, url = 'https://www.example.com/page') =>
  extractContent(buildTree(html), url).text;
const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join('');
const expectAll = (text: string, wanted: readonly string[]) =>
  expect(wanted.filter((part) => !text.includes(part))).toEqual([]);

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const HOURS = `<table><tr><th>Day</th><th>Hours</th></tr>${times(7, (day) => `<tr><td>${DAYS[day]}</td><td>${day + 6}:00 to ${day + 14}:30</td></tr>`)}</table>`;
const HOURS_PARTS = [
  'Opening hours',
  'Day',
  'Hours',
  ...DAYS,
  ...DAYS.map((_, day) => `${day + 6}:00 to ${day + 14}:30`),
];
const NAV =
  '<header><nav><ul><li><a href="/a">Products</a></li><li><a href="/b">Pricing</a></li><li><a href="/c">About us</a></li></ul></nav></header>';
const FOOTER =
  '<footer><ul><li><a href="/p">Privacy policy</a></li><li><a href="/t">Terms of use</a></li></ul><p>© 2025 Acme Inc. All rights reserved.</p></footer>';

describe('a structure of the page is in its content as a whole', () => {
  it('a table of opening hours, with its heading and header cells', () => {
    expectAll(textOf(`<main><h1>Opening hours</h1>${HOURS}</main>`), HOURS_PARTS);
  });

  it('the same table above a list of fifty equal items, with the list', () => {
    const list = `<ul>${times(50, (index) => `<li>Branch number ${index + 1} in the north</li>`)}</ul>`;
    const text = textOf(`<main><h1>Opening hours</h1>${HOURS}${list}</main>`);
    expectAll(text, [
      ...HOURS_PARTS,
      ...Array.from({ length: 50 }, (_, index) => `Branch number ${index + 1} in`),
    ]);
  });

  it.each([
    ['alone', (table: string) => `<body><h1>Prices of parts</h1>${table}</body>`],
    [
      'on a page with menu and footer',
      (table: string) =>
        `<title>Prices of parts | Acme</title><body>${NAV}<main><h1>Prices of parts</h1>${table}</main>${FOOTER}</body>`,
    ],
  ])('a table of thirty rows, with its header row, %s', (_where, page) => {
    const rows = times(
      30,
      (row) => `<tr><td>Part ${row + 100}</td><td>${row * 3} pieces</td><td>${row}.50 euros</td></tr>`,
    );
    const text = textOf(
      page(
        `<table><thead><tr><th>Name</th><th>Stock</th><th>Price each</th></tr></thead><tbody>${rows}</tbody></table>`,
      ),
    );
    expectAll(text, ['Prices of parts', 'Name', 'Stock', 'Price each']);
    expectAll(
      text,
      Array.from({ length: 30 }, (_, row) => `Part ${row + 100}\t${row * 3} pieces\t${row}.50 euros`),
    );
  });

  it('the plans of a price list, with every bullet of each', () => {
    const bullets = [
      'projects',
      'gigabytes of storage',
      'members of the team',
      'days of history',
      'hours until we answer',
    ];
    const plan = (index: number) =>
      `<div class="plan"><h2>${['Starter', 'Team', 'Company'][index]}</h2><p class="price">$${index * 20 + 9} a month</p><ul>${bullets
        .map((bullet, place) => `<li>${(index + 1) * 10 + place} ${bullet}</li>`)
        .join('')}<li>Export to CSV</li></ul><a class="button" href="/buy">Choose</a></div>`;
    const text = textOf(
      `<title>Pricing | Acme</title><body>${NAV}<main><h1>Pricing</h1><p>Choose the plan that fits your team; you can change it at any time.</p><div class="plans">${times(3, plan)}</div></main>${FOOTER}</body>`,
      'https://www.example.com/pricing',
    );
    for (const index of [0, 1, 2]) {
      expectAll(text, ['Starter', 'Team', 'Company', `$${index * 20 + 9} a month`]);
      expectAll(
        text,
        bullets.map((bullet, place) => `${(index + 1) * 10 + place} ${bullet}`),
      );
    }
    expect(text.split('Export to CSV')).toHaveLength(4);
    expect(text).not.toContain('Privacy policy');
  });

  it.each([
    [
      'a table',
      (rows: readonly (readonly string[])[]) =>
        `<table>${rows.map(([name, value]) => `<tr><th>${name}</th><td>${value}</td></tr>`).join('')}</table>`,
    ],
    [
      'a definition list',
      (rows: readonly (readonly string[])[]) =>
        `<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>`,
    ],
  ])('name, price and specification of a product, given as %s', (_kind, specification) => {
    const rows = [
      ['Width', '160 cm'],
      ['Depth', '80 cm'],
      ['Weight', '38 kg'],
      ['Material', 'Walnut, oiled'],
    ] as const;
    const text = textOf(
      `<title>Walnut desk | Acme</title><body>${NAV}<main><h1>Walnut desk</h1><p class="price">$499.00</p><button>Add to cart</button><p>A solid desk made of oiled walnut, with two drawers that run on wooden rails.</p><h2>Specification</h2>${specification(rows)}<section class="related"><h2>You may also like</h2><ul><li><a href="/1">Oak chair</a> $89.00</li><li><a href="/2">Pine shelf</a> $59.00</li></ul></section></main>${FOOTER}</body>`,
      'https://shop.example.com/products/walnut-desk',
    );
    expectAll(text, ['Walnut desk', '$499.00', 'A solid desk', 'Specification', ...rows.flat()]);
    for (const other of ['Add to cart', 'Oak chair', '$89.00', 'Privacy policy'])
      expect(text).not.toContain(other);
  });

  it('a nested list, with the items of all levels', () => {
    const inner = (outer: number) =>
      `<ul>${times(3, (index) => `<li>Tool ${outer}.${index} of the kit</li>`)}</ul>`;
    const text = textOf(
      `<main><h1>What is in the kit</h1><p>The kit holds all that you need for the first repair, sorted by the drawer it lies in.</p><ul>${times(4, (index) => `<li>Drawer ${index}${inner(index)}</li>`)}</ul></main>`,
    );
    for (const outer of [0, 1, 2, 3])
      expectAll(text, [`Drawer ${outer}`, ...[0, 1, 2].map((index) => `Tool ${outer}.${index} of`)]);
  });

  it('but a last item that only loads more is left out', () => {
    const items = times(6, (index) => `<li>Report number ${index} about the water in the river</li>`);
    const text = textOf(
      `<main><h1>Reports</h1><p>All reports of the office since it was founded, the latest one first.</p><ul>${items}<li><a href="?page=2">Load more</a></li></ul></main>`,
    );
    expectAll(
      text,
      Array.from({ length: 6 }, (_, index) => `Report number ${index} about`),
    );
    expect(text).not.toContain('Load more');
  });
});

/** A word that stands nowhere else, for each part. */
const mark = (index: number): string => `q${String(index).padStart(3, '0')}z`;
const words = fc.array(
  fc.constantFrom(
    'river',
    'the',
    'of',
    '12',
    'bridge',
    'free',
    'next',
    'price',
    '9:30',
    'more',
    'and',
    'Sunday',
  ),
  { maxLength: 8 },
);
const parts = fc.array(words, { minLength: 6, maxLength: 40 });
const shape = fc.constantFrom(
  'table',
  'headed table',
  'list',
  'links',
  'ordered list',
  'nested list',
  'terms',
);

function structureOf(kind: string, texts: readonly string[]): string {
  const cells = (tag: string, from: number) =>
    texts
      .slice(from, from + 2)
      .map((text) => `<${tag}>${text}</${tag}>`)
      .join('');
  const rows = texts.map((_, index) => index).filter((index) => index % 2 === 0);
  if (kind === 'table') return `<table>${rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('')}</table>`;
  if (kind === 'headed table')
    return `<table><caption>${texts[0]}</caption>${rows
      .slice(1)
      .map((row) => `<tr>${cells(row === 2 ? 'th' : 'td', row)}</tr>`)
      .join('')}</table>`;
  if (kind === 'terms')
    return `<dl>${rows.map((row) => `<dt>${texts[row]}</dt><dd>${texts[row + 1] ?? ''}</dd>`).join('')}</dl>`;
  if (kind === 'nested list')
    return `<ul>${rows.map((row) => `<li>${texts[row]}<ul><li>${texts[row + 1] ?? ''}</li></ul></li>`).join('')}</ul>`;
  const tag = kind === 'ordered list' ? 'ol' : 'ul';
  const item = (text: string) => (kind === 'links' ? `<a href="/${text.length}">${text}</a>` : text);
  return `<${tag}>${texts.map((text) => `<li>${item(text)}</li>`).join('')}</${tag}>`;
}

const PROSE =
  '<p>The river had been rising since the early morning, and by noon the old bridge, which had stood for two hundred years, was closed to all traffic.</p>';

describe('any table, list or definition list', () => {
  it('is in the content as a whole, or not at all', () => {
    fc.assert(
      fc.property(shape, parts, fc.nat({ max: 3 }), fc.boolean(), (kind, lists, paragraphs, hasMenu) => {
        const texts = lists.map((list, index) => [mark(index), ...list].join(' '));
        const prose = times(paragraphs, (index) => PROSE.replace('river', `river ${index}`));
        const html = `<title>The bridge</title><body>${hasMenu ? NAV : ''}<main><h1>The bridge</h1>${prose}${structureOf(kind, texts)}</main>${hasMenu ? FOOTER : ''}</body>`;
        const marks = texts.map((_, index) => mark(index)).filter((word) => html.includes(word));
        const text = textOf(html);
        expect([0, marks.length]).toContain(marks.filter((word) => text.includes(word)).length);
      }),
      { numRuns: 300 },
    );
  });
});
