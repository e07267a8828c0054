import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { newKey, newSecret } from '../capabilities/accounts/api-key.ts';
import { createVault } from '../capabilities/sessions/vault.ts';
import { unpackWebhook } from '../capabilities/webhooks/webhook-secrets.ts';
import type { AccountId, WebhookId } from '../core/model/ids.ts';
import { NO_LIMITS } from '../core/ports/account-store.ts';

const VAULT_KEY = '5a'.repeat(32);
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({
    smtpUrl: 'smtp://127.0.0.1:1',
    smtpFrom: 'bot@example.com',
    vaultKey: VAULT_KEY,
    mailAllowed: 'example.com, one@other.example',
    publicUrl: 'https://scrapifie.example/',
  });
});
afterAll(() => platform.close());

const post = (url: string, payload: object = {}, headers: Record<string, string> = {}) =>
  platform.call({ method: 'POST', url, payload, headers });
const get = (url: string) => platform.call({ method: 'GET', url });
const patch = (url: string, payload: object) => platform.call({ method: 'PATCH', url, payload });
const fieldOf = (answer: Answer) => answer.at('error.details.0.field');
const HOOK = { url: 'https://receiver.example/hook', events: ['job.*'] };

describe('POST /v1/webhooks', () => {
  it('answers with an id and a secret, which is shown this one time', async () => {
    const made = await post('/v1/webhooks', HOOK);
    expect(made.statusCode).toBe(201);
    expect(made.at('data.secret')).toMatch(/^whsec_/);
    expect(made.at('data.enabled')).toBe(true);
    const url = `/v1/webhooks/${made.at('data.id')}`;
    expect(made.headers.location).toBe(url);
    const read = await get(url);
    expect(read.at('data')).toMatchObject({ ...HOOK, format: 'json', failingSince: null });
    expect(read.at('data.secret')).toBeUndefined();
    expect((await get('/v1/webhooks')).at('data.items.0.id')).toBe(made.at('data.id'));
  });

  it('keeps a given secret, and hides the addresses of chats', async () => {
    const secret = 'a secret of mine'.replaceAll(' ', '-');
    const url = 'https://hooks.slack.com/services/T0/B0/very-secret';
    const made = await post('/v1/webhooks', { url, events: ['*'], format: 'slack', secret });
    expect(made.at('data.secret')).toBe(secret);
    expect(made.at('data.url')).toBe('https://hooks.slack.com/[hidden]');
    const mail = await post('/v1/webhooks', { url: 'mailto:me@example.com', events: ['job.failed'] });
    expect(mail.at('data.format')).toBe('email');
  });

  it.each([
    ['url', { ...HOOK, url: 'ftp://receiver.example/' }],
    ['url', { ...HOOK, url: 'nonsense' }],
    ['url', { ...HOOK, url: 'https://user:password@receiver.example/' }],
    ['url', { ...HOOK, url: 'mailto:a@example.com,b@example.com' }],
    ['url', { ...HOOK, url: 'mailto:a@example.com?bcc=b@example.com' }],
    ['url', { ...HOOK, url: 'https://ntfy.sh/', format: 'ntfy' }],
    ['format', { ...HOOK, format: 'email' }],
    ['format', { ...HOOK, format: 'pigeon' }],
    ['events', { ...HOOK, events: [] }],
    ['events.0', { ...HOOK, events: ['job.complete'] }],
    ['events.0', { ...HOOK, events: ['jobs.*'] }],
    ['secret', { ...HOOK, secret: 'short' }],
    ['secret', { ...HOOK, secret: 'whsec_tooshort' }],
    ['headers.Content-Length', { ...HOOK, headers: { 'Content-Length': '1' } }],
    ['headers.webhook-id', { ...HOOK, headers: { 'webhook-id': '1' } }],
    ['headers.a', { ...HOOK, headers: { a: 'b\r\nc: d' } }],
  ])('refuses a wrong %s: %j', async (field, request) => {
    const answer = await post('/v1/webhooks', request);
    expect(answer.statusCode).toBe(422);
    expect(fieldOf(answer)).toBe(field);
  });

  it('creates one webhook for one Idempotency-Key, and answers with the same secret', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = [
      await post('/v1/webhooks', HOOK, headers),
      await post('/v1/webhooks', HOOK, headers),
    ];
    expect(second.payload).toBe(first.payload);
    expect(second.headers['idempotency-replayed']).toBe('true');
    const other = await post('/v1/webhooks', { ...HOOK, events: ['*'] }, headers);
    expect(other.at('error.code')).toBe('IDEMPOTENCY_MISMATCH');
  });
});

describe('a webhook', () => {
  it('is changed, disabled, enabled and deleted', async () => {
    const id = String((await post('/v1/webhooks', HOOK)).at('data.id'));
    const url = `/v1/webhooks/${id}`;
    const changed = await patch(url, { events: ['page.*'], enabled: false });
    expect(changed.at('data')).toMatchObject({ events: ['page.*'], enabled: false, disabledReason: 'user' });
    expect((await post(`${url}/test`)).statusCode).toBe(409);
    expect((await patch(url, { enabled: true, url: 'https://other.example/' })).at('data')).toMatchObject({
      enabled: true,
      url: 'https://other.example/',
      format: 'json',
    });
    expect(fieldOf(await patch(url, { format: 'email' }))).toBe('format');
    expect((await patch(url, { url: 'mailto:me@example.com' })).at('data.format')).toBe('email');
    expect((await platform.call({ method: 'DELETE', url })).at('data')).toEqual({ id, deleted: true });
    expect((await get(url)).statusCode).toBe(404);
  });

  it('takes neither headers nor its secret along to another receiver', async () => {
    const headers = { authorization: 'Bearer for-the-first' };
    const made = await post('/v1/webhooks', { ...HOOK, headers });
    const id = made.at('data.id') as WebhookId;
    const stored = async () => {
      const webhook = await platform.store.getWebhook('default' as AccountId, id);
      return webhook === null ? null : unpackWebhook(webhook, createVault(VAULT_KEY));
    };
    const url = `/v1/webhooks/${id}`;
    expect((await patch(url, { url: 'https://receiver.example/other' })).at('data.secret')).toBeUndefined();
    expect(await stored()).toMatchObject({ headers, secrets: [{ secret: made.at('data.secret') }] });
    expect(fieldOf(await patch(url, { secret: 'a-secret-of-my-own' }))).toBe('secret');

    const refused = await patch(url, { url: 'https://elsewhere.example/' });
    expect([refused.at('error.code'), fieldOf(refused)]).toEqual(['SECRETS_BOUND', 'headers']);
    expect(await stored()).toMatchObject({ headers, url: 'https://receiver.example/other' });
    const moved = await patch(url, { url: 'https://elsewhere.example/', headers: {} });
    expect(moved.at('data.secret')).toMatch(/^whsec_/);
    expect(moved.at('data.secret')).not.toBe(made.at('data.secret'));
    expect(await stored()).toEqual({
      url: 'https://elsewhere.example/',
      headers: {},
      secrets: [{ secret: moved.at('data.secret'), until: null }],
    });
    const given = { headers: { 'x-a': '1' }, secret: 'a-secret-of-my-own' };
    const again = await patch(url, { url: 'https://third.example/', ...given });
    expect(again.at('data.secret')).toBe(given.secret);
    expect((await stored())?.headers).toEqual(given.headers);
    expect((await patch(url, { format: 'slack' })).at('error.code')).toBe('SECRETS_BOUND');
    expect((await patch(url, { format: 'slack', headers: {} })).at('data.secret')).toMatch(/^whsec_/);
    expect((await stored())?.headers).toEqual({});
  });

  it('does not show the address of a chat as another format', async () => {
    const chat = { url: 'https://hooks.slack.com/services/very-secret', events: ['*'], format: 'slack' };
    const url = `/v1/webhooks/${(await post('/v1/webhooks', chat)).at('data.id')}`;
    const refused = await patch(url, { format: 'json' });
    expect([refused.statusCode, fieldOf(refused)]).toEqual([422, 'url']);
    expect((await patch(url, { format: 'discord' })).payload).not.toContain('very-secret');
    expect((await get(url)).payload).not.toContain('very-secret');
    const changed = await patch(url, { format: 'json', url: 'https://hooks.slack.com/mine' });
    expect(changed.at('data.url')).toBe('https://hooks.slack.com/mine');
  });

  it('gets a new secret', async () => {
    const made = await post('/v1/webhooks', HOOK);
    const rotated = await post(`/v1/webhooks/${made.at('data.id')}/rotate`);
    expect(rotated.at('data.secret')).toMatch(/^whsec_/);
    expect(rotated.at('data.secret')).not.toBe(made.at('data.secret'));
    const wrong = await post(`/v1/webhooks/${made.at('data.id')}/rotate`, { overlapHours: -1 });
    expect(fieldOf(wrong)).toBe('overlapHours');
  });

  it('has deliveries, which are listed by state and event and sent again', async () => {
    const id = (await post('/v1/webhooks', HOOK)).at('data.id');
    const test = await post(`/v1/webhooks/${id}/test`);
    expect(test.statusCode).toBe(202);
    expect(test.at('data')).toMatchObject({ event: 'webhook.test', state: 'pending', attempts: 0, log: [] });
    const again = await post(`/v1/deliveries/${test.at('data.id')}/redeliver`);
    expect(again.at('data')).toMatchObject({
      redeliveryOf: test.at('data.id'),
      eventId: test.at('data.eventId'),
    });
    const list = `/v1/webhooks/${id}/deliveries`;
    expect((await get(list)).at('data.items.length')).toBe(2);
    expect((await get(`${list}?state=delivered`)).at('data.items.length')).toBe(0);
    expect((await get(`${list}?event=webhook.test&limit=1`)).at('data.items.0.id')).toBe(again.at('data.id'));
    expect((await get(`${list}?state=nonsense`)).statusCode).toBe(422);
    expect((await get(`/v1/deliveries/${test.at('data.id')}`)).at('data.id')).toBe(test.at('data.id'));
  });

  it('is tested and sent again once for one Idempotency-Key', async () => {
    const id = (await post('/v1/webhooks', HOOK)).at('data.id');
    const test = () => post(`/v1/webhooks/${id}/test`, {}, { 'idempotency-key': `test-${id}` });
    const first = await test();
    expect((await test()).at('data.id')).toBe(first.at('data.id'));
    const url = `/v1/deliveries/${first.at('data.id')}/redeliver`;
    const again = () => post(url, {}, { 'idempotency-key': `again-${id}` });
    expect((await again()).at('data.id')).toBe((await again()).at('data.id'));
    expect((await get(`/v1/webhooks/${id}/deliveries`)).at('data.items.length')).toBe(2);
  });

  it('of another account answers exactly like a missing one', async () => {
    const id = (await post('/v1/webhooks', HOOK)).at('data.id');
    const delivery = (await post(`/v1/webhooks/${id}/test`)).at('data.id');
    const secret = newSecret();
    const account = 'other-account' as AccountId;
    const key = newKey(
      account,
      secret,
      { name: 'other', scopes: ['admin'], ratePerMinute: null, expiresAt: null },
      Date.now(),
    );
    await platform.store.createAccount(
      { id: account, name: 'other', plan: 'custom', limits: NO_LIMITS },
      key,
    );
    const headers = { 'x-api-key': secret };
    const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string) =>
      platform.call({ method, url, headers, ...(method === 'PATCH' ? { payload: {} } : {}) });
    const shape = ({ statusCode, payload }: Answer) => [
      statusCode,
      payload.replaceAll(/(?:wh|dl)_[^."]+/g, 'ID'),
    ];
    for (const [method, before, own, after] of [
      ['GET', 'webhooks', id, ''],
      ['PATCH', 'webhooks', id, ''],
      ['POST', 'webhooks', id, '/rotate'],
      ['POST', 'webhooks', id, '/test'],
      ['GET', 'webhooks', id, '/deliveries'],
      ['GET', 'deliveries', delivery, ''],
      ['POST', 'deliveries', delivery, '/redeliver'],
      ['DELETE', 'webhooks', id, ''],
    ] as const) {
      const theirs = await ask(method, `/v1/${before}/${own}${after}`);
      const missing = await ask(
        method,
        `/v1/${before}/${before === 'webhooks' ? 'wh' : 'dl'}_missing${after}`,
      );
      expect(theirs.statusCode).toBe(404);
      expect(shape(theirs)).toEqual(shape(missing));
    }
    expect((await ask('GET', '/v1/webhooks')).at('data.items')).toEqual([]);
    expect((await get(`/v1/webhooks/${id}`)).statusCode).toBe(200);
  });
});

it('an account has at most 100 webhooks: one more is refused, unless the request repeats an earlier one', async () => {
  const own = await openPlatform({});
  try {
    const create = (name: string) => {
      const headers = { 'idempotency-key': name };
      return own.call({ method: 'POST', url: '/v1/webhooks', payload: HOOK, headers });
    };
    for (let index = 0; index < 100; index++) expect((await create(`hook-${index}`)).statusCode).toBe(201);
    const refused = await create('one-more');
    expect([refused.statusCode, refused.at('error.code')]).toEqual([409, 'CONFLICT']);
    expect(refused.at('error.message')).toContain('100 webhooks');
    expect((await create('hook-99')).statusCode).toBe(201);
  } finally {
    await own.close();
  }
});

describe('the webhook of a request', () => {
  it.each([
    ['webhook.url', { url: 'mailto:me@example.com' }],
    ['webhook.url', { url: 'nonsense' }],
    ['webhook.secret', { url: 'https://receiver.example/', secret: 'short' }],
    ['webhook.events.0', { url: 'https://receiver.example/', events: ['nonsense'] }],
  ])('is refused with a wrong %s', async (field, webhook) => {
    const answer = await post('/v1/crawl', { urls: ['https://example.com/'], webhook });
    expect(answer.statusCode).toBe(422);
    expect(fieldOf(answer)).toBe(field);
  });
});

describe('an e-mail address that the operator does not name', () => {
  const ada = { url: 'mailto:ada@people.example', events: ['job.*'] };
  const stored = async (id: WebhookId) => {
    const webhook = await platform.store.getWebhook('default' as AccountId, id);
    if (webhook === null) throw new Error('no webhook');
    return unpackWebhook(webhook, createVault(VAULT_KEY));
  };

  it('is used when its owner has opened the link, and not before', async () => {
    const made = await post('/v1/webhooks', ada, { 'idempotency-key': 'ada' });
    expect(made.at('data')).toMatchObject({ enabled: false, disabledReason: 'unconfirmed' });
    expect((await post('/v1/webhooks', ada, { 'idempotency-key': 'ada' })).at('data')).toEqual(
      made.at('data'),
    );
    const id = made.at('data.id') as WebhookId;
    const url = `/v1/webhooks/${id}`;
    const deliveries = await get(`${url}/deliveries`);
    expect(deliveries.at('data.items')).toMatchObject([{ event: 'webhook.confirm', state: 'pending' }]);
    const enabled = await patch(url, { enabled: true });
    expect([enabled.statusCode, enabled.at('error.code')]).toEqual([409, 'CONFLICT']);
    const { confirm } = await stored(id);
    for (const shown of [made, deliveries]) expect(shown.payload).not.toContain(String(confirm));

    const link = `/confirm-mail/default/${id}/${confirm}`;
    const open = (method: 'GET' | 'POST', path: string) =>
      platform.api.inject({
        method,
        url: path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect((await open('GET', link)).payload).toContain('<form method="post">');
    expect((await get(url)).at('data.enabled')).toBe(false);
    for (const wrong of [
      `/confirm-mail/default/${id}/${'x'.repeat(32)}`,
      `/confirm-mail/other/${id}/${confirm}`,
      `/confirm-mail/default/wh_absent/${confirm}`,
    ]) {
      expect((await open('POST', wrong)).statusCode).toBe(404);
    }
    expect((await open('POST', link)).statusCode).toBe(200);
    expect((await get(url)).at('data')).toMatchObject({ enabled: true, disabledReason: null });
    expect((await open('POST', link)).statusCode).toBe(404);

    const moved = await patch(url, { url: 'mailto:bob@people.example' });
    expect(moved.at('data')).toMatchObject({ enabled: false, disabledReason: 'unconfirmed' });
    expect((await patch(url, { url: 'mailto:One@Other.example' })).at('data.url')).toContain('One@');
    expect((await stored(id)).confirm).toBeUndefined();
  });

  it('gets three links a day at most, whichever account asks', async () => {
    const eve = { ...ada, url: 'mailto:eve@people.example' };
    const made = await post('/v1/webhooks', eve);
    const test = `/v1/webhooks/${made.at('data.id')}/test`;
    expect((await post(test)).statusCode).toBe(202);
    expect((await post('/v1/webhooks', { ...eve, url: 'mailto:EVE@people.example' })).statusCode).toBe(201);
    const refused = await post(test);
    expect([refused.statusCode, refused.at('error.code')]).toEqual([429, 'RATE_LIMITED']);
    expect((await get('/v1/audit?action=webhook.confirm-mail')).payload).not.toContain('people.example');
  });

  it('is refused where no link can be made', async () => {
    const own = await openPlatform({ smtpUrl: 'smtp://127.0.0.1:1', smtpFrom: 'bot@example.com' });
    try {
      const refused = await own.call({ method: 'POST', url: '/v1/webhooks', payload: ada });
      expect([refused.statusCode, refused.at('error.details.0.field')]).toEqual([422, 'url']);
      expect(refused.payload).toContain('SCRAPIFIE_MAIL_ALLOWED');
    } finally {
      await own.close();
    }
  });
});
