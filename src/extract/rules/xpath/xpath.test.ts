import { describe, expect, it } from 'vitest';
import { RuleSyntaxError } from '../rule-text.ts';
import { countingBudget, indexOf } from '../rules.fixture.ts';
import { compileXPath } from './xpath.ts';

const HTML = `<html lang="en-GB"><head><title>Shop</title><script>var a = 1;</script></head><body><div id="main" class="wide"><h1>  Oak
 chair </h1><ul><li id="l1" data-price="10">One</li><li id="l2" data-price="20">Two <b>bold</b></li><li id="l3">Three</li></ul><p>a</p><p>b<i>c</i>d</p><media:item id="m">x</media:item></div><div id="foot"><a href="/x">10</a></div></body></html>`;
const index = indexOf(HTML);

function find(source: string, node = 0): unknown {
  const { tree } = index;
  const xpath = compileXPath(source);
  const items = xpath.find(index, node, 1_000, countingBudget());
  if (xpath.type !== 'nodes') return items[0]?.kind === 'value' ? items[0].value : null;
  return items
    .map((item) => {
      if (item.kind === 'value') return `=${item.value}`;
      if (item.node === 0) return '/';
      return tree.isText(item.node)
        ? `'${tree.text(item.node)}'`
        : (tree.attributeNamed(item.node, 'id') ?? tree.name(item.node));
    })
    .join(' ');
}

describe('XPath 1.0 paths', () => {
  it.each([
    ['/html/body/div', 'main foot'],
    ['//li', 'l1 l2 l3'],
    ['//LI', 'l1 l2 l3'],
    ['//li[1]', 'l1'],
    ['//li[last()]', 'l3'],
    ['//li[position() > 1]', 'l2 l3'],
    ['//p[1]', 'p'],
    ['(//li)[2]', 'l2'],
    ['(//li | //h1)[1]', 'h1'],
    ["//li[@data-price='20']", 'l2'],
    ['//li[@data-price > 10]', 'l2'],
    ['//li[not(@data-price)]', 'l3'],
    ['//li/@data-price', '=10 =20'],
    ['//@href', '=/x'],
    ['//li/attribute::*', '=l1 =10 =l2 =20 =l3'],
    ['//b/..', 'l2'],
    ['//b/ancestor::*', 'html body main ul l2'],
    ['//b/ancestor::*[1]', 'l2'],
    ['//b/ancestor-or-self::*[1]', 'b'],
    ['//li[2]/preceding-sibling::li', 'l1'],
    ['//li[3]/preceding-sibling::li[1]', 'l2'],
    ['//li[1]/following-sibling::li[1]', 'l2'],
    ['//li[2]/following::p', 'p p'],
    ['//a/preceding::li', 'l1 l2 l3'],
    ['//a/preceding::li[1]', 'l3'],
    ['//b/preceding::node()[1]', "'Two '"],
    ['//ul/descendant::b', 'b'],
    ['//ul/descendant-or-self::ul', 'ul'],
    ['//div/self::div[@id="foot"]', 'foot'],
    ['//p[2]/text()', "'b' 'd'"],
    ['//p[2]/node()', "'b' i 'd'"],
    ['//comment()', ''],
    ['//li[b]', 'l2'],
    ['//li[b and @id]', 'l2'],
    ['//li[b or @id="l1"]', 'l1 l2'],
    ["//li[contains(., 'bold')]", 'l2'],
    ["//li[starts-with(@id, 'l')][2]", 'l2'],
    ["//*[@id='main']//b", 'b'],
    ['//media:item', 'm'],
    ['//media:*', 'm'],
    ["id('l3 l1')", 'l1 l3'],
    ["id('main')/ul/li[1]", 'l1'],
    ['/', '/'],
    ['.', '/'],
    ['//div[.//b]', 'main'],
    ['//ul//text()', "'One' 'Two ' 'bold' 'Three'"],
    ['//h1 | //b | //h1', 'h1 b'],
    ['//li[@id = //li[2]/@id]', 'l2'],
    ["//li[lang('en')]", 'l1 l2 l3'],
    ["//li[lang('de')]", ''],
    ['//li[count(preceding-sibling::li) = 1]', 'l2'],
    ['//li[position() mod 2 = 1]', 'l1 l3'],
    ['//*[self::h1 or self::b]', 'h1 b'],
    ['//div//div', ''],
    ['//@id/..', 'main l1 l2 l3 m foot'],
    ['child::html/child::body/child::*[2]', 'foot'],
  ])('%s finds %s', (source, expected) => {
    expect(find(source)).toBe(expected);
  });

  it('starts from the node it is asked of', () => {
    const [item] = compileXPath('//li[2]').find(index, 0, 1, countingBudget());
    const node = item?.kind === 'node' ? item.node : -1;
    expect(find('b', node)).toBe('b');
    expect(find('.//b', node)).toBe('b');
    expect(find('@id', node)).toBe('=l2');
    expect(find('string(.)', node)).toBe('Two bold');
    expect(find('//h1', node)).toBe('h1');
  });
});

describe('XPath 1.0 values', () => {
  it.each<[string, string | number | boolean]>([
    ['count(//li)', 3],
    ['sum(//@data-price)', 30],
    ['string(//li[2])', 'Two bold'],
    ['normalize-space(//h1)', 'Oak chair'],
    ['string(//script)', 'var a = 1;'],
    ['string-length("äöü")', 3],
    ["concat('a', 1, true())", 'a1true'],
    ["substring('12345', 2, 3)", '234'],
    ["substring('12345', 2)", '2345'],
    ["substring('12345', 1.5, 2.6)", '234'],
    ["substring('12345', 0, 3)", '12'],
    ["substring('12345', 0 div 0, 3)", ''],
    ["substring('12345', 1, 0 div 0)", ''],
    ["substring('12345', -42, 1 div 0)", '12345'],
    ["substring('12345', -1 div 0, 1 div 0)", ''],
    ["substring-before('1999/04/01', '/')", '1999'],
    ["substring-after('1999/04/01', '/')", '04/01'],
    ["substring-after('1999/04/01', '19')", '99/04/01'],
    ["translate('bar', 'abc', 'ABC')", 'BAr'],
    ["translate('--aaa--', 'abc-', 'ABC')", 'AAA'],
    ["contains('abc', '')", true],
    ["starts-with('abc', 'b')", false],
    ['name(//@data-price)', 'data-price'],
    ['local-name(//media:item)', 'item'],
    ['name(//nothing)', ''],
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['7 mod 3', 1],
    ['-7 mod 3', -1],
    ['8 div 2', 4],
    ['- - 3', 3],
    ['1 - -1', 2],
    ['string(1 div 0)', 'Infinity'],
    ['string(-1 div 0)', '-Infinity'],
    ['string(0 div 0)', 'NaN'],
    ['string(-0)', '0'],
    ['string(1.50)', '1.5'],
    ['string(100000000000000000000000)', '99999999999999991611392'],
    ['string(0.0000001)', '0.0000001'],
    ['round(2.5)', 3],
    ['round(-2.5)', -2],
    ['floor(-1.5)', -2],
    ['ceiling(1.2)', 2],
    ["number(' 12.5 ')", 12.5],
    ["string(number('1e3'))", 'NaN'],
    ['number(true())', 1],
    ["boolean('')", false],
    ["boolean('false')", true],
    ['boolean(//nothing)', false],
    ['not(//li)', false],
    ['1 = 1.0', true],
    ["1 = '1'", true],
    ["true() = 'x'", true],
    ["//li = 'One'", true],
    ["//li != 'One'", true],
    ["//nothing = ''", false],
    ["//nothing != ''", false],
    ['//@data-price < 11', true],
    ['25 < //@data-price', false],
    ['//li/@data-price = //a', true],
    ['//li/@data-price > //a', true],
    ['//li = false()', false],
    ['1 < 2 and 2 < 3', true],
    ['1 > 2 or 3 > 2', true],
    ['3 > 2 > 1', false],
    ["'a' < 'b'", false],
  ])('%s is %s', (source, expected) => {
    expect(find(source)).toBe(expected);
  });
});

describe('bad expressions are refused at their place', () => {
  it.each([
    ['//li[', 5, 'Expected a step'],
    ['//', 2, 'Expected a step'],
    ['//li[1', 6, 'Expected `]`'],
    ["contains('a'", 12, 'Expected `)`'],
    ["//li[ends-with(@id, '1')]", 5, 'There is no function `ends-with()`'],
    ["//li[matches(@id, '1')]", 5, 'There is no function `matches()`'],
    ["//a[re:test(@href, 'x')]", 4, 'There is no function `re:test()`'],
    ['cout(//li)', 0, 'Did you mean `count()`?'],
    ['count(1)', 6, 'takes sets of nodes; this is a number'],
    ["count('a', 'b')", 0, 'takes 1 parameters, not 2'],
    ['//li | 1', 7, '`|` joins sets of nodes'],
    ["'a'/b", 0, 'A path leads on from sets of nodes'],
    ['string(//a)[1]', 0, 'A predicate picks from sets of nodes'],
    ['$x', 0, 'no variables'],
    ['foo::a', 0, 'There is no axis `foo::`'],
    ['parnt::a', 0, 'Did you mean `parent::`?'],
    ['namespace::*', 0, 'no namespaces'],
    ["'abc", 0, 'The string has no end.'],
    ['//a b', 4, 'Expected an operator'],
    ['a ! b', 2, 'Unexpected `!`'],
  ])('%s', (source, position, message) => {
    let error: unknown;
    try {
      compileXPath(source);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(RuleSyntaxError);
    expect((error as RuleSyntaxError).message).toContain(message);
    expect((error as RuleSyntaxError).position).toBe(position);
  });

  it.each([
    ['(', 32],
    ['a[', 64],
    ['not(', 128],
  ])('thousands of %s inside each other', (opening, position) => {
    const run = (): unknown => compileXPath(opening.repeat(990));
    expect(run).toThrow(
      expect.objectContaining({ position, message: expect.stringContaining('inside each other') }),
    );
  });

  it('long chains of operators and signs do not exhaust the stack', () => {
    expect(find(`${'-'.repeat(3_000)}1`)).toBe(1);
    expect(() => compileXPath('1+'.repeat(1_900))).toThrow(RuleSyntaxError);
  });
});

it('an expensive expression ends with EXTRACTION_FAILED', () => {
  const wide = indexOf('<p>x</p>'.repeat(5_000));
  const run = (): unknown =>
    compileXPath('//*/following::*/preceding::*').find(wide, 0, 10, countingBudget(1_000_000));
  expect(run).toThrow(expect.objectContaining({ code: 'EXTRACTION_FAILED' }));
});
