import { expect, it, test } from 'vitest';
import { createCookieJar, fromBrowserCookie, readSetCookie, toBrowserCookie } from './cookie-jar.ts';

const NOW = Date.UTC(2026, 0, 1);
const NO_ATTRIBUTES = {
  domain: null,
  path: null,
  expiresAt: null,
  isSecure: false,
  isHttpOnly: false,
  sameSite: null,
};

it('has the attributes as the site stated them', () => {
  const line = 'sid=a=b; Domain=.shop.test; Path=/x; Max-Age=60; Secure; HttpOnly; SameSite=Lax';
  expect(readSetCookie(line, NOW)).toEqual({
    name: 'sid',
    value: 'a=b',
    domain: '.shop.test',
    path: '/x',
    expiresAt: '2026-01-01T00:01:00.000Z',
    isSecure: true,
    isHttpOnly: true,
    sameSite: 'lax',
  });
});

it.each<[string, object | null]>([
  ['a=1', { name: 'a', value: '1', ...NO_ATTRIBUTES }],
  ['a=', { name: 'a', value: '', ...NO_ATTRIBUTES }],
  [
    'a=1; Expires=Thu, 01 Jan 2026 01:00:00 GMT',
    { name: 'a', value: '1', ...NO_ATTRIBUTES, expiresAt: '2026-01-01T01:00:00.000Z' },
  ],
  ['a=1; Expires=never; SameSite=odd', { name: 'a', value: '1', ...NO_ATTRIBUTES }],
  ['a=1; Max-Age=999999999999', { name: 'a', value: '1', ...NO_ATTRIBUTES, expiresAt: expect.any(String) }],
  ['no pair', null],
  ['=1', null],
  [`a=${'x'.repeat(9_000)}`, null],
])('%s', (line, cookie) => {
  expect(readSetCookie(line, NOW)).toEqual(cookie);
});

test('cookies come back from a browser as they were given to it', () => {
  const jar = createCookieJar();
  const lines = [
    'a=1; Domain=shop.example; Path=/; Secure; HttpOnly; SameSite=None; Max-Age=60',
    'b=2; SameSite=Strict',
    'c=3; SameSite=Lax; Path=/x',
  ];
  jar.store(new URL('https://www.shop.example/'), lines, NOW);
  const listed = jar.list(NOW);
  const shown = listed.map(toBrowserCookie);
  expect(shown.map(({ domain, sameSite, expires }) => [domain, sameSite, expires])).toEqual([
    ['.shop.example', 'None', NOW / 1_000 + 60],
    ['www.shop.example', 'Strict', -1],
    ['www.shop.example', 'Lax', -1],
  ]);
  expect(shown.map(fromBrowserCookie)).toEqual(listed);
});

test('what a browser would refuse or guess is written as it would take it', () => {
  const jar = createCookieJar();
  jar.store(new URL('http://shop.example/'), ['a=1', 'b=2; SameSite=None'], NOW);
  expect(jar.list(NOW).map((cookie) => toBrowserCookie(cookie).sameSite)).toEqual(['Lax', 'Lax']);
});
