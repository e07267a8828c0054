import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { type ContentEvidence, gatherEvidence } from '../features/evidence.ts';
import { chooseBlocks, repeatsOf } from './choose-blocks.ts';
import { findStructures } from './structures.ts';
import { completeRows, completeStructures, groupTexts } from './whole-structures.ts';

const evidenceOf = (html: string): ContentEvidence =>
  gatherEvidence(buildTree(html), 'https://example.com/').evidence;

/** The blocks of each text that has several. */
function blocksOfTexts(evidence: ContentEvidence): string[][] {
  const { textOf } = groupTexts(evidence, findStructures(evidence), repeatsOf(evidence.blocks));
  const texts = new Map<number, string[]>();
  for (const [index, { text }] of evidence.blocks.entries()) {
    const number = textOf[index] as number;
    texts.set(number, [...(texts.get(number) ?? []), text]);
  }
  return [...texts.values()].filter((list) => list.length > 1);
}

const SENTENCE = 'The river had been rising since the early morning, and by noon the bridge was closed.';

describe('blocks that are one text', () => {
  it('are the cells and the caption of a table, the items of a list with all levels, terms with their definitions', () => {
    expect(
      blocksOfTexts(
        evidenceOf(
          '<table><caption>c</caption><tr><th>a<th>b<tr><td>1<td>2</table><ul><li>d<ul><li>e</ul><li>f</ul><dl><dt>g<dd>h</dl><p>i',
        ),
      ),
    ).toEqual([
      ['c', 'a', 'b', '1', '2'],
      ['d', 'e', 'f'],
      ['g', 'h'],
    ]);
  });

  it('are not the columns of a layout', () => {
    const body = `<h1>Flood</h1><p>${SENTENCE}</p>`;
    expect(blocksOfTexts(evidenceOf(`<table><tr><td>Home<td>About<tr><td>Menu<td>${body}</table>`))).toEqual(
      [],
    );
    expect(
      blocksOfTexts(evidenceOf('<table role="presentation"><tr><td>a<td>b<tr><td>c<td>d</table>')),
    ).toEqual([]);
  });

  it('leave out a part that is not shown, a button, and a last link that only does something', () => {
    expect(
      blocksOfTexts(
        evidenceOf(
          '<ul><li>a</li><li>b</li><li hidden>c</li><li><button>d</button></li><li><a href="/2">Show more</a></li></ul>',
        ),
      ),
    ).toEqual([['a', 'b']]);
  });

  it('are chosen or dropped together, by the mean of their scores', () => {
    const { blocks } = evidenceOf('<p>one</p><p>two</p><p>three</p><p>four</p>');
    const choose = (...chances: number[]) =>
      [...chooseBlocks(blocks, Float64Array.from(chances), new Uint8Array(4), [0, 1, 1, 2])].join('');
    expect(choose(0.9, 0.9, 0.3, 0.01)).toBe('1110');
    expect(choose(0.9, 0.3, 0.05, 0.01)).toBe('1000');
  });

  it('that are mostly repeats are dropped', () => {
    const item = (end: string) => `<li>${SENTENCE} ${end}</li>`;
    const evidence = evidenceOf(
      `<ul>${item('a')}${item('b')}</ul><p>x</p><ul>${item('a')}${item('b')}<li>new</li></ul>`,
    );
    const repeats = repeatsOf(evidence.blocks);
    const { textOf } = groupTexts(evidence, findStructures(evidence), repeats);
    expect(chooseBlocks(evidence.blocks, new Float64Array(6).fill(0.9), repeats, textOf).join('')).toBe(
      '111000',
    );
  });
});

describe('siblings of equal shape', () => {
  const complete = (html: string, kept: readonly number[]): string => {
    const evidence = evidenceOf(html);
    const repeats = repeatsOf(evidence.blocks);
    const isKept = Uint8Array.from(evidence.blocks, (_, index) => (kept.includes(index) ? 1 : 0));
    completeRows(evidence, groupTexts(evidence, findStructures(evidence), repeats), isKept);
    return isKept.join('');
  };
  const card = (name: string) =>
    `<div class="card"><h3>${name}</h3><p>about ${name}</p><ul><li>${name} one</li><li>${name} two</li></ul></div>`;
  const cards = ['a', 'b', 'c'].map(card).join('');

  it('keep of all what most of them keep, lists as a whole', () => {
    expect(complete(cards, [0, 2, 3, 4, 6, 7])).toBe('101110111011');
    expect(complete(cards, [0])).toBe('100000000000');
  });

  it('are not those that only share a name', () => {
    const sections = ['<h2>a</h2>', '<p>b</p>', '<blockquote>c</blockquote>', '<p>d</p>'];
    const rows = sections.map((inner) => `<div class="row">${inner}</div>`).join('');
    expect(complete(rows, [0, 1, 2])).toBe('1110');
  });

  it('are not clones of each other', () => {
    const slide = (name: string) => `<div class="slide"><p>${SENTENCE} ${name}</p></div>`;
    const slides = ['a', 'b', 'c', 'a', 'b', 'c'].map(slide).join('');
    expect(complete(slides, [0, 1, 2])).toBe('111000');
  });
});

describe('a list of texts', () => {
  const post = (name: string) => `<li><h3>${name}</h3><p>${SENTENCE} ${name}</p><span>now</span></li>`;
  const complete = (kept: readonly number[]): string => {
    const evidence = evidenceOf(`<ol>${['a', 'b', 'c', 'd'].map(post).join('')}</ol><p>${SENTENCE}</p>`);
    const isKept = Uint8Array.from(evidence.blocks, (_, index) => (kept.includes(index) ? 1 : 0));
    completeStructures(evidence, findStructures(evidence), new Uint8Array(isKept.length), isKept);
    return isKept.join('');
  };

  it('of which most items are kept keeps the same of the others', () => {
    expect(complete([0, 1, 3, 4, 6, 7, 12])).toBe('1101101101101');
  });

  it('of which few items are kept keeps none, unless much of the content is in them', () => {
    expect(complete([0, 12])).toBe('0000000000001');
    expect(complete([1])).toBe('0100100100100');
  });
});
