import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { newKey, newSecret } from '../capabilities/accounts/api-key.ts';
import type { AccountId } from '../core/model/ids.ts';
import type { KeyScope } from '../core/ports/key-store.ts';
import { defined } from '../lib/defined.ts';

const ACCOUNT = 'default' as AccountId;
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

async function keyWith(scopes: readonly KeyScope[]) {
  const secret = newSecret();
  const wish = { name: 'key', scopes, ratePerMinute: null, expiresAt: null };
  await platform.store.createKey(newKey(ACCOUNT, secret, wish, Date.now()));
  return (method: 'GET' | 'POST' | 'DELETE' | 'PATCH', url: string, payload?: object) =>
    platform.call({
      method,
      url,
      headers: { authorization: `Bearer ${secret}` },
      ...defined({ payload }),
    });
}

it('exports of what stored credentials give access to are for keys that may read that', async () => {
  const holder = await keyWith(['write', 'credentials:read']);
  const other = await keyWith(['write', 'admin']);
  expect((await holder('POST', '/v1/sessions', { name: 'member' })).statusCode).toBe(201);
  const urls = ['https://shop.test/'];
  const hidden = await holder('POST', '/v1/batch', { urls, options: { session: 'member' } });
  const open = await holder('POST', '/v1/batch', { urls });
  const [hiddenId, openId] = [hidden, open].map((answer) => String(answer.at('data.id')));
  const made = await holder('POST', `/v1/jobs/${hiddenId}/exports`, { type: 'raw', format: 'ndjson' });
  const diff = { type: 'diff', format: 'csv', against: hiddenId };
  const compared = await holder('POST', `/v1/jobs/${openId}/exports`, diff);
  const plain = await other('POST', `/v1/jobs/${openId}/exports`, { type: 'full', format: 'csv' });
  expect([made, compared, plain].map(({ statusCode }) => statusCode)).toEqual([202, 202, 202]);

  const idsFor = async (call: typeof other, path = '/v1/exports') =>
    ((await call('GET', path)).at('data.items') as { id: string }[]).map(({ id }) => id).sort();
  const ids = [made, compared, plain].map((answer) => String(answer.at('data.id')));
  expect(await idsFor(holder)).toEqual([...ids].sort());
  expect(await idsFor(other)).toEqual([ids[2]]);
  expect(await idsFor(other, `/v1/jobs/${openId}/exports`)).toEqual([ids[2]]);

  expect((await other('POST', `/v1/jobs/${openId}/exports`, diff)).statusCode).toBe(403);
  for (const id of ids.slice(0, 2)) {
    expect((await other('GET', `/v1/exports/${id}`)).statusCode).toBe(403);
    expect((await other('GET', `/v1/exports/${id}/download`)).statusCode).toBe(403);
    expect((await other('DELETE', `/v1/exports/${id}`)).statusCode).toBe(403);
  }
  expect((await holder('DELETE', `/v1/exports/${ids[0]}`)).statusCode).toBe(200);
});

it('a monitor with stored credentials is changed by keys that may read what it tells', async () => {
  const holder = await keyWith(['write', 'credentials:read']);
  const other = await keyWith(['write', 'admin']);
  const made = await holder('POST', '/v1/monitors', {
    name: 'members',
    urls: ['https://shop.test/'],
    schedule: { every: '1d' },
    options: { session: 'member' },
  });
  expect([made.statusCode, made.at('error')]).toEqual([201, undefined]);
  const path = `/v1/monitors/${made.at('data.id')}`;
  expect((await other('PATCH', path, { name: 'mine' })).statusCode).toBe(403);
  expect((await holder('PATCH', path, { name: 'ours' })).statusCode).toBe(200);
});
