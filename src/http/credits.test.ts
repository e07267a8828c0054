import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTenant } from '../../test/isolation/tenants.ts';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const CREDITS = '/v1/accounts/default/credits';

describe('credits of an account', () => {
  it('are limited, granted once per Idempotency-Key, shown and lifted again', async () => {
    expect((await platform.call({ url: CREDITS })).at('data.credits')).toBeNull();
    const payload = { monthlyCredits: 100.5, lowCredits: 3 };
    const limited = await platform.call({ method: 'PUT', url: CREDITS, payload });
    expect(limited.at('data.credits')).toMatchObject({ availableCredits: 100.5, lowCredits: 3 });
    const grant = (amount: number) =>
      platform.call({
        method: 'POST',
        url: CREDITS,
        payload: { amount, reason: 'invoice' },
        headers: { 'idempotency-key': 'invoice-1' },
      });
    const first = await grant(20);
    expect(first.statusCode).toBe(201);
    expect(first.at('data')).toMatchObject({ kind: 'grant', amount: 20, reason: 'invoice' });
    const again = await grant(20);
    expect(again.at('data')).toEqual(first.at('data'));
    expect([first, again].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true']);
    expect((await grant(21)).at('error.code')).toBe('IDEMPOTENCY_MISMATCH');
    expect((await platform.call({ url: '/v1/account' })).at('data.credits')).toMatchObject({
      availableCredits: 120.5,
      balanceCredits: 20,
      heldCredits: 0,
    });
    const entries = await platform.call({ url: `${CREDITS}/entries?limit=1` });
    expect(entries.at('data.items.0')).toEqual(first.at('data'));
    const next = await platform.call({ url: `${CREDITS}/entries?cursor=${entries.at('data.nextCursor')}` });
    expect(next.at('data.items.0')).toMatchObject({ kind: 'allowance', amount: 100.5 });
    expect((await platform.call({ method: 'DELETE', url: CREDITS })).at('data.credits')).toBeNull();
  });

  it('are taken away as far as the balance goes, and the refusal says how far', async () => {
    const tenant = await createTenant(platform, 'poor');
    const url = '/v1/accounts/poor/credits';
    const take = (amount: number) =>
      platform.call({ method: 'POST', url, payload: { amount, reason: 'refund' } });
    expect((await take(5)).statusCode).toBe(201);
    const refused = await take(-6);
    expect([refused.statusCode, refused.at('error.code')]).toEqual([409, 'CONFLICT']);
    expect(refused.at('error.message')).toContain('balance of 5 credits');
    expect((await take(-5)).statusCode).toBe(201);
    expect((await tenant.get('/v1/account')).at('data.credits')).toBeNull();
    const entries = await platform.call({ url: `${url}/entries` });
    expect((entries.at('data.items') as { amount: number }[]).map(({ amount }) => amount)).toEqual([-5, 5]);
  });

  it('are not those of an account that there is not, and refuse amounts that cannot be', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await platform.call({ method, url: '/v1/accounts/nobody/credits' })).statusCode).toBe(404);
    }
    for (const payload of [{ amount: 0, reason: 'x' }, { amount: 1 }, { amount: 'x', reason: 'x' }]) {
      const refused = await platform.call({ method: 'POST', url: CREDITS, payload });
      expect(refused.at('error.code')).toBe('VALIDATION_FAILED');
    }
  });
});

describe('usage', () => {
  it('is listed for days that make sense', async () => {
    for (const by of ['day', 'key', 'job', 'engine', 'host']) {
      expect((await platform.call({ url: `/v1/usage?by=${by}` })).statusCode).toBe(200);
    }
    for (const query of [
      'by=x',
      'from=yesterday',
      'from=2026-02-01&to=2026-01-01',
      'from=2020-01-01&to=2026-01-01',
    ]) {
      expect((await platform.call({ url: `/v1/usage?${query}` })).at('error.code')).toBe('VALIDATION_FAILED');
    }
  });

  it('of another account is for the operator alone', async () => {
    const tenant = await createTenant(platform, 'used');
    expect((await platform.call({ url: '/v1/usage?account=used' })).statusCode).toBe(200);
    expect((await tenant.get('/v1/usage?account=used')).statusCode).toBe(200);
    expect((await tenant.get('/v1/usage?account=default')).statusCode).toBe(403);
    expect((await platform.call({ url: '/v1/usage?account=nobody' })).statusCode).toBe(404);
  });
});
