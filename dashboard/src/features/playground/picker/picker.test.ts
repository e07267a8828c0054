import { expect, it } from 'vitest';
import { shallowPart } from './outline.ts';
import { likelyName, likelyType, ruleOf } from './rule-draft.ts';

const draft = { name: 'x', selector: '.price', take: 'text', type: 'string', isList: false };

it('a rule is as short as the grammar allows', () => {
  expect(ruleOf(draft)).toBe('.price');
  expect(ruleOf({ ...draft, take: 'data-value' })).toBe('.price@data-value');
  expect(ruleOf({ ...draft, type: 'price' })).toEqual({ css: '.price', type: 'price' });
  expect(ruleOf({ ...draft, take: 'href', isList: true })).toEqual({
    css: '.price',
    attribute: 'href',
    list: true,
  });
  expect(ruleOf({ ...draft, selector: '.a\\@b' })).toEqual({ css: '.a\\@b' });
});

it('a field gets a name that is not taken, and a type that fits its value', () => {
  expect(likelyName('main span[itemprop="price"]', ['price'])).toBe('price2');
  expect(likelyName('ul.reviews b.user-name', [])).toBe('userName');
  expect(likelyName('table tr:nth-of-type(2) td', [])).toBe('td');
  expect(['19,90 €', '$5', '42', 'A hat'].map((text) => likelyType('text', text))).toEqual([
    'price',
    'price',
    'number',
    'string',
  ]);
});

it('a page that nests thousands of elements is read up to where it becomes slow', () => {
  const deep = `<h1>Head</h1>${'<div>'.repeat(5_000)}`;
  expect(shallowPart(deep)).toHaveLength('<h1>Head</h1>'.length + 5 * 1_000);
  const flat = '<p>unclosed<br>'.repeat(5_000) + '<div><b>x</b></div>'.repeat(5_000);
  expect(shallowPart(flat)).toBe(flat);
});
