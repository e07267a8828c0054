import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStructured, viewOf } from '../../src/extract/structured/structured-view.ts';
import { buildTree } from '../../src/extract/tree/tree-builder.ts';
import {
  extractTyped,
  TYPE_NAMES,
  TYPES,
  type TypedResult,
  type TypeName,
} from '../../src/extract/types/extract-typed.ts';
import { type FieldKind, SOURCES } from '../../src/extract/types/field.ts';
import { typesPage } from './types-page.ts';

const PAGES = new URL('pages/', import.meta.url);
const pages = readdirSync(PAGES).map((file) => readFileSync(new URL(file, PAGES), 'utf8'));
const read = (html: string, type: TypeName | 'auto'): TypedResult =>
  extractTyped(
    { tree: buildTree(html), url: 'https://shop.example/p/1?v=2', fetchedAt: Date.UTC(2026, 10, 15) },
    type,
  );

const isText = (value: unknown): boolean =>
  typeof value === 'string' && value === value.trim() && value !== '';
const isPlain = (value: unknown): boolean => isText(value) && !/<\/?[a-z]+>/i.test(value as string);
const isList = (value: unknown, isEntry: (entry: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isEntry);
const isTable = (value: unknown, keys: readonly string[]): boolean =>
  value !== null && typeof value === 'object' && Object.keys(value).sort().join() === [...keys].sort().join();
const isUrl = (value: unknown): boolean =>
  isText(value) && URL.canParse(value as string) && /^https?:/.test(value as string);
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);

/** What a value of each kind looks like, said once more in other words. */
const LOOKS: Readonly<Record<FieldKind, (value: unknown) => boolean>> = {
  text: isPlain,
  body: isPlain,
  url: isUrl,
  urls: (value) => isList(value, isUrl),
  texts: (value) => isList(value, isPlain),
  number: isNumber,
  count: (value) => Number.isInteger(value) && (value as number) >= 0,
  price: (value) => isNumber(value) && (value as number) >= 0,
  currency: (value) => /^[A-Z]{3}$/.test(String(value)),
  date: (value) => /^-?\d{4,6}(?:-\d{2}(?:-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?)?)?$/.test(String(value)),
  minutes: isNumber,
  flag: (value) => typeof value === 'boolean',
  gtin: (value) => /^(?:\d{8}|\d{12,14})$/.test(String(value)),
  availability: (value) => /^[A-Z][A-Za-z]+$/.test(String(value)),
  email: (value) => /^[^\s@]+@[^\s@]+$/.test(String(value)),
  phone: (value) => /^\+?\d+$/.test(String(value)),
  place: (value) => isTable(value, ['city', 'region', 'country', 'raw']),
  salary: (value) => isTable(value, ['min', 'max', 'currency', 'per']),
  crumbs: (value) => isList(value, (crumb) => isTable(crumb, ['name', 'url'])),
  variants: (value) => isList(value, (one) => typeof one === 'object'),
  attributes: (value) => Object.values(value as object).every(isText),
  posts: (value) =>
    isList(value, (post) => isTable(post, ['author', 'publishedAt', 'text', 'votes', 'isAnswer'])),
  stations: (value) => isList(value, (one) => isTable(one, ['title', 'organization', 'startAt', 'endAt'])),
};

function expectSound(result: TypedResult): void {
  const { type, value, by, problems } = result;
  if (type === null) {
    expect(value).toBeNull();
    return;
  }
  const { fields } = TYPES[type as TypeName];
  expect(Object.keys(value ?? {})).toEqual(Object.keys(fields));
  for (const [name, field] of Object.entries(fields)) {
    const held = value?.[name];
    expect(held === null, `${name} has an origin exactly when it has a value`).toBe(by[name] === undefined);
    if (held === null) continue;
    expect(LOOKS[field.kind](held), `${type}.${name} is a ${field.kind}: ${JSON.stringify(held)}`).toBe(true);
    expect(SOURCES).toContain(by[name]?.source);
    expect(by[name]?.confidence).toBeGreaterThan(0);
    expect(by[name]?.confidence).toBeLessThan(1);
  }
  expect(JSON.parse(JSON.stringify(value)), 'it survives being stored').toEqual(value);
  expect(problems.length).toBeLessThanOrEqual(50);
}

/** Pieces that structured data, scripts and shop pages are made of, in no order that makes sense. */
const pieces = fc.constantFrom(
  ...'<div itemscope itemtype="https://schema.org/Product">|<i itemprop=name>|<b class=price>|<del>|€ 1.299,00|$5|</div>|</i>|<h1>|</h1>|<time datetime="2024-99-99">|<script type="application/ld+json">|</script>|{"@type":"Product","name":|"x"|,|:|}|[|]|"offers":{"price":"abc"|null|{"@id":"#a","b":{"@id":"#a"}}|<script>window.__STATE__=|{a:1,variants:[{price:-1}]|<nav class=breadcrumb>|<a href="javascript:x">|<a href="//[">|<meta property="og:type" content=product>|<meta property="product:price:amount" content="1e999">|<ul class=ingredients><li>|<div class=experience-item>|<template>|<footer>|<address>|mailto:|\u0000|\ud800|&#x0;|<p itemref="a a" id=a itemscope itemprop=a>|<div vocab=v typeof=T property=p resource="#x">'.split(
    '|',
  ),
);

describe('types', () => {
  it.each(TYPE_NAMES)(
    '%s: every field of a page that says nothing is null, and that is no problem',
    (name) => {
      const { value, by, problems } = read('<p>Hello.</p>', name);
      const known = new Set(['url', 'language', 'jobTitle', 'companyName', 'body', 'wordCount']);
      for (const [field, held] of Object.entries(value ?? {}))
        if (!known.has(field)) expect(held, field).toBeNull();
      expect(Object.keys(by).filter((field) => !known.has(field))).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it.each(TYPE_NAMES)('%s: any page read as it gives values of the right kinds', (name) => {
    for (const html of pages) expectSound(read(html, name));
  });

  it('hold for pages made of pieces', () => {
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 60 }),
        fc.constantFrom(...TYPE_NAMES, 'auto' as const),
        (parts, type) => {
          const html = parts.join('');
          expectSound(read(html, type));
          JSON.stringify(viewOf(readStructured(buildTree(html), 'https://a.example/')));
        },
      ),
      { numRuns: 600 },
    );
  });

  it('hold for pages with a piece cut out or doubled', () => {
    const mutated = fc
      .tuple(fc.constantFrom(...pages), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(300), fc.boolean())
      .map(([html, share, length, isDoubled]) => {
        const at = Math.floor(share * html.length);
        const piece = html.slice(at, at + length);
        return html.slice(0, at) + (isDoubled ? piece + piece : '') + html.slice(at + length);
      });
    fc.assert(
      fc.property(mutated, fc.constantFrom(...TYPE_NAMES, 'auto' as const), (html, type) =>
        expectSound(read(html, type)),
      ),
      { numRuns: 600 },
    );
  });
});

describe('docs/types.md', () => {
  it('lists every type and field; after a change: npx vitest run test/goldens -u', async () => {
    await expect(typesPage()).toMatchFileSnapshot(new URL('../../docs/types.md', import.meta.url).pathname);
  });
});
