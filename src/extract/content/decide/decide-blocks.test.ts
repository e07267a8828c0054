import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { type ContentEvidence, gatherEvidence } from '../features/evidence.ts';
import { PAGE_TYPES, type PageType } from '../model/model.ts';
import {
  chooseBlocks,
  favourDocumentationBody,
  keepSectionHeadings,
  penalizeBylines,
  penalizePageNotes,
  repeatsOf,
} from './choose-blocks.ts';

function evidenceOf(html: string): ContentEvidence {
  return gatherEvidence(buildTree(html), 'https://example.com/').evidence;
}

const surely = (type: PageType): number[] => PAGE_TYPES.map((name) => (name === type ? 1 : 0));
const PROSE =
  'The river had been rising since the early morning, and by noon the old bridge was closed to all.';

describe('what is not learned', () => {
  it('a heading of a section goes with the text below it, the one of the page and one above nothing kept do not', () => {
    const evidence = evidenceOf('<h1>Title</h1><p>a</p><h2>Kept</h2><p>b</p><h2>Left</h2><p>c</p>');
    const isKept = Uint8Array.of(0, 1, 0, 1, 0, 0);
    keepSectionHeadings(evidence, new Float64Array(6).fill(-1), isKept);
    expect([...isKept]).toEqual([0, 1, 1, 1, 0, 0]);
  });

  it('the body of documentation gains as a whole, but not its navigation, and not on other pages', () => {
    const evidence = evidenceOf(
      `<div>menu</div><main><p>${PROSE}</p><pre>make install</pre><p>${PROSE} Again.</p><nav>next</nav></main>`,
    );
    const sums = () => Float64Array.of(-4, 4, -1, 4, -2);
    const docs = sums();
    favourDocumentationBody(evidence, surely('documentation'), docs);
    expect(docs[0]).toBe(-4);
    expect(docs[2]).toBeGreaterThan(0);
    expect(docs[4]).toBe(-2);
    const other = sums();
    favourDocumentationBody(evidence, surely('product'), other);
    expect(other).toEqual(sums());
  });

  it('a byline above an article loses, one below its first paragraph does not', () => {
    const evidence = evidenceOf(
      `<p class="byline">By Ann Bell</p><p>${PROSE}</p><p class="byline">By Bob Bell</p>`,
    );
    const sums = Float64Array.of(1, 4, 1);
    penalizeBylines(evidence, surely('article'), sums);
    expect([...sums]).toEqual([-2, 4, 1]);
  });

  it('a passage that stands on the page twice counts once, a step that is repeated counts again', () => {
    const step = 'On the status bar, click the layer pane and choose one.';
    const other = 'Then draw the outline of the part as it is shown.';
    const passage = `<p>${PROSE}</p><p>${PROSE} And again.</p>`;
    const { blocks } = evidenceOf(`${passage}<p>${step}</p><p>${other}</p><p>${step}</p>${passage}`);
    expect([...repeatsOf(blocks)]).toEqual([0, 0, 0, 0, 0, 1, 1]);
  });

  it('a page with menus around a place that a script would fill has no content, one that shows little has it all', () => {
    const menu = evidenceOf(Array.from({ length: 30 }, (_, index) => `<li>Sale ${index}</li>`).join(''));
    const chances = (highest: number) => Float64Array.from(menu.blocks, (_, i) => (i === 3 ? highest : 0.05));
    expect(chooseBlocks(menu.blocks, chances(0.4)).includes(1)).toBe(false);
    expect(chooseBlocks(menu.blocks, chances(0.6))[3]).toBe(1);
    const small = evidenceOf('<p>It works!</p>');
    expect([...chooseBlocks(small.blocks, Float64Array.of(0.1))]).toEqual([1]);
    expect([...chooseBlocks(small.blocks, Float64Array.of(0.001))]).toEqual([0]);
  });

  it('what a page says about itself loses, what it says about such things does not', () => {
    const notes = [
      'Was this page helpful?',
      'Last updated 2026-03-06 UTC.',
      'Edit this page on GitHub',
      'On this page',
      'Except as otherwise noted, the content of this page is licensed under CC BY 4.0.',
      'Zuletzt aktualisiert am 3. Mai',
      'Please enable JavaScript to view the comments.',
      'It seems this app needs JavaScript, which is off.',
      'JavaScript is disabled in your browser.',
    ];
    const texts = [
      'The field says when the row was last updated.',
      'Edit the configuration of the server.',
      'The date picker requires JavaScript.',
    ];
    const evidence = evidenceOf([...notes, ...texts].map((text) => `<p>${text}</p>`).join(''));
    const sums = new Float64Array(notes.length + texts.length).fill(1);
    penalizePageNotes(evidence, sums);
    expect([...sums].map((sum) => sum > 0)).toEqual([...notes.map(() => false), ...texts.map(() => true)]);
  });
});
