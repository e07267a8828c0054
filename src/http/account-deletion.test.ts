import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { deleteAccounts } from '../capabilities/retention/apply-retention.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({
    smtpUrl: 'smtp://127.0.0.1:1',
    smtpFrom: 'scrapifie@operator.example',
    mailAllowed: 'people.example',
  });
  await platform.work(() => DONE);
});
afterAll(() => platform.close());

async function tenant(id: string) {
  const payload = { id, name: `Name of ${id}` };
  const answer = await platform.call({ method: 'POST', url: '/v1/accounts', payload });
  expect(answer.statusCode).toBe(201);
  return { headers: { 'x-api-key': String(answer.at('data.key.secret')), authorization: '' } };
}

describe('deleting an account', () => {
  it('needs its name, and refuses its keys at once', async () => {
    const { headers } = await tenant('going');
    const scraped = await platform.call({
      method: 'POST',
      url: '/v1/scrape',
      payload: { url: 'https://example.com/' },
      headers,
    });
    expect(scraped.statusCode).toBe(200);
    const url = '/v1/accounts/going';
    const unsure = await platform.call({ method: 'DELETE', url: `${url}?confirm=going` });
    expect([unsure.statusCode, unsure.at('error.code')]).toEqual([409, 'CONFLICT']);
    expect((await platform.call({ url: '/v1/jobs', headers })).statusCode).toBe(200);
    const confirmed = `${url}?confirm=${encodeURIComponent('Name of going')}`;
    const deleted = await platform.call({ method: 'DELETE', url: confirmed });
    expect([deleted.statusCode, deleted.at('data.jobs')]).toEqual([202, 1]);
    await expect.poll(async () => (await platform.call({ url: '/v1/jobs', headers })).statusCode).toBe(401);
    expect(await deleteAccounts(platform.store)).toEqual(['going']);
    expect((await platform.call({ method: 'DELETE', url: confirmed })).statusCode).toBe(404);
    expect((await platform.call({ url })).statusCode).toBe(404);
    const log = await platform.call({ url: '/v1/audit?limit=200' });
    expect(log.payload).toContain('account.delete');
  });

  it('leaves its id and network addresses in the audit log, and no name or e-mail address', async () => {
    const { headers } = await tenant('named');
    const call = (method: 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object, own = true) =>
      platform.call({ method, url, ...(own && { headers }), ...(payload && { payload }) });
    const key = await call('POST', '/v1/keys', { name: 'the laptop of Ada', scopes: ['jobs:read'] });
    const mail = await call('POST', '/v1/webhooks', { url: 'mailto:ada@people.example', events: ['job.*'] });
    const hook = await call('POST', '/v1/webhooks', {
      url: 'https://receiver.example/ada/s3cret',
      events: ['*'],
    });
    expect([key, mail, hook].map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
    await call('PATCH', '/v1/accounts/named', { name: 'Ada Lovelace' }, false);
    await call('DELETE', '/v1/accounts/named?confirm=Ada%20Lovelace', undefined, false);
    await deleteAccounts(platform.store);
    expect((await platform.call({ url: '/v1/accounts/named' })).statusCode).toBe(404);
    const log = await platform.call({ url: '/v1/audit?limit=200' });
    for (const left of [
      '"named"',
      '127.0.0.1',
      'webhook.create',
      'https://receiver.example',
      'account.change',
    ])
      expect(log.payload).toContain(left);
    for (const gone of ['people.example', 's3cret', 'Ada', 'Name of named'])
      expect(log.payload).not.toContain(gone);
  });

  it('cannot be undone: the account is neither enabled nor changed, and gets no key', async () => {
    await tenant('doomed');
    const url = '/v1/accounts/doomed';
    expect((await platform.call({ url })).at('data.deletingSince')).toBeNull();
    const confirmed = `${url}?confirm=${encodeURIComponent('Name of doomed')}`;
    const { at } = await platform.call({ method: 'DELETE', url: confirmed });
    for (const [method, path, payload] of [
      ['POST', `${url}/enable`, undefined],
      ['PATCH', url, { name: 'another' }],
      ['PUT', `${url}/retention`, {}],
      ['POST', '/v1/keys', { account: 'doomed', name: 'late' }],
    ] as const) {
      const refused = await platform.call({ method, url: path, ...(payload && { payload }) });
      expect([path, refused.statusCode, refused.at('error.code')]).toEqual([path, 409, 'CONFLICT']);
    }
    const shown = await platform.call({ url });
    expect(shown.at('data.deletingSince')).toBe(at('data.deletingSince'));
    expect(shown.at('data.disabledAt')).not.toBeNull();
  });

  it('is not for the account of the operator, nor for one that is not there', async () => {
    const own = await platform.call({ method: 'DELETE', url: '/v1/accounts/default?confirm=default' });
    expect(own.statusCode).toBe(409);
    for (const id of ['absent', encodeURIComponent('(deleted)')]) {
      const none = await platform.call({ method: 'DELETE', url: `/v1/accounts/${id}?confirm=x` });
      expect([id, none.statusCode]).toEqual([id, 404]);
    }
  });
});

describe('the retention of an account', () => {
  it('is what it says, as far as the installation allows', async () => {
    const { headers } = await tenant('keeping');
    const url = '/v1/account/retention';
    expect((await platform.call({ url, headers })).at('data.own')).toBeNull();
    const set = await platform.call({ method: 'PUT', url, payload: { bodies: '24h', maxJobs: 5 }, headers });
    expect([set.statusCode, set.at('data.own.bodiesMs')]).toEqual([200, 86_400_000]);
    expect(set.at('data.effective')).toMatchObject({ bodiesMs: 86_400_000, jobsMs: null, maxJobs: 5 });
    const byOperator = await platform.call({
      method: 'PUT',
      url: '/v1/accounts/keeping/retention',
      payload: { jobs: '7d' },
    });
    expect(byOperator.at('data.operator.jobsMs')).toBe(604_800_000);
    expect(byOperator.at('data.own.maxJobs')).toBe(5);
    expect(byOperator.at('data.effective')).toMatchObject({ bodiesMs: 86_400_000, jobsMs: 604_800_000 });
    const absent = await platform.call({
      method: 'PUT',
      url: '/v1/accounts/absent/retention',
      payload: { jobs: '7d' },
    });
    expect(absent.statusCode).toBe(404);
    const shownAbsent = await platform.call({ url: '/v1/accounts/absent/retention' });
    expect(shownAbsent.statusCode).toBe(404);
    const wrong = await platform.call({ method: 'PUT', url, payload: { jobs: '1s' }, headers });
    expect([wrong.statusCode, wrong.at('error.details.0.field')]).toEqual([422, 'jobs']);
  });

  it('is never longer than the operator says, whatever the account says', async () => {
    const { headers } = await tenant('bounded');
    const url = '/v1/accounts/bounded/retention';
    await platform.call({ method: 'PUT', url, payload: { jobs: '1d' } });
    for (const payload of [{}, { jobs: '300d' }]) {
      const set = await platform.call({ method: 'PUT', url: '/v1/account/retention', payload, headers });
      expect([set.statusCode, set.at('data.effective.jobsMs')]).toEqual([200, 86_400_000]);
    }
    const shown = await platform.call({ url });
    expect(shown.at('data.operator.jobsMs')).toBe(86_400_000);
    expect(shown.at('data.own.jobsMs')).toBe(300 * 86_400_000);
    expect((await platform.call({ url, headers })).statusCode).toBe(403);
    const lifted = await platform.call({ method: 'PUT', url, payload: {} });
    expect(lifted.at('data.effective.jobsMs')).toBe(300 * 86_400_000);
  });
});
