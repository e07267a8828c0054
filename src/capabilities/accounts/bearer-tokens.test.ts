import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTenant } from '../../../test/isolation/tenants.ts';
import { openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import { type Settings, settingsSchema } from '../../core/config/settings.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { type BearerTokens, createBearerTokens } from './bearer-tokens.ts';

const AUDIENCE = 'scrapifie';

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
  readonly jwk: JWK;
}

async function makeKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

/** A small issuer: discovery and keys. */
const issuer = {
  url: '',
  keysAt: '',
  published: [] as JWK[],
  asked: [] as string[],
  isDown: false,
};
let server: Server;
let first: SigningKey;

beforeAll(async () => {
  first = await makeKey('first');
  server = createServer((request, response) => {
    issuer.asked.push(request.url ?? '');
    if (issuer.isDown) return void request.socket.destroy();
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        request.url === '/keys'
          ? { keys: issuer.published }
          : { issuer: issuer.url, jwks_uri: issuer.keysAt },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  Object.assign(issuer, { keysAt: `${issuer.url}/keys`, published: [first.jwk], asked: [], isDown: false });
});

const tokenOf = (claims: JWTPayload = {}, key: SigningKey = first, header: object = {}) =>
  new SignJWT({
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'ann',
    account: 'tenant',
    scope: 'jobs:read openid',
    ...claims,
  })
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .setIssuedAt()
    .setExpirationTime(claims.exp ?? '5m')
    .sign(key.privateKey);

const settingsWith = (changes: Partial<Settings> = {}): Settings => ({
  ...settingsSchema.parse({ oidcIssuer: issuer.url, oidcAudience: AUDIENCE }),
  ...changes,
});

describe('tokens of an issuer', () => {
  let platform: Platform;
  const clock = { aheadMs: 0 };
  const opened: BearerTokens[] = [];
  function open(changes: Partial<Settings> = {}): BearerTokens {
    const settings = settingsWith(changes);
    const now = () => Date.now() + clock.aheadMs;
    const tokens = createBearerTokens({ settings, store: platform.store, now, cooldownMs: 0 });
    if (tokens === null) throw new Error('The settings name an issuer.');
    opened.push(tokens);
    return tokens;
  }
  beforeAll(async () => {
    platform = await openPlatform();
    await createTenant(platform, 'tenant');
  });
  afterEach(async () => {
    clock.aheadMs = 0;
    await Promise.all(opened.splice(0).map((tokens) => tokens.close()));
  });
  afterAll(() => platform.close());

  it('name the account and the scopes', async () => {
    const tokens = open();
    const token = await tokenOf();
    expect(await tokens.identify(token)).toMatchObject({
      id: expect.stringMatching(/^oidc:[0-9a-f]{32}$/),
      accountId: 'tenant',
      name: 'ann',
      scopes: ['jobs:read'],
      account: { disabledAt: null },
    });
    expect(tokens.isRemembered(token)).toBe(true);
    expect(await tokens.identify(await tokenOf({ scope: ['admin', 'write'] }))).toMatchObject({
      scopes: ['write', 'admin'],
    });
    expect(await tokens.identify(await tokenOf({ scope: 5 }))).toMatchObject({ scopes: [] });
    // One question about the place of the keys and one about the keys served all of them.
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('are refused for another issuer, audience, account or time', async () => {
    const tokens = open();
    const seconds = Math.floor(Date.now() / 1_000);
    for (const claims of [
      { iss: 'https://other.example' },
      { aud: 'other' },
      { account: 'nobody' },
      { account: 5 },
      { account: '' },
      { sub: undefined },
      { exp: seconds - 60 },
      { nbf: seconds + 60 },
    ] as JWTPayload[]) {
      expect([claims, await tokens.identify(await tokenOf(claims))]).toEqual([claims, null]);
    }
    // The clocks may differ by half a minute.
    expect(await tokens.identify(await tokenOf({ exp: seconds - 10 }))).not.toBeNull();
    expect(await tokens.identify(await tokenOf({ nbf: seconds + 10 }))).not.toBeNull();
  });

  it('are refused without a signature of the issuer', async () => {
    const tokens = open();
    const good = await tokenOf();
    const [head = '', body = '', signature = ''] = good.split('.');
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const other = await makeKey('first');
    const secret = new TextEncoder().encode(JSON.stringify(first.jwk).padEnd(32));
    const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', account: 'tenant', scope: 'admin' };
    const symmetric = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .setExpirationTime('5m')
      .sign(secret);
    for (const token of [
      `${head}.${part({ ...claims, exp: 4_000_000_000 })}.${signature}`,
      `${part({ alg: 'none' })}.${body}.${signature}`,
      `${part({ alg: 'none' })}.${body}.x`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      await tokenOf({}, other),
      symmetric,
      'a.b.c',
    ]) {
      expect(await tokens.identify(token)).toBeNull();
    }
  });

  it('may be signed by the algorithms of the settings only', async () => {
    const key = await makeKey('wide', 'ES384');
    issuer.published = [first.jwk, key.jwk];
    expect(await open().identify(await tokenOf({}, key))).toBeNull();
    expect(await open({ oidcAlgorithms: 'ES384' }).identify(await tokenOf({}, key))).not.toBeNull();
    expect(await open({ oidcAlgorithms: 'ES384' }).identify(await tokenOf())).toBeNull();
    for (const oidcAlgorithms of ['none', 'HS256', 'RS256,HS256', '']) {
      expect(settingsSchema.safeParse({ oidcAlgorithms }).success).toBe(false);
    }
  });

  it('of a new key are accepted when it is published', async () => {
    const tokens = open();
    await tokens.identify(await tokenOf());
    const second = await makeKey('second');
    expect(await tokens.identify(await tokenOf({}, second))).toBeNull();
    issuer.published = [second.jwk];
    expect(await tokens.identify(await tokenOf({}, second))).not.toBeNull();
    expect(await tokens.identify(await tokenOf({ sub: 'bob' }))).toBeNull();
  });

  it('stop when they expire, or their account is disabled', async () => {
    const tokens = open();
    const token = await tokenOf({ exp: Math.floor(Date.now() / 1_000) + 100 });
    expect(await tokens.identify(token)).not.toBeNull();
    clock.aheadMs = 140_000;
    expect(await tokens.identify(token)).toBeNull();
    clock.aheadMs = 0;
    await platform.call({ method: 'POST', url: '/v1/accounts/tenant/disable' });
    const before = await tokens.identify(await tokenOf());
    if (before === null) throw new Error('The token is valid.');
    expect(await tokens.isValid(before)).toBe(true);
    tokens.forgetAccount('tenant' as AccountId);
    expect(await tokens.isValid(before)).toBe(false);
    expect((await tokens.identify(await tokenOf()))?.account.disabledAt).toEqual(expect.any(Number));
    await platform.call({ method: 'POST', url: '/v1/accounts/tenant/enable' });
  });

  it('cannot be judged while the issuer is away, and are when it is back', async () => {
    const tokens = open();
    issuer.isDown = true;
    await expect(tokens.identify(await tokenOf())).rejects.toMatchObject({ code: 'OIDC_UNAVAILABLE' });
    issuer.isDown = false;
    expect(await tokens.identify(await tokenOf())).not.toBeNull();
    issuer.isDown = true;
    expect(await tokens.identify(await tokenOf({ sub: 'bob' }))).not.toBeNull();
  });

  it('are not judged by keys from an address that may not be fetched', async () => {
    issuer.keysAt = issuer.url.replace('127.0.0.1', 'localhost').concat('/keys');
    const asked = open({ allowPrivate: false }).identify(await tokenOf());
    await expect(asked).rejects.toMatchObject({ code: 'OIDC_UNAVAILABLE' });
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration']);
    expect(await open({ allowPrivate: true }).identify(await tokenOf())).not.toBeNull();
  });
});

describe('the API with an issuer', () => {
  it('accepts tokens beside keys, by their scopes', async () => {
    const platform = await openPlatform({ oidcIssuer: issuer.url, oidcAudience: AUDIENCE });
    await createTenant(platform, 'tenant');
    const status = async (token: string, url: string) =>
      (await platform.api.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode;
    const token = await tokenOf();
    expect(await status(token, '/v1/jobs')).toBe(200);
    expect(await status(token, '/v1/keys')).toBe(403);
    expect(await status(await tokenOf({ aud: 'other' }), '/v1/jobs')).toBe(401);
    expect(await status(platform.secret, '/v1/jobs')).toBe(200);
    const account = await platform.api.inject({
      url: '/v1/account',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(account.json().data).toMatchObject({
      id: 'tenant',
      key: { prefix: 'token', scopes: ['jobs:read'] },
    });
    await platform.close();
  });
});
