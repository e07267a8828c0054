import { describe, expect, it } from 'vitest';
import { RuleSyntaxError } from '../rule-text.ts';
import { countingBudget } from '../rules.fixture.ts';
import { compileJsonPath } from './jsonpath.ts';

function find(path: string, value: unknown): unknown[] {
  return compileJsonPath(path).find(value, 1_000, countingBudget());
}

const STORE = {
  store: {
    book: [
      { category: 'reference', author: 'Nigel Rees', title: 'Sayings of the Century', price: 8.95 },
      { category: 'fiction', author: 'Evelyn Waugh', title: 'Sword of Honour', price: 12.99 },
      {
        category: 'fiction',
        author: 'Herman Melville',
        title: 'Moby Dick',
        isbn: '0-553-21311-3',
        price: 8.99,
      },
      {
        category: 'fiction',
        author: 'J. R. R. Tolkien',
        title: 'The Lord of the Rings',
        isbn: '0-395-19395-8',
        price: 22.99,
      },
    ],
    bicycle: { color: 'red', price: 399 },
  },
};
const [first, second, third, fourth] = STORE.store.book;

describe('the bookstore of RFC 9535, section 1.5', () => {
  it.each<[string, unknown[]]>([
    ['$.store.book[*].author', ['Nigel Rees', 'Evelyn Waugh', 'Herman Melville', 'J. R. R. Tolkien']],
    ['$..author', ['Nigel Rees', 'Evelyn Waugh', 'Herman Melville', 'J. R. R. Tolkien']],
    ['$.store.*', [STORE.store.book, STORE.store.bicycle]],
    ['$.store..price', [8.95, 12.99, 8.99, 22.99, 399]],
    ['$..book[2]', [third]],
    ['$..book[2].author', ['Herman Melville']],
    ['$..book[2].publisher', []],
    ['$..book[-1]', [fourth]],
    ['$..book[0,1]', [first, second]],
    ['$..book[:2]', [first, second]],
    ['$..book[?@.isbn]', [third, fourth]],
    ['$..book[?@.price<10]', [first, third]],
  ])('%s', (path, expected) => {
    expect(find(path, STORE)).toEqual(expected);
  });
});

describe('the tables of RFC 9535, section 2', () => {
  const names = { o: { 'j j': { 'k.k': 3 } }, "'": { '@': 2 } };
  const wild = { o: { j: 1, k: 2 }, a: [5, 3] };
  const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const filter = {
    a: [3, 5, 1, 2, 4, 6, { b: 'j' }, { b: 'k' }, { b: {} }, { b: 'kilo' }],
    o: { p: 1, q: 2, r: 3, s: 5, t: { u: 6 } },
    e: 'f',
  };
  const deep = { o: { j: 1, k: 2 }, a: [5, 3, [{ j: 4 }, { k: 6 }]] };
  const nulls = { a: null, b: [null], c: [{}], null: 1 };
  it.each<[string, unknown, unknown[]]>([
    ['$', { k: 'v' }, [{ k: 'v' }]],
    ["$.o['j j']", names, [{ 'k.k': 3 }]],
    ["$.o['j j']['k.k']", names, [3]],
    ['$.o["j j"]["k.k"]', names, [3]],
    ['$["\'"]["@"]', names, [2]],
    ['$[*]', wild, [wild.o, wild.a]],
    ['$.o[*]', wild, [1, 2]],
    ['$.o[*, *]', wild, [1, 2, 1, 2]],
    ['$.a[*]', wild, [5, 3]],
    ['$[1]', ['a', 'b'], ['b']],
    ['$[-2]', ['a', 'b'], ['a']],
    ['$[1:3]', letters, ['b', 'c']],
    ['$[5:]', letters, ['f', 'g']],
    ['$[1:5:2]', letters, ['b', 'd']],
    ['$[5:1:-2]', letters, ['f', 'd']],
    ['$[::-1]', letters, ['g', 'f', 'e', 'd', 'c', 'b', 'a']],
    ['$[::0]', letters, []],
    ['$[-3:]', letters, ['e', 'f', 'g']],
    ['$[10:-10:-3]', letters, ['g', 'd', 'a']],
    ["$.a[?@.b == 'kilo']", filter, [{ b: 'kilo' }]],
    ["$.a[?(@.b == 'kilo')]", filter, [{ b: 'kilo' }]],
    ['$.a[?@>3.5]', filter, [5, 4, 6]],
    ['$.a[?@.b]', filter, [{ b: 'j' }, { b: 'k' }, { b: {} }, { b: 'kilo' }]],
    ['$[?@.*]', filter, [filter.a, filter.o]],
    ['$[?@[?@.b]]', filter, [filter.a]],
    ['$.o[?@<3, ?@<3]', filter, [1, 2, 1, 2]],
    ['$.a[?@<2 || @.b == "k"]', filter, [1, { b: 'k' }]],
    ['$.a[?match(@.b, "[jk]")]', filter, [{ b: 'j' }, { b: 'k' }]],
    ['$.a[?search(@.b, "[jk]")]', filter, [{ b: 'j' }, { b: 'k' }, { b: 'kilo' }]],
    ['$.o[?@>1 && @<4]', filter, [2, 3]],
    ['$.o[?@.u || @.x]', filter, [{ u: 6 }]],
    ['$.a[?@.b == $.x]', filter, [3, 5, 1, 2, 4, 6]],
    ['$.a[?@ == @]', filter, filter.a],
    ['$[0, 3]', letters, ['a', 'd']],
    ['$[0:2, 5]', letters, ['a', 'b', 'f']],
    ['$[0, 0]', letters, ['a', 'a']],
    ['$..j', deep, [1, 4]],
    ['$..[0]', deep, [5, { j: 4 }]],
    ['$..o', deep, [{ j: 1, k: 2 }]],
    ['$.o..[*, *]', deep, [1, 2, 1, 2]],
    ['$.a..[0, 1]', deep, [5, 3, { j: 4 }, { k: 6 }]],
    ['$.a', nulls, [null]],
    ['$.a[0]', nulls, []],
    ['$.a.d', nulls, []],
    ['$.b[0]', nulls, [null]],
    ['$.b[*]', nulls, [null]],
    ['$.b[?@]', nulls, [null]],
    ['$.b[?@==null]', nulls, [null]],
    ['$.c[?@.d==null]', nulls, []],
    ['$.null', nulls, [1]],
    ['$[?length(@) == 2]', ['ab', [1, 2], { a: 1, b: 2 }, 2, '😀a'], ['ab', [1, 2], { a: 1, b: 2 }, '😀a']],
    ['$[?count(@.*) > 1]', [[1], [1, 2]], [[1, 2]]],
    [
      '$[?value(@..color) == "red"]',
      [{ a: { color: 'red' } }, { color: 'red', b: { color: 'blue' } }],
      [{ a: { color: 'red' } }],
    ],
    ['$[?!@.a]', [{ a: 1 }, { b: 1 }], [{ b: 1 }]],
    ['$[?!(@.a == 1)]', [{ a: 1 }, { a: 2 }], [{ a: 2 }]],
    ["$[?match(@, 'a.c')]", ['abc', 'a\nc', 'abcd'], ['abc']],
    ['$ [ "a" ] .b', { a: { b: 1 } }, [1]],
    ['$["\\u263a", "\\ud83d\\ude00"]', { '☺': 1, '😀': 2 }, [1, 2]],
    ['$.☺', { '☺': 1 }, [1]],
    ['$.constructor', {}, []],
    ['$[?@ == -0]', [0, 1], [0]],
    ['$[?@ == 1e2]', [100], [100]],
  ])('%s on %j', (path, value, expected) => {
    expect(find(path, value)).toEqual(expected);
  });

  const compared = { obj: { x: 'y' }, arr: [2, 3] };
  it.each<[string, boolean]>([
    ['$.absent1 == $.absent2', true],
    ['$.absent1 <= $.absent2', true],
    ["$.absent == 'g'", false],
    ['$.absent1 != $.absent2', false],
    ["$.absent != 'g'", true],
    ['1 <= 2', true],
    ['1 > 2', false],
    ["13 == '13'", false],
    ["'a' <= 'b'", true],
    ["'a' > 'b'", false],
    ['$.obj == $.arr', false],
    ['$.obj != $.arr', true],
    ['$.obj == $.obj', true],
    ['$.obj != $.obj', false],
    ['$.arr == $.arr', true],
    ['$.arr != $.arr', false],
    ['$.obj == 17', false],
    ['$.obj != 17', true],
    ['$.obj <= $.arr', false],
    ['$.obj < $.arr', false],
    ['$.obj <= $.obj', true],
    ['$.arr <= $.arr', true],
    ['1 <= $.arr', false],
    ['1 >= $.arr', false],
    ['1 > $.arr', false],
    ['1 < $.arr', false],
    ['true <= true', true],
    ['true > true', false],
  ])('%s is %s', (condition, expected) => {
    const root = { ...compared, one: [0] };
    expect(find(`$.one[?${condition}]`, root)).toEqual(expected ? [0] : []);
  });
});

describe('what is not well-formed or not well-typed is refused at its place', () => {
  it.each([
    ['', 0],
    ['a', 0],
    [' $', 0],
    ['$ ', 1],
    ['$.', 2],
    ['$..', 3],
    ['$.1', 2],
    ['$. a', 2],
    ['$[01]', 2],
    ['$[-0]', 2],
    ['$[9007199254740992]', 2],
    ['$[1.5]', 3],
    ['$[a]', 2],
    ['$[]', 2],
    ['$[1,]', 4],
    ["$['a]", 2],
    ["$['\\x']", 3],
    ["$['\\ud800']", 3],
    ['$[?@.a == ]', 10],
    ['$[?1]', 3],
    ['$[?true]', 3],
    ['$[?@.* == 1]', 3],
    ['$[?@..a == 1]', 3],
    ['$[?length(@.*) == 1]', 10],
    ['$[?length(@)]', 3],
    ['$[?count(1) == 1]', 9],
    ['$[?count(@.a, @.b) == 1]', 3],
    ["$[?match(@.a, 'b') == true]", 3],
    ['$[?value(@..a)]', 3],
    ['$[?size(@) == 1]', 3],
    ["$[?match(@.a, 'a(?=b)')]", 14],
    ['$[?(@.a]', 7],
    ['$[?@.a === 1]', 9],
    ['$[?@.a = 1]', 7],
  ])('%s', (path, position) => {
    let error: unknown;
    try {
      compileJsonPath(path);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(RuleSyntaxError);
    expect((error as RuleSyntaxError).position).toBe(position);
  });
});

it.each([
  ['(', 35],
  ['@[?', 99],
])('thousands of %s inside each other are refused', (opening, position) => {
  const run = (): unknown => compileJsonPath(`$[?${opening.repeat(1_000)}`);
  expect(run).toThrow(
    expect.objectContaining({ position, message: expect.stringContaining('inside each other') }),
  );
});

it('values that nest 10,000 levels are walked without recursion', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(10_000)}1${']'.repeat(10_000)}`);
  expect(find('$..[?@ == 1]', deep)).toEqual([1]);
  expect(find('$[?@ == $[0]]', deep)).toHaveLength(1);
});

it('an expensive query ends with EXTRACTION_FAILED', () => {
  const wide = Array.from({ length: 2_000 }, (_, at) => ({ at }));
  const run = (): unknown =>
    compileJsonPath('$[?count($[?@.at == 1]) > 1]').find(wide, 10, countingBudget(1_000_000));
  expect(run).toThrow(expect.objectContaining({ code: 'EXTRACTION_FAILED' }));
});
