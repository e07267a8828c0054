import { expect, test } from 'vitest';
import { fromBrowserCookie, toBrowserCookie } from './browser-cookies.ts';
import { createCookieJar } from './cookie-jar.ts';

const NOW = Date.UTC(2026, 0, 1);

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
