import { describe, expect, test } from 'vitest';
import { codeOfFailure, get, serve, testEngine, textOf } from '../http/loopback.fixture.ts';
import type { Resolve } from './guarded-lookup.ts';

const resolveTo =
  (...addresses: string[]): Resolve =>
  (_host, done) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    queueMicrotask(() => done(null, found));
  };

describe('without leave for private addresses', () => {
  test.each([
    'http://127.0.0.1',
    'http://localhost',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://2130706433',
    'http://0x7f.1',
    'http://0',
    'https://127.0.0.1',
    'https://localhost',
  ])('%s is refused before anything is sent', async (origin) => {
    const site = await serve((_, response) => response.end('secret'));
    const engine = testEngine({ allowPrivate: false });
    expect(await codeOfFailure(get(engine, `${origin}:${site.port}/`))).toBe('ADDRESS_REFUSED');
    expect(site.accepted()).toBe(0);
  });

  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
  ])('a public name that resolves to %s is refused', async (address) => {
    const engine = testEngine({ allowPrivate: false, resolve: resolveTo(address) });
    const url = 'http://innocent.example/';
    expect(await codeOfFailure(get(engine, url))).toBe('ADDRESS_REFUSED');
    expect(await codeOfFailure(get(engine, url.replace('http', 'https')))).toBe('ADDRESS_REFUSED');
  });

  test('the message names the kind of address and not the address', async () => {
    const engine = testEngine({ allowPrivate: false, resolve: resolveTo('169.254.169.254') });
    const message = await get(engine, 'http://innocent.example/').catch((error) => error.message);
    expect(message).toContain('metadata');
    expect(message).not.toContain('169.254');
  });

  test('many requests at once to one refused name are all refused', async () => {
    const engine = testEngine({ allowPrivate: false, resolve: resolveTo('10.0.0.1') });
    const codes = await Promise.all(
      Array.from({ length: 30 }, () => codeOfFailure(get(engine, 'https://innocent.example/'))),
    );
    expect(new Set(codes)).toEqual(new Set(['ADDRESS_REFUSED']));
  });
});

describe('with leave for private addresses', () => {
  test.each([
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
  ])(
    'a name that resolves to %s, where a cloud gives out credentials, is refused all the same',
    async (address) => {
      for (const allowPrivate of [true, '0.0.0.0/0,::/0', () => true]) {
        const engine = testEngine({ allowPrivate, resolve: resolveTo(address) });
        expect(await codeOfFailure(get(engine, 'http://innocent.example/'))).toBe('ADDRESS_REFUSED');
        const literal = address.includes(':') ? `[${address}]` : address;
        expect(await codeOfFailure(get(engine, `http://${literal}/latest/`))).toBe('ADDRESS_REFUSED');
      }
    },
  );

  test('of a list, other ones are refused', async () => {
    const site = await serve((_, response) => response.end('inside'));
    const allowed = testEngine({ allowPrivate: '10.0.0.0/8, 127.0.0.0/8' });
    const refused = testEngine({ allowPrivate: '10.0.0.0/8,192.168.1.7' });
    expect(textOf(await get(allowed, site.origin))).toBe('inside');
    expect(await codeOfFailure(get(refused, site.origin))).toBe('ADDRESS_REFUSED');
  });
});

describe('a redirect is checked like any other request', () => {
  test.each([
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'http://inside.example/',
  ])('to %s', async (location) => {
    const site = await serve((_, response) => response.writeHead(302, { location }).end());
    // The server of this test plays the outside world, so its address alone is allowed.
    const engine = testEngine({
      allowPrivate: (address) => address === '127.0.0.1',
      resolve: (host, done) => {
        done(null, [{ address: host === 'inside.example' ? '192.168.0.1' : '127.0.0.1', family: 4 }]);
      },
    });
    const url = `http://outside.example:${site.port}/`;
    expect(await codeOfFailure(get(engine, url))).toBe('ADDRESS_REFUSED');
    expect(site.accepted()).toBe(1);
  });
});

test('of several addresses only those that may be fetched are used', async () => {
  const site = await serve((_, response) => response.end('reached'));
  const engine = testEngine({
    allowPrivate: (address) => address === '127.0.0.1',
    resolve: resolveTo('10.0.0.1', '127.0.0.1', '::1'),
  });
  expect(textOf(await get(engine, `http://mixed.example:${site.port}/`))).toBe('reached');
});

test('the address that was checked is the one connected to: a second answer is never asked for', async () => {
  const site = await serve((_, response) => response.end('reached'));
  let asked = 0;
  const resolve: Resolve = (_host, done) => {
    asked += 1;
    done(null, [{ address: asked === 1 ? '127.0.0.1' : '10.255.255.1', family: 4 }]);
  };
  const engine = testEngine({ resolve });
  const url = `http://rebinding.example:${site.port}/`;
  expect(textOf(await get(engine, url))).toBe('reached');
  expect(asked).toBe(1);
});

test('connections of one host share one resolution', async () => {
  const site = await serve((_, response) => response.end('ok'));
  let asked = 0;
  const resolve: Resolve = (_host, done) => {
    asked += 1;
    setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }]);
  };
  const engine = testEngine({ resolve });
  const url = `http://busy.example:${site.port}/`;
  await Promise.all(Array.from({ length: 20 }, () => get(engine, url)));
  expect(asked).toBe(1);
  expect(site.accepted()).toBeGreaterThan(1);
});
