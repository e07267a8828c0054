import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { PROOF_PATH } from '../capabilities/owners/domain-proof.ts';
import { defined } from '../lib/defined.ts';

let platform: Platform;
let site: Server;
let host = '';
/** What the site of the owner has at the path of the proof. */
let published = '';

beforeAll(async () => {
  site = createServer((request, response) =>
    request.url === PROOF_PATH && published !== ''
      ? response.end(published)
      : response.writeHead(404).end('not found'),
  ).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const address = site.address();
  host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  platform = await openPlatform({
    allowPrivate: true,
    contact: 'crawl@example.test',
    botPurpose: 'Prices <of> books',
  });
});
afterAll(async () => {
  await platform.close();
  site.closeAllConnections();
  site.close();
});

/** A call without a key, from an address of its own, so that limits do not meet. */
let lastAddress = 0;
async function call(method: 'GET' | 'POST', url: string, payload?: object) {
  lastAddress += 1;
  const remoteAddress = `192.0.2.${lastAddress}`;
  return platform.api.inject({ method, url, remoteAddress, ...defined({ payload }) });
}

const form = (url: string, fields: Record<string, string>) =>
  platform.api.inject({
    method: 'POST',
    url,
    remoteAddress: `192.0.2.${++lastAddress}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  });

describe('the page for site owners', () => {
  it('says who crawls, why and how to stop it, without scripts', async () => {
    const answer = await call('GET', '/bot');
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('crawl@example.test');
    expect(answer.body).toContain('Prices &lt;of&gt; books');
    expect(answer.body).toContain('User-agent: ScrapifieBot');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['content-security-policy']).not.toContain('unsafe');
    expect((await call('GET', '/bot/style.css')).headers['content-type']).toContain('text/css');
  });

  it('takes an owner from the form to a request in force', async () => {
    const created = await form('/bot', {
      host,
      want: 'slower',
      secondsBetweenRequests: '7',
      contact: '',
      message: '',
    });
    expect(created.statusCode).toBe(303);
    const url = String(created.headers.location);
    const shown = await call('GET', url);
    const line = /scrapifie-verification=[\w-]+/.exec(shown.body)?.[0] ?? '';
    expect((await form(`${url}/check`, {})).body).toContain('The proof was not found yet');
    published = `${line}\n`;
    expect((await form(`${url}/check`, {})).body).toContain('Your request is in force');
    published = '';
    expect((await call('GET', url)).body).toContain('Your request is in force');
    expect(await platform.store.listOptOuts()).toMatchObject([{ host, minDelayMs: 7_000 }]);
    await platform.store.removeOptOut(host);
  });

  it('refuses in words what it cannot take', async () => {
    const cases: [Record<string, string>, string][] = [
      [{ host: 'co.uk', want: 'stop' }, 'Many owners share this name'],
      [{ host: 'a b', want: 'stop' }, 'not a host name'],
      [{ host, want: 'slower', secondsBetweenRequests: '0' }, 'secondsBetweenRequests'],
      [{ host: '<script>', want: 'stop' }, 'host: not a host name'],
      [{}, 'host'],
    ];
    for (const [fields, words] of cases) {
      const answer = await form('/bot', fields);
      expect([answer.statusCode, answer.body.includes(words)]).toEqual([422, true]);
      expect(answer.body).not.toContain('<script>');
    }
    expect((await call('GET', '/bot/requests/nonsense')).statusCode).toBe(404);
  });
});

describe('a request by program', () => {
  it('takes effect at once for every job, when it is proved', async () => {
    const payload = { urls: [`http://${host}/1`, 'https://other.example/'] };
    const job = (await platform.call({ method: 'POST', url: '/v1/batch', payload })).at('data.id');
    const created = (
      await call('POST', '/v1/owner-requests', { host, want: 'stop', message: 'please' })
    ).json();
    expect(created.data).toMatchObject({ host, want: 'stop', state: 'unproved' });
    const { id, proof } = created.data;
    const early = (await call('POST', `/v1/owner-requests/${id}/check`)).json();
    expect(early.data).toMatchObject({ state: 'unproved' });
    expect(early.data.seen).toHaveLength(3);
    published = proof.file.line;
    const checks = await Promise.all([1, 2, 3].map(() => call('POST', `/v1/owner-requests/${id}/check`)));
    for (const check of checks)
      expect(check.json().data).toMatchObject({ state: 'in-force', provedBy: 'file' });
    published = '';
    expect((await platform.call({ url: `/v1/jobs/${job}` })).at('data.progress')).toMatchObject({
      denied: 1,
    });
    const audit = await platform.call({ url: '/v1/audit?action=domain.owner-request' });
    expect(audit.payload).toContain('domain.owner-request');
    const listed = await platform.call({ url: '/v1/owner-requests' });
    expect(listed.at('data.items.0')).toMatchObject({ host, state: 'in-force', message: 'please' });
    expect(listed.payload).not.toContain(id);
  });

  it('does not open with "slower" what is stopped', async () => {
    const { data } = (await call('POST', '/v1/owner-requests', { host, want: 'slower' })).json();
    published = data.proof.file.line;
    expect((await call('POST', `/v1/owner-requests/${data.id}/check`)).json().data.state).toBe('in-force');
    published = '';
    expect(await platform.store.listOptOuts()).toMatchObject([{ host, minDelayMs: null }]);
  });

  it('is limited for each address', async () => {
    const send = () =>
      platform.api.inject({
        method: 'POST',
        url: '/v1/owner-requests',
        remoteAddress: '198.51.100.1',
        payload: { host: 'one.example', want: 'stop' },
      });
    const statuses: number[] = [];
    for (let at = 0; at < 8; at += 1) statuses.push((await send()).statusCode);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 201, 429, 429]);
  });

  it('shows the requests of all owners to the operator only', async () => {
    expect((await call('GET', '/v1/owner-requests')).statusCode).toBe(401);
  });
});
