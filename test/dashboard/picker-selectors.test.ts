import { describe, expect, it } from 'vitest';
import {
  cssName,
  type SelectorStep,
  selectorsFor,
} from '../../dashboard/src/features/playground/picker/selectors.ts';
import { compileSelector } from '../../src/extract/rules/css/compile-selector.ts';
import { countingBudget, indexOf } from '../../src/extract/rules/rules.fixture.ts';

const HTML = `<html><head><title>Shop</title><meta property="og:title" content="Hat"></head><body>
<nav><ul><li><a href="/1">One</a></li><li><a href="/2">Two</a></li></ul></nav>
<main id="content"><div class="product css-1x9ab2"><h1 class="title">Hat</h1><span class="price" itemprop="price">5</span>
<ul class="reviews"><li class="review"><b class="name">A</b><i>3</i></li><li class="review"><b class="name">B</b><i>4</i></li></ul>
<table><tr><th>Size</th><td>57</td></tr><tr><th>Weight</th><td>120 g</td></tr></table></div></main>
<div id='"]{}' class='a"]{ b\\ 1c'>odd</div><div id="__proto__">p</div><p class="1st -2nd - --x">leading digits</p>
<p>plain</p><p>plain</p></body></html>`;
const index = indexOf(HTML);
const { tree } = index;
const found = (selector: string): number[] =>
  compileSelector(selector).select(index, 0, 1_000, countingBudget());

function stepOf(node: number): SelectorStep {
  const attributes = Object.fromEntries(tree.attributes(node));
  const parent = tree.parents[node] as number;
  const same = elements.filter(
    (each) => tree.parents[each] === parent && tree.name(each) === tree.name(node),
  );
  return {
    tag: tree.name(node),
    id: attributes.id ?? '',
    classes: (attributes.class ?? '').split(/\s+/).filter((name) => name !== ''),
    attributes,
    place: same.indexOf(node) + 1,
    siblings: same.length,
  };
}
const elements = Array.from({ length: tree.ends[0] as number }, (_, node) => node).filter((node) =>
  index.isElement(node),
);

function stepsOf(node: number): SelectorStep[] {
  const steps: SelectorStep[] = [];
  for (let each = node; each > 0; each = tree.parents[each] as number) steps.push(stepOf(each));
  return steps;
}
const pick = (selector: string) =>
  selectorsFor(stepsOf(found(selector)[0] as number), (each) => found(each).length);

describe('selectors of the picker', () => {
  it('find the picked element and no other by the rules of the server, for every element of a page', () => {
    for (const node of elements) {
      const { single } = selectorsFor(stepsOf(node), (each) => found(each).length);
      expect(single.length, tree.name(node)).toBeGreaterThan(0);
      for (const { selector } of single) expect(found(selector), selector).toEqual([node]);
    }
  });

  it('lean on meaning and on names that people chose, not on names that tools make up', () => {
    expect(pick('[itemprop=price]').single[0]?.selector).toBe('span[itemprop="price"]');
    expect(pick('h1').single[0]?.selector).toBe('h1.title');
    expect(JSON.stringify(pick('.product'))).not.toContain('css-1x9ab2');
  });

  it('offer a selector for all elements like the picked one', () => {
    expect(pick('.review .name').list[0]).toEqual({ selector: 'b.name', count: 2 });
  });

  it('escape what has a meaning in CSS', () => {
    for (const name of ['"]{}', '1c', '-2nd', '-', '--x', 'a.b', 'a\\b', 'ü😀', '\u0001']) {
      expect(() => compileSelector(`.${cssName(name)}`), name).not.toThrow();
    }
  });
});
