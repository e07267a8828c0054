import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCookieJar } from '../cookies/cookie-jar.ts';
import { cookieHeader, withCookies } from '../http/request-headers.ts';
import { cookiesOfSite, createWorkerJar, plainCookies, splitCookies } from './worker-jar.ts';

const HERE = new URL('https://www.a.example/x/y');
const ELSEWHERE = new URL('https://www.a.example/z');
const NONE: ReadonlySet<string> = new Set();
const NOW = 1_000_000_000_000;

const name = fc.string({ unit: fc.constantFrom(...'abc-_.') });
const value = fc.string({ unit: fc.constantFrom(...'ab= "%') });

describe('a lent jar', () => {
  test('has the cookies of the site, with their domains and paths, and no others', () => {
    const owner = createCookieJar();
    owner.store(HERE, ['host=1; path=/x', 'site=1; path=/; domain=a.example'], NOW);
    owner.store(new URL('https://api.a.example/'), 'api=1; path=/v1', NOW);
    owner.store(new URL('https://b.example/'), 'other=1', NOW);
    const jar = createWorkerJar(cookiesOfSite(owner, HERE, NOW));
    expect(jar.size).toBe(3);
    expect(jar.cookiesFor(HERE, NOW)).toEqual([
      ['host', '1'],
      ['site', '1'],
    ]);
    expect(jar.cookiesFor(new URL('https://api.a.example/v1/q'), NOW)).toEqual([
      ['api', '1'],
      ['site', '1'],
    ]);
    expect(jar.newCookies(NONE)).toEqual([]);
  });

  test('of names and values alone sends them to their host', () => {
    const jar = createWorkerJar(
      plainCookies(HERE, [
        ['a', '1'],
        ['b', '2'],
      ]),
    );
    expect(jar.cookiesFor(ELSEWHERE, NOW)).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    expect(jar.cookiesFor(new URL('https://a.example/'), NOW)).toEqual([]);
  });

  test('tells what changes, comes or ends, and not what is as it was', () => {
    const owner = createCookieJar();
    const lines = ['same=1; path=/; max-age=60', 'changed=1; path=/', 'ended=1; path=/'];
    owner.store(HERE, lines, NOW);
    const jar = createWorkerJar(cookiesOfSite(owner, HERE, NOW));
    const until = new Date(NOW + 60_000).toUTCString();
    jar.store(HERE, `same=1; Path=/; Expires=${until}`, NOW);
    jar.store(HERE, 'changed=2; Path=/', NOW);
    jar.store(HERE, 'ended=; Path=/; Max-Age=0', NOW);
    jar.store(new URL('https://ads.example/'), 'come=1', NOW);
    const newCookies = jar.newCookies(NONE);
    expect(newCookies).toEqual([
      { url: HERE.href, lines: ['changed=2; Path=/'] },
      { url: HERE.href, lines: ['ended=; Path=/; Max-Age=0'] },
      { url: 'https://ads.example/', lines: ['come=1'] },
    ]);
    for (const each of newCookies) owner.store(new URL(each.url), each.lines, NOW);
    expect(owner.list(NOW).map(({ name, value }) => `${name}=${value}`)).toEqual([
      'same=1',
      'changed=2',
      'come=1',
    ]);
  });

  test('tells nothing that is known', () => {
    const jar = createWorkerJar([]);
    jar.store(HERE, ['a=1', 'b=1'], NOW);
    jar.store(ELSEWHERE, 'c=1', NOW);
    expect(jar.newCookies(new Set(['a=1', 'b=1']))).toEqual([{ url: ELSEWHERE.href, lines: ['c=1'] }]);
  });

  test('tells no more than a message may take, and the latest rather', () => {
    const jar = createWorkerJar([]);
    for (let count = 0; count < 1_000; count += 1) jar.store(HERE, `c${count}=${'"'.repeat(1_000)}`, NOW);
    const newCookies = jar.newCookies(NONE);
    expect(Buffer.byteLength(JSON.stringify(newCookies))).toBeLessThan(66_000);
    expect(newCookies.length).toBeGreaterThan(10);
    expect(newCookies.at(-1)?.lines[0]).toMatch(/^c999=/);
  });
});

test('cookies come apart and together again as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
      const [headers, cookies] = splitCookies(withCookies(['x-a', '1'], cookieHeader(pairs, {})));
      expect(headers).toEqual({ 'x-a': '1' });
      expect(cookies).toEqual(pairs);
    }),
  );
});

test('whatever a cookie holds, the same header comes of it', () => {
  const any = fc.string({ unit: fc.constantFrom(...'a=; ') });
  fc.assert(
    fc.property(fc.array(fc.tuple(name, any)), (pairs) => {
      const header = cookieHeader(pairs, {});
      const [, cookies] = splitCookies(withCookies([], header));
      expect(cookieHeader(cookies, {})).toBe(header);
    }),
  );
});

test('a Cookie header of the request is among them, in front', () => {
  const list = withCookies(['cookie', 'own=1', 'x-a', '1'], 'jar=2');
  expect(splitCookies(list)).toEqual([
    { 'x-a': '1' },
    [
      ['own', '1'],
      ['jar', '2'],
    ],
  ]);
});
