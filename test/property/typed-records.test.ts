import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { treeOf } from '../../src/extract/tree/tree-builder.ts';
import { extractTyped, TYPE_NAMES, TYPES, type TypedResult } from '../../src/extract/types/extract-typed.ts';

/** Records as a scrape with `extract: {type}` reads them: from the markup of a page to the normalized value. */
const FETCHED_AT = Date.UTC(2026, 8, 1, 12);
const URL_OF_PAGE = 'https://shop.example/hat';

const pageOf = (data: unknown): string =>
  `<!doctype html><html><head><script type="application/ld+json">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script></head><body></body></html>`;

const readProduct = (data: Readonly<Record<string, unknown>>): TypedResult =>
  extractTyped(
    {
      tree: treeOf(pageOf({ '@context': 'https://schema.org', '@type': 'Product', ...data })),
      url: URL_OF_PAGE,
      fetchedAt: FETCHED_AT,
    },
    'product',
  );

/** By field: what the page states, and what cannot be read in its place. */
const STATED = {
  name: { good: { name: ' <b>Tom</b> &amp; Jerry ' }, bad: null },
  gtin: { good: { gtin13: '4006381333931' }, bad: { gtin13: '1' } },
  mpn: { good: { mpn: 'M-1' }, bad: null },
  brand: { good: { brand: { name: 'Acme' } }, bad: null },
  images: { good: { image: ['/a.png'] }, bad: { image: ['javascript:1'] } },
  description: { good: { description: 'A hat.' }, bad: null },
  price: { good: { price: '19.90' }, bad: { price: 'on request' } },
  currency: { good: { priceCurrency: 'EUR' }, bad: null },
  availability: { good: { availability: 'https://schema.org/InStock' }, bad: null },
} as const satisfies Readonly<Record<string, { good: object; bad: object | null }>>;
type StatedField = keyof typeof STATED;

const FIELDS = Object.keys(STATED) as StatedField[];
const OF_OFFER: ReadonlySet<StatedField> = new Set(['price', 'currency', 'availability']);
const BREAKABLE = FIELDS.filter((field) => STATED[field].bad !== null);

function dataWith(parts: ReadonlyMap<StatedField, object>): Readonly<Record<string, unknown>> {
  const merged = (isOffer: boolean): object =>
    Object.assign(
      {},
      ...[...parts].filter(([field]) => OF_OFFER.has(field) === isOffer).map(([, part]) => part),
    );
  return { ...merged(false), offers: { '@type': 'Offer', ...merged(true) } };
}

const stated = (fields: readonly StatedField[], broken: readonly StatedField[] = []) =>
  dataWith(
    new Map(
      fields.map((field) => {
        const { good, bad } = STATED[field];
        return [field, broken.includes(field) && bad !== null ? bad : good];
      }),
    ),
  );

const whole = readProduct(stated(FIELDS)).value;

describe('property 13: a field that the page does not state', () => {
  it('is null, which is no problem, and changes no other field', () => {
    fc.assert(
      fc.property(fc.subarray(FIELDS), (some) => {
        // Data without a name is of no product.
        const present: readonly StatedField[] = ['name', ...some];
        const { value, problems } = readProduct(stated(present));
        expect(problems).toEqual([]);
        for (const field of FIELDS) {
          expect(value?.[field], field).toEqual(present.includes(field) ? whole?.[field] : null);
        }
      }),
    );
  });
});

const anyValue = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('<p>x', '&lt;b&gt;', '12', '2026-01-01', 'https://a.example/', '  ', '€ 5'),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
);
const PROPERTIES = [
  ...[
    'name',
    'headline',
    'title',
    'description',
    'gtin13',
    'brand',
    'image',
    'offers',
    'url',
    'datePublished',
  ],
  ...['author', 'startDate', 'location', 'hiringOrganization', 'baseSalary', 'recipeIngredient', 'prepTime'],
  ...['itemListElement', 'telephone', 'address', 'sameAs', 'text', 'comment', 'worksFor'],
];
const SCHEMA_TYPES = [
  ...['Product', 'JobPosting', 'Recipe', 'Event', 'DiscussionForumPosting', 'Person', 'Article'],
  ...['Organization', 'BreadcrumbList'],
];

describe('properties 31 and 35: a typed record, whatever the page states', () => {
  it.each(TYPE_NAMES)(
    'of %s has every field of the type and no other, plain texts, and survives JSON',
    (type) => {
      fc.assert(
        fc.property(
          fc.constantFrom(...SCHEMA_TYPES),
          fc.dictionary(fc.constantFrom(...PROPERTIES), anyValue, { maxKeys: 8 }),
          (schemaType, data) => {
            const tree = treeOf(pageOf({ '@context': 'https://schema.org', '@type': schemaType, ...data }));
            const { value, by } = extractTyped({ tree, url: URL_OF_PAGE, fetchedAt: FETCHED_AT }, type);
            const { fields } = TYPES[type];
            expect(Object.keys(value ?? {})).toEqual(Object.keys(fields));
            expect(JSON.parse(JSON.stringify(value))).toEqual(value);
            for (const [name, { kind }] of Object.entries(fields)) {
              const found = value?.[name] ?? null;
              expect(Object.hasOwn(by, name), name).toBe(found !== null);
              if (kind !== 'text' || found === null) continue;
              expect(found).toBe(String(found).trim());
              expect(found).not.toMatch(/<\/?[a-z][^<>]*>/i);
            }
          },
        ),
        { numRuns: 150 },
      );
    },
  );
});

describe('property 32: values that cannot be read', () => {
  it('are named as problems, and all other fields are as they would be', () => {
    fc.assert(
      fc.property(fc.subarray(BREAKABLE), (broken) => {
        const { value, problems } = readProduct(stated(FIELDS, broken));
        expect([...new Set(problems.map(({ field }) => field))].sort()).toEqual(broken.toSorted());
        for (const field of FIELDS) {
          expect(value?.[field], field).toEqual(broken.includes(field) ? null : whole?.[field]);
        }
      }),
    );
  });
});
