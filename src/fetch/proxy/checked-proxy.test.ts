import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ProxyCredentials } from '../../core/model/proxy.ts';
import { proxyEndpointFromUrl } from './checked-proxy.ts';
import { proxyKeyOf } from './proxy-url.ts';

const failureOf = (url: string) => {
  try {
    return proxyEndpointFromUrl(url);
  } catch (error) {
    if (isScrapifieError(error)) return error;
    throw error;
  }
};

test('is read from its URL, with the login decoded', () => {
  const proxy = proxyEndpointFromUrl('socks5h://us%65r:p%40ss@Proxy.Example:1080', 'de');
  expect(proxy).toMatchObject({
    provider: 'own',
    protocol: 'socks5',
    host: 'proxy.example',
    port: 1080,
    country: 'de',
    isPrivateAllowed: false,
  });
  expect([proxy.credentials?.username, proxy.credentials?.password]).toEqual(['user', 'p@ss']);
});

test.each([
  '',
  'proxy.example:8080',
  'ftp://hush:hush@proxy.example',
  'http://',
  'http://hush:hush@proxy.example:99999',
  'http://hush:hush@proxy.example/hush',
  'http://hush:%zz@proxy.example',
  'http://:hush@proxy.example',
])('%j is refused in words that repeat nothing of it', (url) => {
  const failure = failureOf(url);
  expect(failure).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: 'proxy.url' }] });
  expect(inspect(failure, { depth: 9 })).not.toContain('hush');
});

test('no text at all makes it fail in another way', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (url) => {
      failureOf(url);
    }),
  );
});

test('its id is the same each time, and tells nothing', () => {
  const [one, again] = [1, 2].map(() => proxyEndpointFromUrl('http://someone:hush@proxy.example:8080'));
  expect(one?.id).toBe(again?.id);
  expect(one?.id).toMatch(/^own\/[0-9a-f]{10}$/);
  expect(proxyEndpointFromUrl('http://other:hush@proxy.example:8080').id).not.toBe(one?.id);
  expect(JSON.stringify(one)).not.toMatch(/hush|someone/);
});

test('ways out are told apart by their login, password included, and by nothing that plays no part', () => {
  const proxy = proxyEndpointFromUrl('http://user-country-de:hush@proxy.example:8080');
  const other = { ...proxy, credentials: new ProxyCredentials('user-country-fr', 'hush') };
  const guessed = { ...proxy, credentials: new ProxyCredentials('user-country-de', 'guess') };
  const same = { ...proxy, credentials: new ProxyCredentials('user-country-de', 'hush'), country: 'de' };
  expect(new Set([proxy, other, guessed, { ...proxy, credentials: null }].map(proxyKeyOf)).size).toBe(4);
  expect(proxyKeyOf(same)).toBe(proxyKeyOf(proxy));
});
