import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiWorld, openApiWorld } from './api-world.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld();
});
afterAll(() => world.close());

/** An account with this many credits and nothing each month, and its key. */
async function createAccount(id: string, credits: number): Promise<string> {
  const made = await world.post('/v1/accounts', { id, name: id });
  const url = `/v1/accounts/${id}/credits`;
  await world.call({ method: 'PUT', url, payload: { monthlyCredits: 0 } });
  const granted = await world.post(url, { amount: credits, reason: 'test' });
  expect([made.status, granted.status < 300]).toEqual([201, true]);
  return String((made.body.data?.key as { secret?: string } | undefined)?.secret);
}

const send = (secret: string, url: string, payload: object) =>
  world.send({ method: 'POST', url, payload, headers: { authorization: `Bearer ${secret}` } });
const get = async (secret: string, url: string) =>
  (await world.send({ method: 'GET', url, headers: { authorization: `Bearer ${secret}` } })).json().data;

describe('an account with credits', () => {
  it('pays for each page, sees what it cost, and gets 402 when nothing is left', async () => {
    const secret = await createAccount('payer', 2);
    const scrape = () => send(secret, '/v1/scrape', { url: `${world.site.url}/`, engine: 'http' });
    const first = await scrape();
    expect(first.statusCode, first.payload).toBe(200);
    expect(first.headers).toMatchObject({
      'x-scrapifie-credits-cost': '1',
      'x-scrapifie-credits-remaining': '1',
    });
    expect(first.json().data.trace.credits).toBe(1);
    expect((await scrape()).headers['x-scrapifie-credits-remaining']).toBe('0');
    const refused = await scrape();
    expect([refused.statusCode, refused.json().error.code]).toEqual([402, 'CREDITS_EXHAUSTED']);
    const usage = await get(secret, '/v1/usage?by=engine');
    expect(usage.items).toMatchObject([{ value: 'http', credits: 2 }]);
  });

  it('has a crawl stopped when nothing is left, and goes on after a grant', async () => {
    const secret = await createAccount('crawler', 3);
    const crawl = { urls: [`${world.site.url}/`], maxPages: 8, options: { engine: 'http' } };
    const { id } = (await send(secret, '/v1/crawl', crawl)).json().data;
    const ended = await world.platform.jobs.waitFor(id, 60_000);
    expect(ended?.stopReason).toBe('credits.exhausted');
    expect((await get(secret, '/v1/account')).credits).toMatchObject({ availableCredits: 0 });
    await world.post('/v1/accounts/crawler/credits', { amount: 50, reason: 'more' });
    expect((await send(secret, `/v1/jobs/${id}/resume`, {})).statusCode).toBe(200);
    const whole = await world.platform.jobs.waitFor(id, 60_000);
    const pages = (await get(secret, `/v1/jobs/${id}/results`)).items as unknown[];
    expect([whole?.stopReason, pages.length]).toEqual(['budget.pages', 8]);
    const { credits } = await get(secret, `/v1/jobs/${id}`);
    const [{ credits: used }] = (await get(secret, '/v1/usage?by=job')).items;
    expect(used).toBe(credits);
  });
});
