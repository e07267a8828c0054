import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import {
  ALL_SCOPES,
  ensureFirstKey,
  hashSecret,
  newKey,
  newSecret,
} from '../../capabilities/accounts/api-key.ts';
import { settingsSchema } from '../../core/config/settings.ts';
import type { KeyId } from '../../core/model/ids.ts';

const clock = { now: 1_800_000_000_000 };
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({}, { now: () => clock.now });
});
afterAll(() => platform.close());

const createKey = async (payload: object) => {
  const answer = await platform.call({ method: 'POST', url: '/v1/keys', payload });
  expect(answer.statusCode).toBe(201);
  return { id: answer.at('data.id') as KeyId, secret: answer.at('data.secret') as string, answer };
};
const statusWith = async (
  headers: Record<string, string>,
  method: 'GET' | 'POST' = 'GET',
  url = '/v1/account',
) =>
  (await platform.api.inject({ method, url, headers, ...(method === 'POST' ? { payload: {} } : {}) }))
    .statusCode;

describe('keys', () => {
  it('are accepted in each of the three headers', async () => {
    const { secret } = platform;
    expect(await statusWith({ authorization: `Bearer ${secret}` })).toBe(200);
    expect(await statusWith({ 'x-api-key': secret })).toBe(200);
    expect(await statusWith({ 'x-service-key': secret })).toBe(200);
    expect(await statusWith({})).toBe(401);
    expect(await statusWith({ authorization: `Basic ${secret}` })).toBe(401);
    expect(await statusWith({ 'x-api-key': `${secret}x` })).toBe(401);
    expect(await statusWith({ 'x-api-key': secret.slice(0, -1) })).toBe(401);
  });

  it('are shown once and kept as a hash', async () => {
    const { id, secret, answer } = await createKey({ name: 'mine' });
    expect(secret).toMatch(/^sk_[\w-]{43}$/);
    expect(answer.at('data')).toMatchObject({
      name: 'mine',
      prefix: secret.slice(0, 11),
      scopes: ['read', 'write'],
    });
    const list = await platform.call({ url: '/v1/keys' });
    expect(list.payload).toContain(id);
    expect(list.payload).not.toContain(secret);
    expect(list.payload).not.toContain(hashSecret(secret));
  });

  it('are created once under an Idempotency-Key, with the same secret', async () => {
    const create = () =>
      platform.call({
        method: 'POST',
        url: '/v1/keys',
        payload: { name: 'once' },
        headers: { 'idempotency-key': 'k' },
      });
    const [first, again] = [await create(), await create()];
    expect([again.statusCode, again.payload]).toEqual([201, first.payload]);
    const { items } = (await platform.call({ url: '/v1/keys' })).at('data') as { items: { name: string }[] };
    expect(items.filter(({ name }) => name === 'once')).toHaveLength(1);
  });

  it('may do what their scopes say', async () => {
    const reader = (await createKey({ name: 'reader', scopes: ['read'] })).secret;
    const writer = (await createKey({ name: 'writer', scopes: ['write'] })).secret;
    const headers = (secret: string) => ({ 'x-api-key': secret });
    expect(await statusWith(headers(reader), 'GET', '/v1/jobs')).toBe(200);
    expect(await statusWith(headers(reader), 'POST', '/v1/scrape')).toBe(403);
    expect(await statusWith(headers(writer), 'GET', '/v1/jobs')).toBe(200);
    expect(await statusWith(headers(writer), 'POST', '/v1/scrape')).toBe(422);
    expect(await statusWith(headers(writer), 'GET', '/v1/keys')).toBe(403);
    expect(await statusWith(headers(writer), 'POST', '/v1/domains/example.com/opt-out')).toBe(403);
  });

  it('stop working the moment they are revoked', async () => {
    const { id, secret } = await createKey({ name: 'short-lived' });
    expect(await statusWith({ 'x-api-key': secret })).toBe(200);
    const revoked = await platform.call({ method: 'DELETE', url: `/v1/keys/${id}` });
    expect(revoked.statusCode).toBe(200);
    expect(await statusWith({ 'x-api-key': secret })).toBe(401);
    expect((await platform.call({ method: 'DELETE', url: `/v1/keys/${id}` })).statusCode).toBe(404);
  });

  it('stop working when they expire', async () => {
    const expiresAt = new Date(clock.now + 60_000).toISOString();
    const { secret } = await createKey({ name: 'for a minute', expiresAt });
    expect(await statusWith({ 'x-api-key': secret })).toBe(200);
    clock.now += 60_000;
    expect(await statusWith({ 'x-api-key': secret })).toBe(401);
    const past = await platform.call({ method: 'POST', url: '/v1/keys', payload: { name: 'x', expiresAt } });
    expect(past.statusCode).toBe(422);
  });

  it('last until the year 9999 at most', async () => {
    const payload = { name: 'x', expiresAt: '9999-12-31T23:59:59-10:00' };
    const answer = await platform.call({ method: 'POST', url: '/v1/keys', payload });
    expect([answer.statusCode, answer.at('error.details.0.field')]).toEqual([422, 'expiresAt']);
  });

  it('give other keys no scope that they do not have themselves', async () => {
    const payload = { name: 'x', scopes: ['write', 'credentials:read'] };
    const refused = await platform.call({ method: 'POST', url: '/v1/keys', payload });
    expect([refused.statusCode, refused.at('error.code')]).toEqual([403, 'FORBIDDEN']);
    const secret = newSecret();
    const holder = { name: 'y', scopes: ['admin', 'credentials:read'] as const };
    const account = await platform.store.defaultAccount();
    const options = { ...holder, ratePerMinute: null, expiresAt: null };
    const key = newKey(account, secret, options, clock.now);
    await platform.store.createKey(key);
    const headers = { 'x-api-key': secret };
    expect((await platform.call({ method: 'POST', url: '/v1/keys', payload, headers })).statusCode).toBe(201);
    await platform.store.revokeKey(account, key.id, clock.now);
  });

  it('are limited in rate one by one, and told so', async () => {
    const { secret } = await createKey({ name: 'slow', ratePerMinute: 2 });
    const ask = () => platform.api.inject({ url: '/v1/account', headers: { 'x-api-key': secret } });
    expect((await ask()).headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' });
    await ask();
    const third = await ask();
    expect(third.statusCode).toBe(429);
    expect(third.json()).toMatchObject({ success: false, error: { code: 'RATE_LIMITED', retryable: true } });
    expect(third.headers).toMatchObject({
      'ratelimit-limit': '2',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
      'retry-after': '60',
    });
    clock.now += 60_000;
    expect((await ask()).statusCode).toBe(200);
    expect((await platform.call({ url: '/v1/account' })).statusCode).toBe(200);
  });

  it('cannot all be revoked', async () => {
    const list = await platform.call({ url: '/v1/keys' });
    const first = (list.at('data.items') as { id: string; name: string }[]).find(
      ({ name }) => name === 'first key',
    );
    const answer = await platform.call({ method: 'DELETE', url: `/v1/keys/${first?.id}` });
    expect([answer.statusCode, answer.at('error.code')]).toEqual([409, 'CONFLICT']);
  });

  it('leave a trail in the audit log', async () => {
    const actions = (await platform.store.listAudit({ limit: 100 })).items.map((entry) => entry.action);
    expect(actions).toContain('key.create');
    expect(actions).toContain('key.revoke');
  });
});

describe('the first key', () => {
  it('is made once', async () => {
    expect(platform.secret).toMatch(/^sk_/);
    expect(await ensureFirstKey(platform.store, {}, clock.now)).toEqual({ secret: null });
  });

  it('of the settings is accepted and never printed', async () => {
    const settings = settingsSchema.parse({ apiKey: 'a-key-of-my-own-choice' });
    expect(await ensureFirstKey(platform.store, settings, clock.now)).toEqual({ secret: null });
    expect(await ensureFirstKey(platform.store, settings, clock.now)).toEqual({ secret: null });
    const key = await platform.store.findKey(hashSecret('a-key-of-my-own-choice'));
    expect(key).toMatchObject({ prefix: 'a-ke', scopes: ALL_SCOPES });
    expect(await statusWith({ 'x-api-key': 'a-key-of-my-own-choice' })).toBe(200);
  });
});

describe('answers that need a key', () => {
  it('are not to be kept by caches, nor is the key taken from the URL', async () => {
    expect((await platform.call({ url: '/v1/account' })).headers['cache-control']).toBe('no-store');
    const refused = await platform.api.inject({ url: `/v1/account?key=${platform.secret}` });
    expect([refused.statusCode, refused.headers['cache-control']]).toEqual([401, 'no-store']);
  });
});

describe('open pages', () => {
  it('need no key', async () => {
    for (const url of ['/healthz', '/readyz', '/openapi.json', '/docs/']) {
      expect((await platform.api.inject({ url })).statusCode).toBe(200);
    }
  });

  it('the metrics are none of them: they need a key, from this machine as well', async () => {
    // A reverse proxy that adds no header comes from this machine, too.
    expect((await platform.api.inject({ url: '/metrics' })).statusCode).toBe(401);
    const known = await platform.api.inject({ url: '/metrics', headers: { 'x-api-key': platform.secret } });
    expect(known.statusCode).toBe(200);
    expect(known.payload).toContain('scrapifie_http_requests_total');
  });
});

describe('the addresses of the settings', () => {
  it('may read the metrics without a key, unless a stranger passed the request on', async () => {
    const other = await openPlatform({ metricsFrom: '192.0.2.0/24', trustedProxies: '10.0.0.1' });
    const statusFrom = async (remoteAddress: string, forwardedFor?: string) =>
      (
        await other.api.inject({
          url: '/metrics',
          remoteAddress,
          headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
        })
      ).statusCode;
    expect(await statusFrom('192.0.2.9')).toBe(200);
    expect(await statusFrom('127.0.0.1')).toBe(401);
    expect(await statusFrom('192.0.2.9', '203.0.113.1')).toBe(401);
    // A proxy that is trusted says who asks; one that is not could say anything.
    expect(await statusFrom('10.0.0.1', '192.0.2.9')).toBe(200);
    expect(await statusFrom('10.0.0.1', '203.0.113.1')).toBe(401);
    expect(await statusFrom('203.0.113.1', '192.0.2.9')).toBe(401);
    await other.close();
  });
});

describe('the key of the metrics', () => {
  it('reads the metrics from anywhere, and nothing else', async () => {
    const metricsKey = 'a-key-for-prometheus';
    const other = await openPlatform({ metricsKey });
    const statusOf = async (url: string, key: string) =>
      (
        await other.api.inject({
          url,
          headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.1' },
        })
      ).statusCode;
    expect(await statusOf('/metrics', metricsKey)).toBe(200);
    expect(await statusOf('/metrics', other.secret)).toBe(200);
    expect(await statusOf('/metrics', `${metricsKey}!`)).toBe(401);
    for (const url of ['/v1/account', '/v1/jobs', '/v1/system']) {
      expect(await statusOf(url, metricsKey)).toBe(401);
    }
    await other.close();
  });
});

describe('wrong keys', () => {
  it('are limited per address, counted and recorded, and do not lock out a key that is in use', async () => {
    const other = await openPlatform({ failedLoginsPerMinute: 3 });
    const ask = (key: string, remoteAddress: string) =>
      other.api.inject({ url: '/v1/account', remoteAddress, headers: { 'x-api-key': key } });
    expect((await ask(other.secret, '192.0.2.1')).statusCode).toBe(200);
    for (let n = 0; n < 3; n++) expect((await ask(`wrong-${n}`, '192.0.2.1')).statusCode).toBe(401);
    const limited = await ask('wrong-again', '192.0.2.1');
    expect([limited.statusCode, limited.json().error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask(other.secret, '192.0.2.1')).statusCode).toBe(200);
    expect((await ask('wrong', '192.0.2.2')).statusCode).toBe(401);
    await expect
      .poll(async () =>
        (await other.store.listAudit({ limit: 10 })).items.map(({ action, actor }) => `${action} ${actor}`),
      )
      .toEqual(
        expect.arrayContaining([
          'login.failed 192.0.2.1',
          'login.limited 192.0.2.1',
          'login.failed 192.0.2.2',
        ]),
      );
    const metrics = (await other.call({ url: '/metrics' })).payload;
    expect(metrics).toContain('scrapifie_failed_logins_total{limited="false"} 4');
    expect(metrics).toContain('scrapifie_failed_logins_total{limited="true"} 1');
    expect(other.lines.join('')).not.toContain('wrong-0');
    await other.close();
  });
});
