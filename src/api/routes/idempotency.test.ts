import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../../../test/property/api-platform.ts';

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

  it('that cannot be used is refused', async () => {
    const answer = await send('/v1/scrape', { url: 'https://example.com/' }, 'x'.repeat(256));
    expect([answer.statusCode, answer.at('error.details.0.field')]).toEqual([422, 'Idempotency-Key']);
  });
});
