import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { packTokens, readTokens } from '../model/model.ts';
import { tokenScores, visitTokens } from './block-tokens.ts';
import { type ContentEvidence, gatherEvidence } from './evidence.ts';

function evidenceOf(html: string): ContentEvidence {
  return gatherEvidence(buildTree(html), 'https://example.com/').evidence;
}

const PAGE =
  '<body class="site"><div class="pageFooter"><section><div><p id="note">Cookie cookie policy</p></div></section></div>' +
  '<h2>Related Stories</h2><p>One</p></body>';

function tokensOf(html: string): string[][] {
  const found: string[][] = [];
  visitTokens(evidenceOf(html), (block, source, token) => {
    found[block] ??= [];
    found[block].push(`${source}:${token}`);
  });
  return found;
}

describe('tokens of blocks', () => {
  it('are words once each, names close by, names further up; not those of the whole page', () => {
    expect(tokensOf(PAGE)[0]).toEqual([
      '0:cookie',
      '0:policy',
      '2:<p',
      '2:note',
      '2:<div',
      '2:<section',
      '3:<div',
      '3:page',
      '3:footer',
    ]);
  });

  it('are also the words of the heading above, but not of a heading above itself', () => {
    const [, heading, paragraph] = tokensOf(PAGE);
    expect(heading?.filter((token) => token.startsWith('1:'))).toEqual([]);
    expect(paragraph).toEqual(expect.arrayContaining(['1:related', '1:stories']));
  });

  it('stay few however much a block holds', () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `w${index}`).join(' ');
    const deep = '<div class="alpha beta">'.repeat(200);
    const [only] = tokensOf(`${deep}<p class="${words}">${words}`);
    expect(only?.length).toBeLessThan(200);
  });
});

describe('scores of tokens', () => {
  const weights = [
    new Map([['cookie', -1.5]]),
    new Map(),
    new Map([['note', 0.25]]),
    new Map([['footer', -2]]),
  ];

  it('add up what words say and what names say, apart', () => {
    const { text, names } = tokenScores(evidenceOf(PAGE), weights);
    expect(text[0]).toBe(-1.5);
    expect(names[0]).toBe(-1.75);
  });

  it('come back from their packed form in steps of a hundredth', () => {
    const back = readTokens(
      packTokens([
        ...weights.slice(0, 3),
        new Map([
          ['footer', -2.004],
          ['x', 0.001],
        ]),
      ]),
    );
    expect(back.map((map) => [...map])).toEqual([[['cookie', -1.5]], [], [['note', 0.25]], [['footer', -2]]]);
  });
});
