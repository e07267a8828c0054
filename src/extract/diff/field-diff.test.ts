import { describe, expect, it } from 'vitest';
import { diffFields } from './json-diff.ts';

describe('a diff of fields', () => {
  it('takes digits in another order for a change, with the difference', () => {
    expect(diffFields({ price: 19 }, { price: 91 })).toEqual([
      {
        field: 'price',
        kind: 'changed',
        type: 'number',
        before: 19,
        after: 91,
        difference: 72,
        share: 72 / 91,
      },
    ]);
    expect(diffFields({ sku: '19' }, { sku: '91' })).toMatchObject([
      { field: 'sku', before: '19', after: '91' },
    ]);
  });

  it('does not count white space, and takes an empty text for no value', () => {
    expect(diffFields({ title: ' A  lamp ', note: '' }, { title: 'A lamp', note: null })).toEqual([]);
  });

  it('tells a number from its text', () => {
    expect(diffFields({ sku: 19 }, { sku: '19' })).toMatchObject([{ kind: 'changed', type: 'text' }]);
  });

  it('has the known fields first, the others by name', () => {
    const names = diffFields({ b: 1, a: 1, title: 'x' }, { availability: 'InStock', price: 2 }).map(
      ({ field }) => field,
    );
    expect(names).toEqual(['title', 'price', 'availability', 'a', 'b']);
  });

  it('says what came and what went', () => {
    expect(diffFields({ price: 1 }, { brand: 'B' })).toMatchObject([
      { field: 'price', kind: 'removed', type: 'number', after: null },
      { field: 'brand', kind: 'added', type: 'text', before: null },
    ]);
  });

  it('counts the order of lists, and has a patch for them', () => {
    expect(diffFields({ images: ['a', 'b'] }, { images: ['b', 'a'] })).toMatchObject([
      { type: 'list', patch: [{ path: '/0' }, { path: '/1' }] },
    ]);
  });

  it('looks at nothing but the names given', () => {
    expect(diffFields({ a: 1, b: 1 }, { a: 2, b: 2 }, ['b'])).toMatchObject([{ field: 'b' }]);
  });

  it('does not take inherited properties for values', () => {
    expect(diffFields({}, JSON.parse('{"constructor": null}') as Record<string, unknown>)).toEqual([]);
  });
});
