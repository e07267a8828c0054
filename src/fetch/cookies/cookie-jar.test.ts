import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CookieJar, cookieDate, createCookieJar } from './cookie-jar.ts';

const NOW = Date.UTC(2026, 0, 1);
const sent = (jar: CookieJar, url: string, now = NOW) =>
  jar
    .cookiesFor(new URL(url), now)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
const jarWith = (from: string, ...lines: string[]) => {
  const jar = createCookieJar();
  jar.store(new URL(from), lines, NOW);
  return jar;
};

describe('where a cookie goes', () => {
  test('without a domain it goes to its own host alone', () => {
    const jar = jarWith('http://www.example.org/', 'a=1');
    expect(sent(jar, 'http://www.example.org/x')).toBe('a=1');
    expect(sent(jar, 'http://sub.www.example.org/')).toBe('');
    expect(sent(jar, 'http://example.org/')).toBe('');
  });

  test('with a domain it goes to the subdomains too', () => {
    const jar = jarWith('http://www.example.org/', 'a=1; Domain=.Example.org');
    expect(sent(jar, 'http://example.org/')).toBe('a=1');
    expect(sent(jar, 'http://a.b.example.org/')).toBe('a=1');
    expect(sent(jar, 'http://badexample.org/')).toBe('');
  });

  test('no site sets cookies for another one or for a public suffix', () => {
    expect(jarWith('http://a.example.org/', 'a=1; Domain=b.example.org').size).toBe(0);
    expect(jarWith('http://example.org/', 'a=1; Domain=org').size).toBe(0);
    expect(jarWith('http://shop.example.co.uk/', 'a=1; Domain=co.uk').size).toBe(0);
    expect(jarWith('http://someone.github.io/', 'a=1; Domain=github.io').size).toBe(0);
    expect(jarWith('http://127.0.0.1/', 'a=1; Domain=0.0.1').size).toBe(0);
  });

  test('a public suffix that is a site of its own may have cookies for itself', () => {
    const jar = jarWith('http://github.io/', 'a=1; Domain=github.io');
    expect(sent(jar, 'http://github.io/')).toBe('a=1');
    expect(sent(jar, 'http://someone.github.io/')).toBe('');
  });

  test('its path covers what lies below', () => {
    const jar = jarWith('http://h.example/shop/cart/view', 'a=1', 'b=2; Path=/shop', 'c=3; Path=bad');
    expect(sent(jar, 'http://h.example/shop/cart')).toBe('a=1; c=3; b=2');
    expect(sent(jar, 'http://h.example/shop')).toBe('b=2');
    expect(sent(jar, 'http://h.example/shopping')).toBe('');
  });

  test('a secure one needs https, to be set and to be sent', () => {
    expect(jarWith('http://h.example/', 'a=1; Secure').size).toBe(0);
    const jar = jarWith(
      'https://h.example/',
      'a=1; Secure',
      '__Host-b=2; Secure; Path=/',
      '__Host-c=3; Path=/',
    );
    expect(sent(jar, 'https://h.example/')).toBe('a=1; __Host-b=2');
    expect(sent(jar, 'http://h.example/')).toBe('');
  });
});

describe('how long it stays', () => {
  test('Max-Age wins over Expires', () => {
    const jar = jarWith('http://h.example/', 'a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT');
    expect(sent(jar, 'http://h.example/', NOW + 59_999)).toBe('a=1');
    expect(sent(jar, 'http://h.example/', NOW + 60_000)).toBe('');
    expect(jar.size).toBe(0);
  });

  test('a date in the past removes it', () => {
    const jar = jarWith('http://h.example/', 'a=1', 'b=2');
    jar.store(new URL('http://h.example/'), 'a=; Expires=Thu, 01-Jan-70 00:00:00 GMT', NOW);
    expect(sent(jar, 'http://h.example/')).toBe('b=2');
  });

  test('setting it again replaces the value', () => {
    const jar = jarWith('http://h.example/', 'a=1', 'b=2', 'a=3');
    expect(sent(jar, 'http://h.example/')).toBe('a=3; b=2');
  });
});

test('broken lines are dropped', () => {
  expect(
    jarWith('http://h.example/', 'novalue', '=x', '', ';', 'a=\u0000', `a=${'x'.repeat(5_000)}`).size,
  ).toBe(0);
});

test('no number of cookies makes it grow past its limits', () => {
  const jar = createCookieJar({ maxCookies: 20, maxPerDomain: 5 });
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), (host, name) => {
      jar.store(new URL(`http://h${host}.example/`), `c${name}=1`, NOW);
      expect(jar.size).toBeLessThanOrEqual(20);
      expect(jar.cookiesFor(new URL(`http://h${host}.example/`), NOW).length).toBeLessThanOrEqual(5);
      expect(sent(jar, `http://h${host}.example/`)).toContain(`c${name}=1`);
    }),
  );
});

test.each([
  ['Wed, 09 Jun 2027 10:18:14 GMT', Date.UTC(2027, 5, 9, 10, 18, 14)],
  ['Wednesday, 09-Jun-27 10:18:14 GMT', Date.UTC(2027, 5, 9, 10, 18, 14)],
  ['Wed Jun  9 10:18:14 2027', Date.UTC(2027, 5, 9, 10, 18, 14)],
  ['01 Jan 70 00:00:00', 0],
  ['31 Feb 2027 00:00:00', null],
  ['09 Jun 2027', null],
  ['09 Jun 1500 10:00:00', null],
  ['', null],
])('the date %j is %j', (text, expected) => {
  expect(cookieDate(text)).toBe(expected);
});

describe('what it lists', () => {
  test('is every attribute of every cookie that is not over, oldest first', () => {
    const jar = jarWith(
      'https://www.shop.example/a/b',
      'id=1; Domain=shop.example; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60',
      'theme=dark; SameSite=whatever',
      'gone=1; Max-Age=5',
    );
    expect(jar.list(NOW + 5_000)).toEqual([
      {
        name: 'id',
        value: '1',
        domain: 'shop.example',
        isHostOnly: false,
        path: '/',
        isSecure: true,
        isHttpOnly: true,
        sameSite: 'lax',
        expiresAt: NOW + 60_000,
      },
      {
        name: 'theme',
        value: 'dark',
        domain: 'www.shop.example',
        isHostOnly: true,
        path: '/a',
        isSecure: false,
        isHttpOnly: false,
        sameSite: null,
        expiresAt: null,
      },
    ]);
  });

  test('makes a jar that sends the same everywhere and at any time, also by way of JSON', () => {
    const host = fc.constantFrom('shop.example', 'www.shop.example', 'a.www.shop.example', '127.0.0.1');
    const path = fc.constantFrom('/', '/a', '/a/b', '/ab');
    const attribute = fc.constantFrom(
      'Path=/',
      'Path=/a',
      'Domain=shop.example',
      'Domain=www.shop.example',
      'Secure',
      'HttpOnly',
      'SameSite=None',
      'Max-Age=10',
      'Max-Age=0',
      'Expires=Wed, 09 Jun 2027 10:18:14 GMT',
    );
    const line = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(9), fc.array(attribute, { maxLength: 4 }))
      .map(([name, value, attributes]) => [`${name}=${value}`, ...attributes].join('; '));
    fc.assert(
      fc.property(fc.array(fc.tuple(host, path, line, fc.nat(15_000)), { maxLength: 30 }), (sets) => {
        const jar = createCookieJar();
        let now = NOW;
        for (const [from, at, text, laterMs] of sets) {
          jar.store(new URL(`https://${from}${at}`), text, now);
          now += laterMs;
        }
        const listed = jar.list(now);
        const again = createCookieJar({ cookies: JSON.parse(JSON.stringify(listed)) });
        expect(again.list(now)).toEqual(listed);
        for (const to of ['shop.example', 'www.shop.example', 'a.www.shop.example', '127.0.0.1']) {
          for (const url of [`https://${to}/a/b`, `http://${to}/a`, `https://${to}/`]) {
            for (const then of [now, now + 5_000, now + 86_400_000]) {
              expect(sent(again, url, then)).toBe(sent(jar, url, then));
            }
          }
        }
      }),
    );
  });

  test('is cut to the limits of the jar it is put into', () => {
    const many = Array.from({ length: 30 }, (_, index) => `c${index}=1`);
    const cookies = jarWith('http://h.example/', ...many).list(NOW);
    expect(createCookieJar({ cookies, maxPerDomain: 5 }).list(NOW)).toEqual(cookies.slice(-5));
  });
});

test('any line from any host leaves the jar in order', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('a.example', 'co.uk', '127.0.0.1', '[::1]'), (line, host) => {
      const jar = createCookieJar();
      jar.store(new URL(`https://${host}/x`), line, NOW);
      expect(jar.size).toBeLessThanOrEqual(1);
    }),
  );
});
