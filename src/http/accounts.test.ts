import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTenant, keyOf, type Tenant } from '../../test/isolation/tenants.ts';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { applyPlans } from '../capabilities/accounts/accounts.ts';
import { stopFullAccounts } from '../capabilities/jobs/maintenance/stop-full-accounts.ts';
import type { AccountId, JobId } from '../core/model/ids.ts';
import { defined } from '../lib/defined.ts';

const clock = { aheadMs: 0 };
const PLANS = JSON.stringify({ small: { requestsPerMinute: 5, openUrls: 10 }, big: {} });
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({ plans: PLANS }, { now: () => Date.now() + clock.aheadMs });
});
afterAll(() => platform.close());

const create = (payload: object) => platform.call({ method: 'POST', url: '/v1/accounts', payload });
const change = (id: string, payload: object) =>
  platform.call({ method: 'PATCH', url: `/v1/accounts/${id}`, payload });
const as = (secret: string, url = '/v1/account') =>
  platform.api.inject({ url, headers: { 'x-api-key': secret } });

describe('accounts', () => {
  it('are created with a first key that administers them, and nothing else', async () => {
    const made = await create({ id: 'first', name: 'First', limits: { openUrls: 7 } });
    expect(made.statusCode).toBe(201);
    expect(made.at('data.account')).toMatchObject({
      id: 'first',
      plan: 'custom',
      limits: { requestsPerMinute: null, concurrentPages: null, openUrls: 7, storedBytes: null },
      disabledAt: null,
    });
    const secret = made.at('data.key.secret') as string;
    expect((await as(secret)).json().data).toMatchObject({
      id: 'first',
      name: 'First',
      key: { scopes: ['admin'] },
      limits: { openUrls: 7 },
      used: { openUrls: 0, concurrentPages: 0, storedBytes: 0 },
    });
    expect((await as(secret, '/v1/keys')).json().data.items).toHaveLength(1);
    expect((await as(secret, '/v1/accounts')).statusCode).toBe(403);
    expect((await as(secret, '/v1/audit')).statusCode).toBe(403);
    expect((await create({ id: 'first', name: 'Again' })).at('error.code')).toBe('CONFLICT');
  });

  it('have the limits of their plan, or their own', async () => {
    await create({ id: 'planned', name: 'Planned', plan: 'small' });
    const get = async () => (await platform.call({ url: '/v1/accounts/planned' })).at('data');
    expect(await get()).toMatchObject({ plan: 'small', limits: { requestsPerMinute: 5, openUrls: 10 } });
    expect((await change('planned', { limits: { openUrls: null } })).at('data')).toMatchObject({
      plan: 'custom',
      limits: { requestsPerMinute: 5, openUrls: null },
    });
    expect((await change('planned', { plan: 'big', name: 'Big' })).at('data')).toMatchObject({
      plan: 'big',
      name: 'Big',
      limits: { requestsPerMinute: null, openUrls: null },
    });
    await applyPlans(platform.store, {
      big: { requestsPerMinute: 9, concurrentPages: null, openUrls: null, storedBytes: null },
    });
    expect(await get()).toMatchObject({ plan: 'big', limits: { requestsPerMinute: 9 } });
  });

  it('refuse plans that do not exist, and limits beside a plan', async () => {
    for (const payload of [
      { name: 'x', plan: 'constructor' },
      { name: 'x', plan: 'small', limits: { openUrls: 1 } },
      { name: 'x', limits: { openUrls: -1 } },
      { name: 'x', id: 'Not An Id' },
      { name: '' },
    ]) {
      const answer = await create(payload);
      expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    }
    expect((await change('nobody', { name: 'x' })).statusCode).toBe(404);
  });

  it('are listed', async () => {
    const list = await platform.call({ url: '/v1/accounts?limit=2' });
    expect(list.at('data.items.0.id')).toBe('default');
    const rest = await platform.call({ url: `/v1/accounts?cursor=${list.at('data.nextCursor')}` });
    expect(rest.at('data.items.0.id')).toBe('planned');
  });

  it('are disabled and enabled at once, but for the operator’s own', async () => {
    const { secret } = await createTenant(platform, 'on-and-off');
    const toggle = (id: string, action: string) =>
      platform.call({ method: 'POST', url: `/v1/accounts/${id}/${action}` });
    expect((await as(secret)).statusCode).toBe(200);
    expect((await toggle('on-and-off', 'disable')).at('data.disabledAt')).toEqual(expect.any(String));
    await expect.poll(async () => (await as(secret)).statusCode).toBe(403);
    expect((await as(secret)).json().error.code).toBe('ACCOUNT_DISABLED');
    await toggle('on-and-off', 'enable');
    await expect.poll(async () => (await as(secret)).statusCode).toBe(200);
    expect((await toggle('default', 'disable')).at('error.code')).toBe('CONFLICT');
  });

  it('leave a trail in the audit log', async () => {
    const actions = (await platform.store.listAudit({ limit: 100 })).items.map((entry) => entry.action);
    for (const action of ['create', 'change', 'disable', 'enable']) {
      expect(actions).toContain(`account.${action}`);
    }
  });
});

describe('the requests of an account', () => {
  it('are limited over all of its keys, and the nearer limit is told', async () => {
    await create({ id: 'slow', name: 'Slow', limits: { requestsPerMinute: 3 } });
    const account = 'slow' as AccountId;
    const [one, two] = [await keyOf(platform, account, ['read']), await keyOf(platform, account, ['read'])];
    expect((await as(one)).headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '2' });
    expect((await as(two)).headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '1' });
    await as(one);
    const fourth = await as(two);
    expect([fourth.statusCode, fourth.json().error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(fourth.json().error.message).toContain('account');
    expect(fourth.headers).toMatchObject({
      'ratelimit-remaining': '0',
      'retry-after': expect.stringMatching(/^(59|60)$/),
    });
    clock.aheadMs += 60_000;
    expect((await as(two)).statusCode).toBe(200);
  });
});

describe('keys', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await createTenant(platform, 'with-keys');
  });
  const rotate = (secret: string, id: string, payload?: object) =>
    platform.api.inject({
      method: 'POST',
      url: `/v1/keys/${id}/rotate`,
      headers: { 'x-api-key': secret },
      ...defined({ payload }),
    });

  it('get another secret, while the former one goes on for a while', async () => {
    const key = await tenant.post('/v1/keys', { name: 'rotated' });
    const [id, first] = [key.at('data.id') as string, key.at('data.secret') as string];
    const answer = await rotate(tenant.secret, id, { overlapSeconds: 600 });
    const second = answer.json().data.secret as string;
    expect(answer.json().data).toMatchObject({ id, name: 'rotated', prefix: second.slice(0, 11) });
    // The answer of this one is lost; both earlier secrets go on.
    await rotate(tenant.secret, id);
    for (const secret of [first, second]) expect((await as(secret)).statusCode).toBe(200);
    const last = (await rotate(tenant.secret, id, { overlapSeconds: 0 })).json().data.secret as string;
    expect((await as(last)).statusCode).toBe(200);
    for (const secret of [first, second]) expect((await as(secret)).statusCode).toBe(401);
  });

  it('are not given to a key that lacks a scope of theirs', async () => {
    const holder = await tenant.post('/v1/keys', { name: 'holder', scopes: ['read', 'credentials:read'] });
    const id = holder.at('data.id') as string;
    const admin = await keyOf(platform, tenant.account, ['admin']);
    for (const [secret, payload] of [
      [admin, {}],
      [platform.secret, { account: tenant.account }],
    ] as const) {
      const refused = await rotate(secret, id, payload);
      expect([refused.statusCode, refused.json().error?.code]).toEqual([403, 'FORBIDDEN']);
    }
    // The refused rotation has changed nothing.
    expect((await tenant.get('/v1/keys')).payload).toContain(holder.at('data.prefix'));
    expect((await rotate(tenant.secret, id)).statusCode).toBe(200);
  });

  it('of another account are for the operator alone', async () => {
    const made = await platform.call({
      method: 'POST',
      url: '/v1/keys',
      payload: { name: 'by the operator', account: 'with-keys', scopes: ['read'] },
    });
    expect(made.statusCode).toBe(201);
    const id = made.at('data.id') as string;
    expect((await tenant.get('/v1/keys')).payload).toContain(id);
    expect((await platform.call({ url: '/v1/keys' })).payload).not.toContain(id);
    expect((await platform.call({ url: '/v1/keys?account=with-keys' })).payload).toContain(id);
    for (const account of ['default', 'nobody']) {
      expect((await tenant.get(`/v1/keys?account=${account}`)).statusCode).toBe(403);
    }
    expect((await rotate(platform.secret, id)).statusCode).toBe(404);
    expect((await rotate(platform.secret, id, { account: 'with-keys' })).statusCode).toBe(200);
    const url = `/v1/keys/${id}?account=with-keys`;
    const shown = await platform.call({ url });
    expect([shown.statusCode, shown.at('data.name')]).toEqual([200, 'by the operator']);
    expect(shown.payload).not.toContain('secret');
    expect((await tenant.get(String(made.at('data.links.self')))).at('data')).toEqual(shown.at('data'));
    expect((await platform.call({ url: `/v1/keys/${id}` })).statusCode).toBe(404);
    expect((await tenant.get(`/v1/keys/${id}?account=default`)).statusCode).toBe(403);
    expect((await platform.call({ method: 'DELETE', url })).statusCode).toBe(200);
    const payload = { name: 'x', account: 'nobody' };
    expect((await platform.call({ method: 'POST', url: '/v1/keys', payload })).statusCode).toBe(404);
  });
});

describe('what an account may use', () => {
  const urls = (count: number) => Array.from({ length: count }, (_, n) => `https://many.example/${n}`);
  const batch = (secret: string, count: number) =>
    platform.api.inject({
      method: 'POST',
      url: '/v1/batch',
      headers: { 'x-api-key': secret },
      payload: { urls: urls(count) },
    });

  it('are so many open URLs, and the error names the limit', async () => {
    const { secret } = await createTenant(platform, 'few-urls');
    await change('few-urls', { limits: { openUrls: 5 } });
    expect((await batch(secret, 4)).statusCode).toBe(202);
    const refused = await batch(secret, 2);
    expect([refused.statusCode, refused.json().error.code]).toEqual([429, 'QUEUE_FULL']);
    expect(refused.json().error).toMatchObject({
      message: expect.stringContaining('the account, which is 5'),
      details: { open: 4, added: 2, limit: 5 },
    });
    const tooMany = await batch(secret, 6);
    expect(tooMany.statusCode).toBe(422);
    expect(tooMany.json().error).toMatchObject({
      code: 'VALIDATION_FAILED',
      retryable: false,
      details: [{ field: 'urls', message: expect.stringContaining('the account, which is 5') }],
    });
    expect((await batch(secret, 1)).statusCode).toBe(202);
    expect((await batch(platform.secret, 20)).statusCode).toBe(202);
    await change('few-urls', { limits: { openUrls: null } });
    await expect.poll(async () => (await batch(secret, 20)).statusCode).toBe(202);
  });

  it('are so many stored bytes: new jobs are refused while they are there', async () => {
    const tenant = await createTenant(platform, 'small-store');
    await platform.work(() => ({ ...DONE, body: 'x'.repeat(1_000) }));
    const job = (await tenant.post('/v1/batch', { urls: urls(3) })).at('data.id') as string;
    await tenant.waitFor(job);
    await change('small-store', { limits: { storedBytes: 1_000 } });
    const used = (await platform.call({ url: '/v1/accounts/small-store' })).at('data.used.storedBytes');
    expect(used).toBeGreaterThanOrEqual(3_000);
    await expect.poll(async () => (await batch(tenant.secret, 1)).json().error?.code).toBe('STORAGE_LIMIT');
    await change('small-store', { limits: { storedBytes: null } });
    await expect.poll(async () => (await batch(tenant.secret, 1)).statusCode).toBe(202);
  });

  it('ends with its jobs, which go on when there is room', async () => {
    const idle = await openPlatform();
    const tenant = await createTenant(idle, 'full');
    const id = (await tenant.post('/v1/batch', { urls: urls(2) })).at('data.id') as JobId;
    const limit = (storedBytes: number | null) =>
      idle.call({ method: 'PATCH', url: '/v1/accounts/full', payload: { limits: { storedBytes } } });
    await limit(0);
    expect(await stopFullAccounts(idle)).toBe(1);
    expect(await idle.store.getJob(id)).toMatchObject({
      stopReason: 'limit.stored-bytes',
      counters: { skipped: 2 },
    });
    expect(await stopFullAccounts(idle)).toBe(0);
    const resume = async () =>
      (
        await idle.api.inject({
          method: 'POST',
          url: `/v1/jobs/${id}/resume`,
          headers: { 'x-api-key': tenant.secret },
        })
      ).statusCode;
    await expect.poll(resume).toBe(403);
    await limit(null);
    await expect.poll(resume).toBe(200);
    expect(await idle.store.getJob(id)).toMatchObject({ stopReason: null, counters: { open: 2 } });
    await idle.close();
  });
});
