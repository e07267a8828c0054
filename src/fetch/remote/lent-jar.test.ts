import { describe, expect, test } from 'vitest';
import { createLentJar } from './lent-jar.ts';

const HERE = new URL('https://a.example/x/y');
const ELSEWHERE = new URL('https://a.example/z');
const NONE: ReadonlySet<string> = new Set();

describe('a lent jar', () => {
  test('sends what was lent to its URL, and nowhere else', () => {
    const jar = createLentJar(HERE, [
      ['a', '1'],
      ['a', '2'],
    ]);
    expect(jar.size).toBe(2);
    expect(jar.cookiesFor(HERE, 0)).toEqual([
      ['a', '1'],
      ['a', '2'],
    ]);
    expect(jar.cookiesFor(ELSEWHERE, 0)).toEqual([]);
  });

  test('takes a lent cookie back once the site sets or ends it', () => {
    const jar = createLentJar(HERE, [
      ['a', '1'],
      ['b', '1'],
      ['c', '1'],
    ]);
    jar.store(HERE, ['a=2; path=/', 'b=; max-age=0'], 0);
    expect(jar.cookiesFor(HERE, 0)).toEqual([
      ['c', '1'],
      ['a', '2'],
    ]);
    expect(jar.cookiesFor(ELSEWHERE, 0)).toEqual([['a', '2']]);
  });

  test('tells what it was told, but for what is known', () => {
    const jar = createLentJar(HERE, []);
    jar.store(HERE, ['a=1', 'b=1'], 0);
    jar.store(ELSEWHERE, 'c=1', 0);
    expect(jar.told(NONE)).toEqual([
      { url: HERE.href, lines: ['a=1', 'b=1'] },
      { url: ELSEWHERE.href, lines: ['c=1'] },
    ]);
    expect(jar.told(new Set(['a=1', 'b=1']))).toEqual([{ url: ELSEWHERE.href, lines: ['c=1'] }]);
  });

  test('tells no more than a message may take, and the latest rather', () => {
    const jar = createLentJar(HERE, []);
    for (let count = 0; count < 1_000; count += 1) jar.store(HERE, `c${count}=${'"'.repeat(1_000)}`, 0);
    const told = jar.told(NONE);
    expect(Buffer.byteLength(JSON.stringify(told))).toBeLessThan(33_000);
    expect(told.length).toBeGreaterThan(10);
    expect(told.at(-1)?.lines[0]).toMatch(/^c999=/);
  });
});
