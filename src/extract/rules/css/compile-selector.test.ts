import { describe, expect, it } from 'vitest';
import { RuleSyntaxError } from '../rule-text.ts';
import { countingBudget, indexOf } from '../rules.fixture.ts';
import { compileSelector } from './compile-selector.ts';

const HTML = `<html lang="en-GB"><head><title>Shop</title></head><body>
<div id="main" class="wide main"><h1>Chairs &amp; tables</h1>
<ul class="items"><li class="item first" data-id="1"><a href="/a" title="One">Oak chair</a></li><li class="item" data-id="2"><a href="/b.pdf">Pine table</a><b>new</b></li><li class="item sold" data-id="3"><a>Desk</a></li><li data-id="4"></li></ul>
<p>one</p><span>two</span><p class="note">three</p>
<input type="checkbox" checked id="c1"><input type="checkbox" id="c2" disabled><select><option selected id="o1">1</option><option id="o2">2</option></select>
</div><svg id="s"><path id="p"/></svg></body></html>`;
const index = indexOf(HTML);

/** What is found, as id, data-id, href, class or name. */
function select(selector: string, scope = 0): string {
  const { tree } = index;
  return compileSelector(selector)
    .select(index, scope, 1_000, countingBudget())
    .map((node) => {
      const attributes = tree.attributes(node);
      return (
        ['id', 'data-id', 'href', 'class'].map((name) => attributes.get(name)).find((value) => value) ??
        tree.name(node)
      );
    })
    .join(' ');
}

describe('CSS selectors find what the standard says', () => {
  it.each([
    ['h1', 'h1'],
    ['H1', 'h1'],
    ['#main', 'main'],
    ['div#main.wide.main', 'main'],
    ['.wide.other', ''],
    ['.it', ''],
    ['li.item', '1 2 3'],
    ['ul li:first-child', '1'],
    ['li:last-child', '4'],
    ['li:nth-child(2)', '2'],
    ['li:nth-child(odd)', '1 3'],
    ['li:nth-child(even)', '2 4'],
    ['li:nth-child(2n + 1)', '1 3'],
    ['li:nth-child(-n+2)', '1 2'],
    ['li:nth-child(n+3)', '3 4'],
    ['li:nth-child(0)', ''],
    ['li:nth-last-child(1)', '4'],
    ['li:nth-last-child(-n+2)', '3 4'],
    ['li:nth-child(2 of .item)', '2'],
    ['li:nth-last-child(1 of .item)', '3'],
    ['#main > p:nth-of-type(2)', 'note'],
    ['#main > p:first-of-type', 'p'],
    ['#main > p:last-of-type', 'note'],
    ['#main > p:nth-last-of-type(2)', 'p'],
    ['#main > span:only-of-type', 'span'],
    ['a:only-child', '/a a'],
    ['li:empty', '4'],
    [':root', 'html'],
    ['li > a', '/a /b.pdf a'],
    ['ul a', '/a /b.pdf a'],
    ['li + li', '2 3 4'],
    ['li.first ~ li', '2 3 4'],
    ['p + span', 'span'],
    ['p ~ p', 'note'],
    ['h1 + p', ''],
    ['[data-id]', '1 2 3 4'],
    ['[data-id="2"]', '2'],
    ["[data-id='2'], [data-id='1']", '1 2'],
    ['[title=one]', ''],
    ['[title=one i]', '/a'],
    ['[href$=".pdf"]', '/b.pdf'],
    ['[href^="/"]', '/a /b.pdf'],
    ['[href*="pd"]', '/b.pdf'],
    ['[href*=""]', ''],
    ['[class~=main]', 'main'],
    ['[lang|=en]', 'html'],
    ['li[class!=item]', '1 3 4'],
    ['li:not(.item)', '4'],
    ['li:not(.first, .sold)', '2 4'],
    ['li:is(.first, .sold) a', '/a a'],
    ['li:where(.first)', '1'],
    ['li:has(b)', '2'],
    ['li:has(> a[href])', '1 2'],
    ['li:has(+ .sold)', '2'],
    ['li:has(~ .sold)', '1 2'],
    ['ul:has(li b)', 'items'],
    ['div:has(> ul > li > b)', 'main'],
    ['div:has(ul > b)', ''],
    ['li:not(:has(b))', '1 3 4'],
    ["a:contains('Oak')", '/a'],
    ['a:contains(table)', '/b.pdf'],
    ['input:checked, option:checked', 'c1 o1'],
    ['input:disabled', 'c2'],
    ['input:enabled', 'c1'],
    ['a:any-link', '/a /b.pdf'],
    ['svg > path', 'p'],
    ['html body div ul li a', '/a /b.pdf a'],
    ['p.note /* said last */', 'note'],
    ['#\\6d ain', 'main'],
    ['*:nth-child(1) > b', ''],
    ['> html', 'html'],
  ])('%s finds %s', (selector, expected) => {
    expect(select(selector)).toBe(expected);
  });

  it('looks inside the scope, counts ancestors outside of it, and knows :scope', () => {
    const [item = 0] = compileSelector('[data-id="2"]').select(index, 0, 1, countingBudget());
    expect(select('a', item)).toBe('/b.pdf');
    expect(select('#main a', item)).toBe('/b.pdf');
    expect(select(':scope > b', item)).toBe('b');
    expect(select('> b', item)).toBe('b');
    expect(select(':scope', item)).toBe('2');
    expect(select('+ li', item)).toBe('3');
    expect(select('~ li', item)).toBe('3 4');
  });
});

describe('bad selectors are refused at their place', () => {
  it.each([
    ['', 0, 'Expected a selector, found the end.'],
    ['div[', 4, 'Expected the name of an attribute'],
    ['div > ', 6, 'Expected a selector, found the end'],
    ['a,,b', 2, 'Expected a selector'],
    ['li:nth-child(x)', 13, 'Expected a position'],
    ['a:hoover', 1, 'There is no pseudo-class `:hoover`'],
    ['a:hover', 1, 'depends on a reader'],
    ['li:frist-child', 2, 'Did you mean `:first-child`?'],
    ['a::text', 1, '`@text`'],
    ['[a="x]', 3, 'The string has no end.'],
    ['[href=/a]', 6, 'Expected a value'],
    [':not(', 5, 'Expected a selector'],
    [':is(> a)', 4, 'cannot begin with a combinator'],
    ['//h1', 0, '`xpath:`'],
    ['$.a', 0, '`jsonpath:`'],
    ['a)', 1, 'Expected a selector, a combinator or the end'],
    ['.1a', 1, 'Expected the name of a class'],
    [':first-child(2)', 0, 'takes no argument'],
    [':nth-child', 0, 'needs an argument'],
  ])('%s', (selector, position, message) => {
    let error: unknown;
    try {
      compileSelector(selector);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(RuleSyntaxError);
    expect((error as RuleSyntaxError).message).toContain(message);
    expect((error as RuleSyntaxError).position).toBe(position);
  });
});

it('thousands of :not( inside each other are refused', () => {
  const run = (): unknown => compileSelector(':not('.repeat(800));
  expect(run).toThrow(
    expect.objectContaining({ position: 165, message: expect.stringContaining('inside each other') }),
  );
});

describe('a selector costs at most its budget', () => {
  const deep = indexOf(`${'<div>'.repeat(250)}${'<b>x</b>'.repeat(2_000)}`);

  it('a chain of descendants is linear in the depth', () => {
    const found = compileSelector('* * * * * * * * i').select(deep, 0, 10, countingBudget(1_000_000));
    expect(found).toEqual([]);
    expect(compileSelector('u * * * * * * * b').select(deep, 0, 10, countingBudget(2_000_000))).toEqual([]);
  });

  it('ends with EXTRACTION_FAILED when there is too much to look at', () => {
    const run = (): unknown =>
      compileSelector('*:has(* * * q)').select(deep, 0, 10, countingBudget(1_000_000));
    expect(run).toThrow(expect.objectContaining({ code: 'EXTRACTION_FAILED' }));
  });
});
