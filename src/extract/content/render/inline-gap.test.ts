import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { findBlocks } from '../features/blocks.ts';
import { renderContent } from './render-content.ts';

function textsOf(html: string): { block: string | undefined; text: string } {
  const tree = buildTree(html);
  const kept = new Uint8Array(tree.count).fill(1);
  return {
    block: findBlocks(tree).list[0]?.text,
    text: renderContent(tree, kept, 'https://example.com/').text,
  };
}

describe('texts without a space between them', () => {
  it.each([
    ['labels in a row', '<p><span>amount</span><span>integer</span></p>', 'amount integer'],
    ['links in a row', '<p><a href="/a">First</a><a href="/b">Second</a></p>', 'First Second'],
    ['nested labels', '<p><span><b>amount</b></span><i>integer</i></p>', 'amount integer'],
  ])('are read apart: %s', (_name, html, wanted) => {
    expect(textsOf(html)).toEqual({ block: wanted, text: wanted });
  });

  it.each([
    ['a first letter of its own', '<p><span>T</span>he river</p>', 'The river'],
    ['an emphasized part of a word', '<p>un<em>believ</em>able</p>', 'unbelievable'],
    ['a word in single letters', '<p><span>H</span><span>i</span></p>', 'Hi'],
    ['a price in parts', '<p><span>$</span><span>4</span><span>.99</span></p>', '$4.99'],
    ['code', '<pre><span>foo</span><span>bar</span></pre>', 'foobar'],
  ])('stay together: %s', (_name, html, wanted) => {
    expect(textsOf(html)).toEqual({ block: wanted, text: wanted });
  });
});
