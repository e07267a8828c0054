import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiWorld, openApiWorld } from '../integration/api-world.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';

/** The whole way: a request to the API, a crawl, the ledger, the outbox, a delivery, a receiver. */
const LIMIT_MS = 120_000;
const END = /^job\.(?:completed|partially_completed|failed|cancelled)$/;
let world: ApiWorld;
let receiver: Receiver;

beforeAll(async () => {
  world = await openApiWorld({ settings: { publicUrl: 'https://scrapifie.example/' } });
  receiver = await startReceiver();
}, LIMIT_MS);
afterAll(async () => {
  await world.close();
  await receiver.close();
}, LIMIT_MS);
beforeEach(() => {
  receiver.received.length = 0;
  receiver.behave(() => 200);
});

afterEach(async () => {
  const { items } = (await world.call({ method: 'GET', url: '/v1/webhooks' })).body.data as {
    items: { id: string }[];
  };
  for (const { id } of items) await world.call({ method: 'DELETE', url: `/v1/webhooks/${id}` });
});

const pages = (count: number) =>
  Array.from({ length: count }, (_, at) => `${world.site.hostUrl(0)}/big/${at}`);
const at = (path: string) => receiver.received.filter((each) => each.path === path);

async function createWebhook(path: string, events: readonly string[]) {
  const made = await world.post('/v1/webhooks', { url: `${receiver.url}${path}`, events });
  return made.body.data as { id: string; secret: string };
}

/** The message that tells the end of the job. */
async function endOf(jobId: string, path: string): Promise<Received> {
  const find = () => at(path).find(({ message }) => message.data.jobId === jobId && END.test(message.type));
  await expect.poll(find, { timeout: 30_000, interval: 20 }).toBeDefined();
  return find() as Received;
}

describe('webhooks of the account', () => {
  it(
    'get what happens to a crawl, signed and in order, each page once',
    async () => {
      const { id, secret } = await createWebhook('/account', ['job.*', 'page.*']);
      const crawl = { urls: [`${world.site.hostUrl(0)}/big/`], maxPages: 25, sitemap: 'skip' };
      const jobId = String((await world.post('/v1/crawl', crawl)).body.data?.id);
      const end = await endOf(jobId, '/account');
      const got = at('/account');
      expect(got[0]?.message.type).toBe('job.started');
      expect(got.at(-1)).toBe(end);
      const told = got
        .filter(({ message }) => message.type === 'page.done')
        .map(({ message }) => message.data.url);
      const stored = (await world.pages({ id: jobId as never })).map(({ url }) => url);
      expect(told).toEqual(stored);
      expect(new Set(got.map(({ message }) => message.id)).size).toBe(got.length);
      for (const { body, headers } of got) {
        new Webhook(secret).verify(body, headers);
        expect(headers).toMatchObject({ accept: '*/*', 'content-type': 'application/json' });
        expect(headers).not.toHaveProperty('accept-language');
      }
      expect(end.message.data).toMatchObject({
        status: 'completed',
        summary: { pages: 25 },
        links: { self: `https://scrapifie.example/v1/jobs/${jobId}` },
      });
      const page = got.find(({ message }) => message.type === 'page.done');
      expect(page?.message.data.page).toMatchObject({ statusCode: 200, title: expect.any(String) });
      const list = { method: 'GET', url: `/v1/webhooks/${id}/deliveries?state=delivered` } as const;
      const delivered = async () => (await world.call(list)).body.data?.items;
      await expect.poll(delivered, { timeout: 30_000 }).toHaveLength(got.length);
    },
    LIMIT_MS,
  );

  it(
    'property 41: the end of a job has all results up to 100 tasks, and a summary with links beyond',
    async () => {
      await createWebhook('/size', ['job.*']);
      const counts = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 98, max: 103 }));
      await fc.assert(
        fc.asyncProperty(counts, async (count) => {
          const job = await world.post('/v1/batch', { urls: pages(count) });
          const { message } = await endOf(String(job.body.data?.id), '/size');
          const { results, resultsOmitted, summary, links } = message.data;
          expect(summary).toMatchObject({ known: count });
          expect(links).toMatchObject({ results: expect.stringContaining('/results') });
          if (count > 100) expect([results, resultsOmitted]).toEqual([null, 'tasks']);
          else {
            const urls = (results as { url: string }[]).map(({ url }) => url);
            expect(urls.sort()).toEqual(pages(count).sort());
          }
        }),
        { numRuns: 6, examples: [[100], [101]] },
      );
    },
    LIMIT_MS,
  );

  it(
    'property 43: every way for a job to end is told',
    async () => {
      await createWebhook('/ends', ['job.*']);
      const good = `${world.site.hostUrl(0)}/big/1`;
      const bad = `${world.site.hostUrl(1)}/again/500/none/99?end`;
      const ways = {
        completed: [good],
        partially_completed: [good, bad],
        failed: [bad],
        cancelled: [good, `${world.site.hostUrl(2)}/slow/late/1500`],
      };
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...(Object.keys(ways) as (keyof typeof ways)[])), async (status) => {
          const options = { maxAttempts: 1 };
          const job = await world.post('/v1/batch', { urls: ways[status], options });
          const jobId = String(job.body.data?.id);
          if (status === 'cancelled') await world.post(`/v1/jobs/${jobId}/cancel`, {});
          const { message } = await endOf(jobId, '/ends');
          const { body } = await world.call({ method: 'GET', url: `/v1/jobs/${jobId}` });
          expect(message.type).toBe(`job.${body.data?.status}`);
          expect(message.data).toMatchObject({ jobId, status: body.data?.status });
          if (status !== 'cancelled') expect(body.data?.status).toBe(status);
        }),
        { numRuns: 4, examples: [['completed'], ['partially_completed'], ['failed'], ['cancelled']] },
      );
    },
    LIMIT_MS,
  );
});

describe('the webhook of a request', () => {
  it(
    'property 42: is used in place of the webhooks of the account',
    async () => {
      const { id } = await createWebhook('/usual', ['*']);
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.constantFrom('scrape', 'batch', 'crawl'), fc.boolean(), async (kind, isGiven) => {
          runs += 1;
          const [usual, own] = ['/usual', `/own/${runs}`];
          const secret = `secret-of-run-${runs}-long`;
          const headers = { authorization: `Bearer ${runs}` };
          const webhook = { url: `${receiver.url}${own}`, secret, headers };
          const url = `${world.site.hostUrl(0)}/big/${runs}`;
          const request = kind === 'scrape' ? { url, async: true } : { urls: [url], maxPages: 1 };
          const { maxPages: _, ...batch } = request as { maxPages?: number };
          const payload = { ...(kind === 'crawl' ? request : batch), ...(isGiven ? { webhook } : {}) };
          const job = await world.post(`/v1/${kind}`, payload);
          const jobId = String(job.body.data?.id);
          const { headers: sent, body } = await endOf(jobId, isGiven ? own : usual);
          expect(at(isGiven ? usual : own).filter(({ message }) => message.data.jobId === jobId)).toEqual([]);
          if (!isGiven) return;
          expect(sent.authorization).toBe(`Bearer ${runs}`);
          new Webhook(Buffer.from(secret), { format: 'raw' }).verify(body, sent);
          const view = await world.call({ method: 'GET', url: `/v1/jobs/${jobId}` });
          expect(JSON.stringify(view.body)).not.toContain(secret);
          const { webhookId } = (view.body.data?.options ?? {}) as { webhookId?: string };
          const list = await world.call({ method: 'GET', url: `/v1/webhooks/${webhookId}/deliveries` });
          expect(list.body.data?.items).toMatchObject([{ jobId }]);
        }),
        {
          numRuns: 6,
          examples: [
            ['scrape', true],
            ['batch', true],
            ['crawl', true],
          ],
        },
      );
      const listed = await world.call({ method: 'GET', url: '/v1/webhooks' });
      expect(listed.body.data?.items).toMatchObject([{ id }]);
    },
    LIMIT_MS,
  );
});
