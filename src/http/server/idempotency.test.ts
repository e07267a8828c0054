import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/isolation/tenants.ts';
import { DONE, openPlatform, type Platform } from '../../../test/property/api-platform.ts';
import { hashSecret } from '../../capabilities/accounts/api-key.ts';

let platform: Platform;
const fetched: string[] = [];
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work((task) => {
    fetched.push(task.url);
    return DONE;
  });
});
afterAll(() => platform.close());

const send = (path: string, payload: object, key: string) =>
  platform.call({ method: 'POST', url: path, payload, headers: { 'idempotency-key': key } });

describe('an Idempotency-Key', () => {
  it('makes the same request one job', async () => {
    const first = await send('/v1/batch', { urls: ['https://example.com/1'] }, 'one');
    const again = await send('/v1/batch', { urls: ['https://example.com/1'], options: {} }, 'one');
    expect(again.at('data.id')).toBe(first.at('data.id'));
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.statusCode).toBe(202);
  });

  it('with another body or path is refused', async () => {
    await send('/v1/batch', { urls: ['https://example.com/2'] }, 'two');
    const other = await send('/v1/batch', { urls: ['https://example.com/3'] }, 'two');
    expect([other.statusCode, other.at('error.code')]).toEqual([409, 'IDEMPOTENCY_MISMATCH']);
    const elsewhere = await send('/v1/crawl', { urls: ['https://example.com/2'] }, 'two');
    expect(elsewhere.statusCode).toBe(409);
  });

  it('makes one job of many that race', async () => {
    const racing = Array.from({ length: 20 }, () =>
      send('/v1/scrape', { url: 'https://example.com/race' }, 'three'),
    );
    const answers = await Promise.all(racing);
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.at('data.id'))).size).toBe(1);
    expect(fetched.filter((url) => url === 'https://example.com/race')).toHaveLength(1);
  });

  it('gives the same answer byte for byte, also when the job is gone since', async () => {
    const body = { urls: ['https://example.com/gone'] };
    const first = await send('/v1/batch', body, 'four');
    const id = first.at('data.id') as string;
    await expect
      .poll(async () => (await platform.call({ method: 'DELETE', url: `/v1/jobs/${id}` })).statusCode)
      .toBe(200);
    const again = await send('/v1/batch', body, 'four');
    expect([again.statusCode, again.payload]).toEqual([202, first.payload]);
    expect(again.headers.location).toBe(first.headers.location);
    expect((await platform.call({ url: `/v1/jobs/${id}` })).statusCode).toBe(404);
  });

  it('of another API key of the account is independent, and shows nothing of its answer', async () => {
    const account = await platform.store.defaultAccount();
    const as = async (secret: string) =>
      platform.call({
        method: 'POST',
        url: '/v1/keys',
        payload: { name: 'holder', scopes: ['read', 'credentials:read'] },
        headers: { 'idempotency-key': 'five', 'x-api-key': secret },
      });
    const made = await as(await keyOf(platform, account, ['admin', 'credentials:read']));
    expect(made.statusCode).toBe(201);
    const refused = await as(await keyOf(platform, account, ['admin']));
    expect([refused.statusCode, refused.at('error.code')]).toEqual([403, 'FORBIDDEN']);
    expect(refused.payload).not.toContain(made.at('data.secret'));
  });

  it('goes on with a key that got another secret', async () => {
    const secret = await keyOf(platform, await platform.store.defaultAccount(), ['admin']);
    const call = (by: string, url: string, payload: object) =>
      platform.call({
        method: 'POST',
        url,
        payload,
        headers: { 'idempotency-key': 'six', 'x-api-key': by },
      });
    const own = await platform.store.findKey(hashSecret(secret));
    const first = await call(secret, '/v1/batch', { urls: ['https://example.com/6'] });
    const rotated = await call(secret, `/v1/keys/${own?.id}/rotate`, { overlapSeconds: 0 });
    const again = await call(rotated.at('data.secret') as string, '/v1/batch', {
      urls: ['https://example.com/6'],
    });
    expect([again.payload, again.headers['idempotency-replayed']]).toEqual([first.payload, 'true']);
  });

  it('that cannot be used is refused', async () => {
    const answer = await send('/v1/scrape', { url: 'https://example.com/' }, 'x'.repeat(256));
    expect([answer.statusCode, answer.at('error.details.0.field')]).toEqual([422, 'Idempotency-Key']);
  });
});
