import type { AddressInfo } from 'node:net';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { hashSecret } from '../capabilities/accounts/api-key.ts';
import { makeSignInLink } from '../capabilities/accounts/sign-ins.ts';
import { DEFAULT_ACCOUNT } from '../core/model/ids.ts';

const DAY_MS = 86_400_000;
const HOST = '127.0.0.1:3000';
const ORIGIN = `http://${HOST}`;
const OWN = { 'x-scrapifie-dashboard': '1' };

let clock = Date.now();
let platform: Platform;
beforeAll(async () => {
  const now = () => clock;
  platform = await openPlatform(
    { trustedProxies: '127.0.0.1', corsOrigins: '*', failedLoginsPerMinute: 30 },
    { now, storeNow: now },
  );
});
afterAll(() => platform.close());

type Headers = Record<string, string>;
const send = (options: InjectOptions & { readonly url: string }) =>
  platform.api.inject({ ...options, headers: { host: HOST, ...options.headers } });
const signIn = (payload: object, headers: Headers = {}) =>
  send({ method: 'POST', url: '/dashboard/session', payload, headers });
const session = async (headers: Headers) => (await send({ url: '/dashboard/session', headers })).json().data;
const cookieOf = (answer: { headers: Record<string, unknown> }): Headers => ({
  cookie: String(answer.headers['set-cookie']).split(';', 1)[0] ?? '',
});
const newKey = async (fields: object = {}) => {
  const made = await platform.call({
    method: 'POST',
    url: '/v1/keys',
    payload: { name: 'browser', ...fields },
  });
  return { id: String(made.at('data.id')), secret: String(made.at('data.secret')) };
};
const signedInBy = async (secret: string) => cookieOf(await signIn({ key: secret }));
const tokenOf = async () =>
  (await makeSignInLink(platform.store, DEFAULT_ACCOUNT, ORIGIN)).split('#token=')[1] ?? '';
const codeOf = (answer: { json(): { error?: { code: string } } }) => answer.json().error?.code ?? 'none';

describe('signing in with a key', () => {
  it('gives a cookie that scripts cannot read and other sites cannot send, and never the key', async () => {
    const { id, secret } = await newKey({ scopes: ['read'] });
    const answer = await signIn({ key: secret });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      success: true,
      data: { account: { id: 'default' }, keyId: id, scopes: ['read'], isAdmin: false },
    });
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(/^scrapifie-3000=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
    expect(cookie + answer.payload).not.toContain(secret);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('behind a proxy with TLS, gives a cookie for TLS alone', async () => {
    const tls = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'scrape.example' };
    const answer = await signIn({ key: platform.secret }, { ...tls, origin: 'https://scrape.example' });
    expect(answer.headers['set-cookie']).toMatch(/^__Host-scrapifie=.*; SameSite=Strict; Secure$/);
    expect(await session({ ...tls, ...cookieOf(answer) })).toMatchObject({ signedIn: true });
  });

  it('tells who is signed in, and answers the same way when no one is', async () => {
    const cookie = await signedInBy(platform.secret);
    expect(await session(cookie)).toMatchObject({
      signedIn: true,
      account: { id: 'default', name: expect.any(String) },
      key: { id: expect.any(String), prefix: expect.any(String), name: 'first key' },
      isAdmin: true,
      isOperator: true,
      version: '0.0.0-test',
      role: 'all',
      profile: 'embedded',
    });
    const none = { signedIn: false, version: '0.0.0-test', role: 'all', profile: 'embedded' };
    expect(await session({})).toEqual(none);
    expect(await session({ cookie: `scrapifie-3000=${'x'.repeat(43)}` })).toEqual(none);
    expect(await session({ cookie: 'scrapifie-3000=; other=1; =' })).toEqual(none);
  });

  it('lets the browser call the API with the scopes and the limits of the key', async () => {
    const { secret } = await newKey({ scopes: ['read'], ratePerMinute: 5 });
    const cookie = await signedInBy(secret);
    const listed = await send({ url: '/v1/jobs', headers: cookie });
    expect([listed.statusCode, listed.headers['ratelimit-limit']]).toEqual([200, '5']);
    expect(codeOf(await send({ url: '/v1/keys', headers: cookie }))).toBe('FORBIDDEN');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send({ url: '/v1/jobs', headers: cookie })),
    );
    expect(answers.map(codeOf)).toContain('RATE_LIMITED');
  });

  it('needs exactly one of key and token, and no token of an issuer', async () => {
    for (const payload of [{}, { key: 'a', token: 'b' }, { key: '' }, { key: 'aa.bb.cc' }, { other: 1 }]) {
      const answer = await signIn(payload);
      expect([answer.statusCode, codeOf(answer)]).toEqual([422, 'VALIDATION_FAILED']);
    }
  });

  it('counts wrong secrets of an address like wrong keys, and limits it', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const codes: string[] = [];
    for (let at = 0; at < 31; at += 1) {
      const payload = at % 2 === 0 ? { key: `wrong ${at}` } : { token: `wrong ${at}` };
      codes.push(codeOf(await signIn(payload, from)));
    }
    expect(new Set(codes.slice(0, 30))).toEqual(new Set(['UNAUTHENTICATED']));
    expect(codes[30]).toBe('RATE_LIMITED');
    const listed = await send({ url: '/v1/jobs', headers: { ...from, 'x-api-key': 'another wrong key' } });
    expect(codeOf(listed)).toBe('RATE_LIMITED');
  });

  it('is in the audit log, with the address and without the secret', async () => {
    const cookie = await signedInBy(platform.secret);
    await send({ method: 'DELETE', url: '/dashboard/session', headers: { ...cookie, ...OWN } });
    await vi.waitFor(async () => {
      const { items } = await platform.store.listAudit({ limit: 10 });
      const actions = items.map(({ action }) => action);
      expect(actions).toEqual(expect.arrayContaining(['dashboard.sign-in', 'dashboard.sign-out']));
      expect(JSON.stringify(items)).not.toContain(cookie.cookie?.split('=')[1]);
    });
  });
});

describe('a sign-in ends', () => {
  const isSignedIn = async (cookie: Headers) => {
    const listed = await send({ url: '/v1/jobs', headers: cookie });
    const { signedIn } = await session(cookie);
    expect(listed.statusCode === 200).toBe(signedIn);
    return signedIn;
  };

  it('when the browser signs out, and when it signs in anew', async () => {
    const cookie = await signedInBy(platform.secret);
    const out = await send({ method: 'DELETE', url: '/dashboard/session', headers: { ...cookie, ...OWN } });
    expect(out.headers['set-cookie']).toMatch(/^scrapifie-3000=; Path=\/; Max-Age=0;/);
    expect(await isSignedIn(cookie)).toBe(false);
    const first = await signedInBy(platform.secret);
    const second = cookieOf(await signIn({ key: platform.secret }, first));
    expect([await isSignedIn(first), await isSignedIn(second)]).toEqual([false, true]);
  });

  it('at once when its key is revoked, or gets another secret', async () => {
    const revoked = await newKey();
    const rotated = await newKey();
    const cookies = [await signedInBy(revoked.secret), await signedInBy(rotated.secret)];
    expect(await Promise.all(cookies.map(isSignedIn))).toEqual([true, true]);
    await platform.call({ method: 'DELETE', url: `/v1/keys/${revoked.id}` });
    const url = `/v1/keys/${rotated.id}/rotate`;
    await platform.call({ method: 'POST', url, payload: { overlapSeconds: 0 } });
    expect(await Promise.all(cookies.map(isSignedIn))).toEqual([false, false]);
  });

  it('at once when its account is disabled', async () => {
    const made = await platform.call({ method: 'POST', url: '/v1/accounts', payload: { name: 'Other' } });
    const cookie = await signedInBy(String(made.at('data.key.secret')));
    expect(await session(cookie)).toMatchObject({ account: { name: 'Other' }, isOperator: false });
    const url = `/v1/accounts/${made.at('data.account.id')}/disable`;
    await platform.call({ method: 'POST', url });
    expect(await session(cookie)).toMatchObject({ signedIn: false });
    expect(codeOf(await send({ url: '/v1/jobs', headers: cookie }))).toBe('ACCOUNT_DISABLED');
  });

  it('with its key, after a week without use, and after 30 days in any case', async () => {
    const expiresAt = new Date(clock + DAY_MS).toISOString();
    const expiring = await signedInBy((await newKey({ expiresAt })).secret);
    const idle = await signedInBy(platform.secret);
    const used = await signedInBy(platform.secret);
    clock += 2 * DAY_MS;
    expect(await isSignedIn(expiring)).toBe(false);
    for (let day = 2; day < 29; day += 3) {
      expect(await isSignedIn(used)).toBe(true);
      clock += 3 * DAY_MS;
    }
    expect(await isSignedIn(idle)).toBe(false);
    clock += 2 * DAY_MS;
    expect(await isSignedIn(used)).toBe(false);
  });
});

describe('a sign-in link', () => {
  it('signs in once, as the owner of the installation, and is kept as a hash', async () => {
    const token = await tokenOf();
    const answer = await signIn({ token });
    expect(answer.json().data).toMatchObject({ isOperator: true, key: { name: 'first key' } });
    expect(await session(cookieOf(answer))).toMatchObject({ signedIn: true });
    const again = await signIn({ token });
    expect([again.statusCode, codeOf(again)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(again.headers['set-cookie']).toBeUndefined();
    expect(await platform.store.takeSignInLink(token)).toBeNull();
    expect(await platform.store.takeSignInLink(hashSecret(await tokenOf()))).not.toBeNull();
  });

  it('is of no use after an hour', async () => {
    const token = await tokenOf();
    clock += 3_600_001;
    expect(codeOf(await signIn({ token }))).toBe('UNAUTHENTICATED');
  });

  it('works only under names that no foreign name server can lead here', async () => {
    const token = await tokenOf();
    const rebound = await signIn({ token }, { host: 'attacker.example:3000' });
    expect([rebound.statusCode, codeOf(rebound)]).toEqual([403, 'CROSS_SITE']);
    expect((await signIn({ token }, { host: 'localhost:3000' })).statusCode).toBe(200);
  });
});

describe('requests with the cookie', () => {
  const change = (headers: Headers) =>
    send({ method: 'POST', url: '/v1/keys', payload: { name: 'k' }, headers });

  it.each<[string, Headers, number]>([
    ['nothing else', {}, 403],
    ['the header of the dashboard', OWN, 201],
    ['the header with another value', { 'x-scrapifie-dashboard': '0' }, 403],
    ['the header, from the same origin', { ...OWN, 'sec-fetch-site': 'same-origin', origin: ORIGIN }, 201],
    ['the same origin without the header', { 'sec-fetch-site': 'same-origin', origin: ORIGIN }, 403],
    ['the header, from another site', { ...OWN, 'sec-fetch-site': 'cross-site' }, 403],
    ['the header, from another port', { ...OWN, 'sec-fetch-site': 'same-site' }, 403],
    ['the header, and another origin', { ...OWN, origin: 'http://127.0.0.1:4000' }, 403],
    ['the header, and the same name on the port of HTTP', { ...OWN, origin: 'http://127.0.0.1' }, 403],
    ['the header, and no origin to speak of', { ...OWN, origin: 'null' }, 403],
    [
      'the header, and origins that disagree',
      { ...OWN, 'sec-fetch-site': 'same-origin', origin: 'https://x.example' },
      403,
    ],
  ])('that change something and have %s', async (_what, headers, statusCode) => {
    const answer = await change({ ...(await signedInBy(platform.secret)), ...headers });
    expect([answer.statusCode, codeOf(answer)]).toEqual([
      statusCode,
      statusCode === 403 ? 'CROSS_SITE' : 'none',
    ]);
  });

  it('read without the header, and with a key beside the cookie the key counts', async () => {
    const cookie = await signedInBy(platform.secret);
    expect((await send({ url: '/v1/jobs', headers: cookie })).statusCode).toBe(200);
    const { secret } = await newKey({ scopes: ['read'] });
    const listed = await send({ url: '/v1/keys', headers: { ...cookie, 'x-api-key': secret } });
    expect(codeOf(listed)).toBe('FORBIDDEN');
  });

  it('get live events as well, until the browser signs out', async () => {
    await platform.api.listen({ port: 0, host: '127.0.0.1' });
    const { port } = platform.api.server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ key: platform.secret });
    const signedIn = await fetch(`${origin}/dashboard/session`, { method: 'POST', headers, body });
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const stream = await fetch(`${origin}/v1/events`, { headers: { cookie } });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    await fetch(`${origin}/dashboard/session`, { method: 'DELETE', headers: { cookie, ...OWN } });
    // Comes to an end only when the server ends the stream.
    expect(await stream.text()).toMatch(/^retry: /);
  });

  it('are not taken by the server for language models', async () => {
    const cookie = await signedInBy(platform.secret);
    const asked = await send({ method: 'POST', url: '/mcp', payload: {}, headers: { ...cookie, ...OWN } });
    expect(asked.statusCode).toBe(401);
  });

  it.each([
    ['http://a.example', 'a.example:443', 403],
    ['https://a.example', 'a.example:80', 403],
    ['http://a.example', 'a.example:80', 200],
    ['https://a.example', 'a.example:443', 200],
    // A proxy may pass on the name alone.
    ['https://a.example', 'a.example', 200],
    ['http://a.example:8080', 'a.example', 403],
  ])('sign in from a page at %s of the server at %s: %i', async (origin, host, statusCode) => {
    expect((await signIn({ key: platform.secret }, { origin, host })).statusCode).toBe(statusCode);
  });

  it('sign in and out from the same origin only, and no other origin may send them', async () => {
    const headers = { origin: 'https://attacker.example', 'sec-fetch-site': 'cross-site' };
    const forced = await signIn({ key: platform.secret }, headers);
    expect([codeOf(forced), forced.headers['set-cookie']]).toEqual(['CROSS_SITE', undefined]);
    const cookie = await signedInBy(platform.secret);
    const out = await send({ method: 'DELETE', url: '/dashboard/session', headers: cookie });
    expect(codeOf(out)).toBe('CROSS_SITE');
    expect(await session(cookie)).toMatchObject({ signedIn: true });
    for (const method of ['GET', 'OPTIONS'] as const) {
      const answer = await send({
        method,
        url: '/v1/jobs',
        headers: { ...cookie, origin: 'https://attacker.example', 'access-control-request-method': 'POST' },
      });
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      expect(String(answer.headers['access-control-allow-headers'] ?? '')).not.toMatch(/dashboard/i);
    }
  });
});
