import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cookieHeader, withCookies } from '../http/request-headers.ts';
import { splitCookies } from './split-cookies.ts';

const name = fc.string({ unit: fc.constantFrom(...'abc-_.') });
const value = fc.string({ unit: fc.constantFrom(...'ab= "%') });

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
