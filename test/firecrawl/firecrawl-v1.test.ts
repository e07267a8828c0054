import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf, type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';

let world: FirecrawlWorld;
let client: ReturnType<typeof clientOf>;
let site = '';
beforeAll(async () => {
  world = await openFirecrawlWorld();
  client = clientOf(world.origin, world.secret).v1;
  site = world.small.origin;
});
afterAll(async () => {
  await world.close();
});

interface Found {
  readonly metadata: { readonly sourceURL: string };
}
const urlsOf = (documents: readonly Found[]) =>
  documents.map(({ metadata }) => metadata.sourceURL.replace(site, '')).sort();

describe('the client of v1', () => {
  it('scrapes', async () => {
    const page = await client.scrapeUrl(`${site}/docs/one`, {
      formats: ['markdown', 'html', 'rawHtml', 'links'],
    });
    expect(page.success).toBe(true);
    expect(page.markdown).toContain('turnips');
    expect(page.html).toContain('turnips');
    expect(page.rawHtml).toContain('<!doctype html>');
    expect(page.links).toContain(`${site}/`);
    expect(page.metadata).toMatchObject({ title: 'One', sourceURL: `${site}/docs/one`, statusCode: 200 });
  });

  it('is told of what the server cannot do', async () => {
    await expect(client.scrapeUrl(`${site}/`, { formats: ['summary'] })).rejects.toThrow(/not available/);
    await expect(client.scrapeUrl(`${site}/`, { formats: ['nonsense'] })).rejects.toMatchObject({
      statusCode: 400,
    });
    await expect(client.generateLLMsText(`${site}/`, {})).rejects.toThrow(/status code 501/);
    await expect(clientOf(world.origin, 'fc-wrong').v1.scrapeUrl(site, {})).rejects.toMatchObject({
      statusCode: 401,
    });
  });

  it('waits for a batch, under the path of crawls', async () => {
    const job = await client.batchScrapeUrls([`${site}/docs/one`, `${site}/docs/two`], {
      formats: ['markdown'],
    });
    expect([job.success, job.status, job.completed]).toEqual([true, 'completed', 2]);
    expect(urlsOf(job.data)).toEqual(['/docs/one', '/docs/two']);
  });

  it('crawls by polling, no deeper than it is told', async () => {
    const job = await client.crawlUrl(`${site}/`, {
      limit: 20,
      maxDepth: 1,
      scrapeOptions: { formats: ['markdown'] },
    });
    expect([job.success, job.status]).toEqual([true, 'completed']);
    expect(urlsOf(job.data)).toEqual(['/', '/blog', '/docs', '/gone', '/imprint']);
    const { id } = await client.asyncCrawlUrl(`${site}/docs`, {});
    const errors = await client.checkCrawlErrors(id);
    expect(errors.errors).toEqual([]);
  });

  it('watches a crawl to its end, which it hears of once', async () => {
    const watcher = await client.crawlUrlAndWatch(`${site}/docs`, {
      scrapeOptions: { formats: ['markdown'] },
    });
    const documents: Found[] = [];
    let ends = 0;
    await new Promise<void>((resolve, reject) => {
      watcher.addEventListener('document', (event: CustomEvent<Found>) => documents.push(event.detail));
      watcher.addEventListener('error', (event: CustomEvent) =>
        reject(new Error(JSON.stringify(event.detail))),
      );
      watcher.addEventListener('done', () => {
        ends += 1;
        setImmediate(resolve);
      });
    });
    expect(urlsOf(documents)).toEqual(['/docs', '/docs/one', '/docs/two']);
    expect(ends).toBe(1);
  });

  it('cancels a crawl', async () => {
    const open = Promise.withResolvers<void>();
    world.small.pages.set('/slow', { body: 'slow', until: open.promise });
    const { id } = await client.asyncCrawlUrl(`${site}/slow`, {});
    expect(await client.cancelCrawl(id)).toMatchObject({ status: 'cancelled' });
    open.resolve();
  });

  it('maps to plain addresses', async () => {
    const { success, links } = await client.mapUrl(`${site}/`, {});
    expect(success).toBe(true);
    expect(links).toEqual(expect.arrayContaining([`${site}/docs`, `${site}/blog`]));
  });

  it('searches to one list, with the pages where formats are asked for', async () => {
    await client.scrapeUrl(`${site}/docs/two`, {});
    await world.platform.settleReaders();
    const { data } = await client.search('potatoes', { scrapeOptions: { formats: ['markdown'] } });
    expect(data[0]).toMatchObject({ url: `${site}/docs/two`, markdown: expect.stringContaining('potatoes') });
  });

  it('is told what the account uses', async () => {
    expect((await client.getCreditUsage()).data).toMatchObject({ remaining_credits: 1_000_000_000 });
    expect((await client.getTokenUsage()).data).toMatchObject({ plan_tokens: 1_000_000_000 });
  });
});
