import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { createSessions, type Sessions } from '../capabilities/sessions/sessions.ts';
import { createVault } from '../capabilities/sessions/vault.ts';
import type { AccountId } from '../core/model/ids.ts';
import { defined } from '../lib/defined.ts';

const HOUR_MS = 3_600_000;
const VAULT_KEY = '5a'.repeat(32);
const ACCOUNT = 'default' as AccountId;
const LOGIN = {
  kind: 'login',
  hosts: ['shop.example', '*.shop.example'],
  username: 'ann-the-secret-user',
  password: 'a-very-secret-password',
};

const clock = { now: 1_800_000_000_000 };
let platform: Platform;
let sessions: Sessions;
let reader: string;
let writer: string;
beforeAll(async () => {
  platform = await openPlatform({ vaultKey: VAULT_KEY }, { now: () => clock.now });
  const { store } = platform;
  sessions = createSessions({ store, vault: createVault(VAULT_KEY), now: () => clock.now, hours: 24 });
  const keyWith = async (scope: string) => {
    const payload = { name: scope, scopes: [scope] };
    return (await platform.call({ method: 'POST', url: '/v1/keys', payload })).at('data.secret') as string;
  };
  [reader, writer] = [await keyWith('read'), await keyWith('write')];
});
afterAll(() => platform.close());

const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, headers = {}) =>
  platform.call({ method, url, headers, ...defined({ payload }) });
const as = (secret: string) => ({ 'x-api-key': secret });
const actions = async () =>
  (await platform.store.listAudit({ limit: 100 })).items.map(({ action, target }) => [action, target]);

describe('sessions', () => {
  it('are created with what was asked for, and shown', async () => {
    const made = await call('POST', '/v1/sessions', {
      name: 'shop',
      proxy: { tier: 'residential', country: 'DE' },
      identity: 'browser',
      expiresInHours: 2,
    });
    expect(made.statusCode).toBe(201);
    expect(made.headers.location).toBe('/v1/sessions/shop');
    const expected = {
      name: 'shop',
      isExpired: false,
      credentials: null,
      proxy: { tier: 'residential', country: 'de' },
      identity: 'browser',
      requestCount: 0,
      lastUsedAt: null,
      expiresAt: new Date(clock.now + 2 * HOUR_MS).toISOString(),
    };
    expect(made.at('data')).toMatchObject(expected);
    expect((await call('GET', '/v1/sessions/shop')).at('data')).toEqual(made.at('data'));
    expect((await call('GET', '/v1/sessions')).at('data.items.0')).toMatchObject(expected);
    expect(await actions()).toContainEqual(['session.create', 'shop']);
  });

  it('get a name where none was given', async () => {
    const [one, other] = [await call('POST', '/v1/sessions'), await call('POST', '/v1/sessions', {})];
    expect([one.statusCode, other.statusCode]).toEqual([201, 201]);
    expect(one.at('data.name')).not.toBe(other.at('data.name'));
  });

  it('are made once: the second is a conflict, unless it is the same request again', async () => {
    const payload = { name: 'twice', identity: 'bot' };
    const headers = { 'idempotency-key': 'again' };
    expect((await call('POST', '/v1/sessions', payload, headers)).statusCode).toBe(201);
    const conflict = await call('POST', '/v1/sessions', payload);
    expect([conflict.statusCode, conflict.at('error.code')]).toEqual([409, 'CONFLICT']);
    const replayed = await call('POST', '/v1/sessions', payload, headers);
    expect([replayed.statusCode, replayed.headers['idempotency-replayed']]).toEqual([201, 'true']);
    const other = await call('POST', '/v1/sessions', { name: 'twice' }, headers);
    expect(other.at('error.code')).toBe('IDEMPOTENCY_MISMATCH');
    const nameless = { 'idempotency-key': 'nameless' };
    const first = await call('POST', '/v1/sessions', {}, nameless);
    expect((await call('POST', '/v1/sessions', {}, nameless)).at('data.name')).toBe(first.at('data.name'));
  });

  it('are shown without the values of cookies and what is stored', async () => {
    const use = await sessions.begin(ACCOUNT, 'used');
    use.jar.store(new URL('https://shop.example/'), 'sid=a-secret-cookie; Domain=shop.example', clock.now);
    await sessions.end(use, { proxy: { id: 'list/1', tier: 'mobile', country: null } });
    const again = await sessions.begin(ACCOUNT, 'used');
    const localStorage = { 'https://shop.example': { token: 'a-secret-item' } };
    await sessions.end(again, { storage: { cookies: again.storage.cookies, localStorage } });
    const shown = await call('GET', '/v1/sessions/used');
    expect(shown.at('data')).toMatchObject({
      requestCount: 2,
      lastUsedAt: new Date(clock.now).toISOString(),
      usedProxy: { id: 'list/1', tier: 'mobile', country: null },
      cookies: [{ name: 'sid', domain: '.shop.example' }],
      storage: [{ origin: 'https://shop.example', items: 1 }],
      dropped: { cookies: 0, origins: 0 },
    });
    expect(shown.payload).not.toMatch(/a-secret/);
    expect((await call('GET', '/v1/sessions')).payload).not.toMatch(/a-secret|cookies/);
  });

  it('that have ended are shown as such, and deleted like any other', async () => {
    await call('POST', '/v1/sessions', { name: 'short', expiresInHours: 1 });
    clock.now += HOUR_MS;
    expect((await call('GET', '/v1/sessions/short')).at('data.isExpired')).toBe(true);
    const deleted = await call('DELETE', '/v1/sessions/short');
    expect(deleted.at('data')).toEqual({ name: 'short', deleted: true });
    expect(await actions()).toContainEqual(['session.delete', 'short']);
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await call(method, '/v1/sessions/short')).at('error.code')).toBe('NOT_FOUND');
    }
  });

  it('are listed page by page', async () => {
    const first = await call('GET', '/v1/sessions?limit=2');
    expect(first.at('data.items')).toHaveLength(2);
    const rest = await call('GET', `/v1/sessions?limit=100&cursor=${first.at('data.nextCursor')}`);
    expect(rest.at('data.nextCursor')).toBeNull();
    const foreign = await call('GET', `/v1/credentials?cursor=${first.at('data.nextCursor')}`);
    expect(foreign.at('error.code')).toBe('VALIDATION_FAILED');
  });

  it.each([
    [{ name: '../etc' }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ proxy: { country: 'xx' } }, 'proxy.country'],
    [{ proxy: { tier: 'best' } }, 'proxy.tier'],
    [{ identity: 'human' }, 'identity'],
    [{ expiresInHours: 0 }, 'expiresInHours'],
    [{ credentials: 'not-there' }, 'credentials'],
    [{ cookies: {} }, 'cookies'],
  ])('that are asked for wrongly (%j) are refused at %s', async (payload, field) => {
    const answer = await call('POST', '/v1/sessions', payload);
    expect(answer.statusCode).toBe(422);
    expect(answer.at('error.details.0.field')).toBe(field);
  });

  it('need the scope write to be changed', async () => {
    expect((await call('GET', '/v1/sessions', undefined, as(reader))).statusCode).toBe(200);
    expect((await call('POST', '/v1/sessions', {}, as(reader))).statusCode).toBe(403);
    expect((await call('DELETE', '/v1/sessions/shop', undefined, as(reader))).statusCode).toBe(403);
    expect((await call('POST', '/v1/sessions', {}, as(writer))).statusCode).toBe(201);
  });
});

describe('credentials', () => {
  it('are stored, listed and deleted without ever being shown', async () => {
    const put = await call('PUT', '/v1/credentials/shop-login', LOGIN);
    expect(put.statusCode).toBe(200);
    const list = await call('GET', '/v1/credentials');
    expect(list.at('data.items')).toEqual([put.at('data')]);
    expect(put.at('data')).toMatchObject({ name: 'shop-login', kind: 'login', hosts: LOGIN.hosts });
    const session = await call('POST', '/v1/sessions', { name: 'logged-in', credentials: 'shop-login' });
    expect([session.statusCode, session.at('data.credentials')]).toEqual([201, 'shop-login']);
    const deleted = await call('DELETE', '/v1/credentials/shop-login');
    expect(deleted.statusCode).toBe(200);
    expect((await call('DELETE', '/v1/credentials/shop-login')).statusCode).toBe(404);
    const everything = [put, list, session, deleted].map(({ payload }) => payload).join();
    expect(everything + platform.lines.join()).not.toMatch(/secret-user|very-secret/);
    const audit = JSON.stringify(await platform.store.listAudit({ limit: 100 }));
    expect(audit).toContain('credential.put');
    expect(audit).toContain('credential.delete');
    expect(audit).not.toMatch(/secret-user|very-secret/);
  });

  it('are replaced by another of the same name', async () => {
    await call('PUT', '/v1/credentials/api', { kind: 'bearer', hosts: ['api.example'], token: 'one' });
    clock.now += 1_000;
    const second = await call('PUT', '/v1/credentials/api', {
      kind: 'headers',
      hosts: ['API.example:8443'],
      headers: { 'X-Key': 'two' },
    });
    expect(second.at('data')).toMatchObject({
      kind: 'headers',
      hosts: ['api.example:8443'],
      createdAt: new Date(clock.now - 1_000).toISOString(),
      updatedAt: new Date(clock.now).toISOString(),
    });
  });

  it('that are wrong are refused without being repeated', async () => {
    for (const payload of [
      { ...LOGIN, hosts: ['*.com'] },
      { ...LOGIN, username: '' },
      { ...LOGIN, kind: 'basic', username: 'a:very-secret' },
      { kind: 'bearer', hosts: ['a.example'], token: 'very-secret with spaces' },
      { kind: 'cookies', hosts: ['a.example'], cookies: { a: 'very-secret;' } },
    ]) {
      const answer = await call('PUT', '/v1/credentials/wrong', payload);
      expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
      expect(answer.payload).not.toMatch(/very-secret/);
    }
    expect((await call('PUT', '/v1/credentials/a%2Fb', LOGIN)).statusCode).toBe(422);
  });

  it('need the scope admin to be changed', async () => {
    expect((await call('PUT', '/v1/credentials/x', LOGIN, as(writer))).statusCode).toBe(403);
    expect((await call('DELETE', '/v1/credentials/api', undefined, as(writer))).statusCode).toBe(403);
    expect((await call('GET', '/v1/credentials', undefined, as(reader))).statusCode).toBe(200);
  });

  it('are refused where there is no vault key, and it is said what to set', async () => {
    const bare = await openPlatform({ vaultKey: undefined });
    try {
      const answer = await bare.call({ method: 'PUT', url: '/v1/credentials/shop', payload: LOGIN });
      expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'UNSUPPORTED_OPTION']);
      expect(answer.at('error.message')).toContain('SCRAPIFIE_VAULT_KEY');
      // Cookies are as good as a password.
      expect((await bare.call({ method: 'POST', url: '/v1/sessions' })).statusCode).toBe(422);
    } finally {
      await bare.close();
    }
  });
});
