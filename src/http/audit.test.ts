import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { type AuditRecord, verifyAudit } from '../core/ports/audit-store.ts';

const clock = { now: 1_800_000_000_000 };
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({}, { now: () => clock.now });
});
afterAll(() => platform.close());

type Shown = Omit<AuditRecord, 'at'> & { readonly at: string };
const list = async (query = '', secret = platform.secret) => {
  const answer = await platform.api.inject({ url: `/v1/audit${query}`, headers: { 'x-api-key': secret } });
  return { answer, items: (answer.json().data?.items ?? []) as Shown[] };
};
const entriesOf = async (action: string) => (await list(`?action=${action}`)).items;

describe('the audit log', () => {
  it('is for keys with the scope admin', async () => {
    for (const scope of ['read', 'write']) {
      const payload = { name: scope, scopes: [scope] };
      const made = await platform.call({ method: 'POST', url: '/v1/keys', payload });
      const { answer } = await list('', made.at('data.secret') as string);
      expect([answer.statusCode, answer.json().error.code]).toEqual([403, 'FORBIDDEN']);
    }
    expect((await list()).answer.statusCode).toBe(200);
    expect((await platform.api.inject({ url: '/v1/audit' })).statusCode).toBe(401);
  });

  it('has the first use of a key from an address each day, and not the others', async () => {
    const ask = (remoteAddress: string) =>
      platform.api.inject({ url: '/v1/account', remoteAddress, headers: { 'x-api-key': platform.secret } });
    for (const address of ['192.0.2.7', '192.0.2.7', '192.0.2.8']) await ask(address);
    const uses = async () =>
      (await entriesOf('key.use')).filter(({ details }) => details.operation === 'GET /v1/account');
    await expect.poll(async () => (await uses()).length).toBe(2);
    expect((await uses()).map(({ details }) => details.address).sort()).toEqual(['192.0.2.7', '192.0.2.8']);
    clock.now += 86_400_000;
    await ask('192.0.2.7');
    await expect.poll(async () => (await uses()).length).toBe(3);
  });

  it('has who started, changed and exported a job, from where, and no secret of its URLs', async () => {
    const started = await platform.call({
      method: 'POST',
      url: '/v1/crawl',
      payload: { urls: ['https://site.example/?api_key=very-secret'], maxPages: 2 },
    });
    const id = started.at('data.id') as string;
    expect(started.statusCode).toBe(202);
    await platform.call({ method: 'POST', url: `/v1/jobs/${id}/cancel` });
    const headers = { accept: 'application/x-ndjson' };
    await platform.call({ url: `/v1/jobs/${id}/results`, headers });
    const about = (await list(`?target=${id}`)).items;
    expect(about.map(({ action }) => action)).toEqual(['job.export', 'job.cancel', 'job.start']);
    const [exported, , start] = about;
    expect(start?.details).toMatchObject({ kind: 'crawl', address: '127.0.0.1' });
    expect(exported?.details).toMatchObject({ what: 'results', address: '127.0.0.1' });
    expect(new Set(about.map(({ actor }) => actor)).size).toBe(1);
    expect(JSON.stringify(about)).not.toContain('very-secret');
  });

  it('is paged and selected by time', async () => {
    const all = (await list('?limit=1000')).items;
    const first = await list('?limit=2');
    const { nextCursor } = first.answer.json().data;
    const second = await list(`?limit=2&cursor=${nextCursor}`);
    const seqs = [...first.items, ...second.items].map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => b - a));
    expect(new Set(seqs).size).toBe(4);
    const dayStart = new Date(clock.now).toISOString();
    const { items } = await list(`?limit=1000&since=${dayStart}`);
    expect(items.length).toBeGreaterThan(0);
    expect(items.length).toBeLessThan(all.length);
    const wrong = await list('?since=yesterday');
    expect([wrong.answer.statusCode, wrong.answer.json().error.code]).toEqual([422, 'VALIDATION_FAILED']);
  });

  it('is exported whole, as a chain that can be verified elsewhere; the export is recorded', async () => {
    const answer = await platform.call({ url: '/v1/audit', headers: { accept: 'application/x-ndjson' } });
    const records = answer.payload
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Shown)
      .map((record) => ({ ...record, at: Date.parse(record.at) }));
    async function* inTurn() {
      yield* records;
    }
    expect(await verifyAudit(inTurn())).toMatchObject({ count: records.length, fault: null });
    expect(records.map(({ action }) => action)).toContain('audit.export');
  });

  it('has no operation that changes it', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const answer = await platform.call({ method, url: '/v1/audit' });
      expect([404, 405]).toContain(answer.statusCode);
    }
  });
});
