import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldWord, wordsOf } from '../../../core/model/search-words.ts';
import { parseSearch, SearchProblem } from '../../../core/ports/search-store.ts';
import { markedText, snippetOf } from './snippet.ts';

const marked = ({ text, marks }: { text: string; marks: readonly (readonly [number, number])[] }) =>
  marks.map(([start, end]) => text.slice(start, end));

describe('a snippet', () => {
  it('has the piece of the text where most of the words are, and marks them', () => {
    const filler = 'lorem ipsum dolor '.repeat(50);
    const text = `A pump. ${filler}The heat pump heats. ${filler}`;
    const snippet = snippetOf(text, parseSearch('heat pump'));
    expect(snippet.text.length).toBeLessThan(300);
    expect(snippet.text).toMatch(/^… .*The heat pump heats\..* …$/);
    expect(marked(snippet)).toEqual(['heat', 'pump']);
  });

  it('marks phrases as one, beginnings as whole words, and nothing that was excluded', () => {
    expect(marked(markedText('Heat pumps and a heat  pump', parseSearch('"heat pump" -and')))).toEqual([
      'heat  pump',
    ]);
    expect(marked(markedText('Heat pumps', parseSearch('pum*')))).toEqual(['pumps']);
    expect(marked(markedText('Größe und groesse', parseSearch('grosse')))).toEqual(['Größe']);
    expect(marked(markedText('東京都の天気', parseSearch('京都')))).toEqual(['京都']);
  });

  it('begins with the text where nothing was found in it', () => {
    expect(snippetOf('Only these words', parseSearch('other'))).toEqual({
      text: 'Only these words',
      marks: [],
    });
    expect(snippetOf('', parseSearch('other'))).toEqual({ text: '', marks: [] });
  });

  it('has marks within its text, in order and apart, for any text', () => {
    const text = fc.array(fc.constantFrom('heat', 'pump', 'é', '東京', '😀', ' ', '<b>', '\u0301'), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(text, fc.constantFrom('heat', '"heat pump"', 'pu*', '東京', 'e'), (pieces, q) => {
        const snippet = snippetOf(pieces.join(''), parseSearch(q));
        let last = -1;
        for (const [start, end] of snippet.marks) {
          expect(start).toBeGreaterThan(last);
          expect(end).toBeGreaterThan(start);
          expect(end).toBeLessThanOrEqual(snippet.text.length);
          last = end;
        }
        expect(snippet.text.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('words', () => {
  it.each([
    ['Hello, World-2', ['hello', 'world', '2']],
    ["don't e-mail", ['don', 't', 'e', 'mail']],
    ['Ｆｕｌｌ ﬁne', ['full', 'fine']],
    ['ΣΊΣΥΦΟΣ ёлка', ['σισυφοσ', 'елка']],
    ['हिन्दी', ['हिन्दी']],
    ['שָׁלוֹם', ['שלום']],
    ['東京abc', ['東京', '京', 'abc']],
    ['한국', ['한국', '국']],
    ['½ ²', ['12', '2']],
    ['\u0301 😀 --', []],
  ])('of %s', (text, words) => {
    expect([...wordsOf(text)].map(({ word }) => word)).toEqual(words);
  });

  it('have only letters, digits and marks, and stand where they say, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        for (const { word, start, end } of wordsOf(text)) {
          expect(word).toMatch(/^[\p{L}\p{N}\p{M}]+$/u);
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(text.length);
        }
      }),
    );
  });

  it('are cut when they are long', () => {
    expect([...wordsOf('x'.repeat(1_000))].map(({ word }) => word.length)).toEqual([64]);
    expect(foldWord('ÀÉ')).toBe('ae');
  });
});

it.each(['', '   ', '-a', '""', '***', '-"a b"', 'OR'])('%j has nothing to search for', (q) => {
  expect(() => parseSearch(q)).toThrow(SearchProblem);
});
