import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PageWords } from './keep-fitting.ts';

const page = new PageWords(
  '# **ACME** “Pro” Kettle\nPreis: 1.299,50 € (was ₹1,23,456.00)\n电热水壶价格便宜。 Call 030 123-45. 2019, 2020. Ｆｕｌｌ width. 0,5 l',
);

describe('a text stands on a page', () => {
  it.each([
    ['Acme "Pro" kettle', true],
    ['acme pro', true],
    ['kettle preis', true],
    ['cme Pro', false],
    ['Pro Kett', false],
    ['价格', true],
    ['电热水壶', true],
    ['贵', false],
    ['full width', true],
    ['—', false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(page.hasText(text)).toBe(expected);
  });

  it('whenever it was put there', () => {
    const word = fc.stringMatching(/^[\p{Ll}\d]{1,10}$/u);
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }),
        fc.array(word),
        fc.array(word),
        (words, before, after) => {
          const text = [...before, ...words, ...after].join(' ');
          expect(new PageWords(text).hasText(words.join(', '))).toBe(true);
        },
      ),
    );
  });
});

describe('a number stands on a page', () => {
  it.each<[string, number[]]>([
    ["CHF 1'234.–", [1234]],
    ['12 345,67', [12345.67]],
    ['1.299', [1299, 1.299]],
    ['12.03.2019', [12, 3, 2019]],
    ['v1.2.3 and 2019,2020', [1, 2, 3, 2019.202]],
    ['10,000,000', [10_000_000]],
    ['Hall 12 300 people', [12, 300, 12_300]],
  ])('%j has %j', (text, numbers) => {
    const words = new PageWords(text);
    expect(numbers.filter((number) => !words.hasNumber(number))).toEqual([]);
  });

  it.each([
    [1299.5, true],
    [-1299.5, true],
    [123456, true],
    [2019, true],
    [0.5, true],
    [1299, false],
    [12995, false],
    [129950, false],
    [50, false],
    [1300, false],
    [1299.5, true],
    [7, false],
  ])('%d: %s', (number, expected) => {
    expect(page.hasNumber(number)).toBe(expected);
  });
});
