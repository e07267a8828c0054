import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf, type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';

let world: FirecrawlWorld;
let client: ReturnType<typeof clientOf>;
let site = '';
beforeAll(async () => {
  world = await openFirecrawlWorld();
  client = clientOf(world.origin, world.secret);
  site = world.small.origin;
});
afterAll(async () => {
  await world.close();
});

const urlsOf = (documents: readonly { metadata: { sourceURL: string } }[]) =>
  documents.map(({ metadata }) => metadata.sourceURL.replace(site, '')).sort();

describe('scrape', () => {
  it('gives Markdown of the main part unless told otherwise', async () => {
    const document = await client.scrape(`${site}/docs/one`);
    expect(document.markdown).toContain('turnips');
    expect(document.markdown).not.toContain('Footer of the site');
    expect(document.html).toBeUndefined();
    expect(document.metadata).toMatchObject({
      title: 'One',
      description: 'About One',
      keywords: 'small, site',
      ogTitle: 'One shared',
      language: 'en',
      sourceURL: `${site}/docs/one`,
      url: `${site}/docs/one`,
      statusCode: 200,
    });
    expect(document.metadata.scrapifie).toMatchObject({ outcome: 'ok', jobId: document.metadata.scrapeId });
  });

  it('gives every format that is read out of a page', async () => {
    const formats = [
      'markdown',
      'html',
      'rawHtml',
      'links',
      'images',
      { type: 'attributes', selectors: [{ selector: 'img', attribute: 'alt' }] },
    ];
    const document = await client.scrape(`${site}/`, { formats, onlyMainContent: false });
    expect(document.markdown).toContain('Footer of the site');
    expect(document.html).toContain('<Base64-Image-Removed>');
    expect(document.html).toContain('<h1>Start</h1>');
    expect(document.rawHtml).toContain('<!doctype html>');
    expect(document.links).toContain(`${site}/docs/one`);
    expect(document.images).toContain(`${site}/picture.png`);
    expect(document.attributes).toEqual([
      { selector: 'img', attribute: 'alt', values: ['A picture', 'dot'] },
    ]);
  });

  it('takes the tags that are named, and leaves out others', async () => {
    const options = { formats: ['markdown', 'html'], includeTags: ['main'], excludeTags: ['h1'] };
    const { markdown, html } = await client.scrape(`${site}/docs/two`, options);
    expect(markdown).toContain('potatoes');
    expect(markdown).not.toMatch(/^# Two/m);
    expect(html).not.toContain('<h1>');
  });

  it('answers a page with an error status with what the page says', async () => {
    const document = await client.scrape(`${site}/gone`);
    expect(document.metadata.statusCode).toBe(404);
    expect(document.metadata.error).toBeTruthy();
  });

  it('is found again under its id', async () => {
    const { metadata } = await client.scrape(`${site}/blog`);
    const answer = await fetch(`${world.origin}/v2/scrape/${metadata.scrapeId}`, {
      headers: { authorization: `Bearer ${world.secret}` },
    });
    const body = (await answer.json()) as { success: boolean; data: { markdown: string } };
    expect([answer.status, body.success]).toEqual([200, true]);
    expect(body.data.markdown).toContain('News about the garden');
  });

  it('says in its own words why there is no page', async () => {
    await expect(client.scrape('http://no-such-host.invalid/')).rejects.toMatchObject({ status: 500 });
    await expect(client.scrape(`${site}/private`)).rejects.toMatchObject({ status: 403 });
    await expect(client.scrape(`${site}/`, { formats: ['summary'] })).rejects.toThrow(/not available/);
    await expect(clientOf(world.origin, 'fc-wrong').scrape(site)).rejects.toMatchObject({ status: 401 });
  });
});

describe('parse', () => {
  it('reads a file that is uploaded', async () => {
    const data = Buffer.from(
      '<html><title>Letter</title><main><h1>Letter</h1><p>A letter about a garden and what grows in it.</p></main></html>',
    );
    const document = await client.parse({ data, filename: 'letter.html', contentType: 'text/html' });
    expect(document.markdown).toContain('about a garden');
    expect(document.metadata).toMatchObject({ title: 'Letter', sourceURL: 'letter.html' });
  });
});

describe('batch', () => {
  it('is waited for, and leaves out what is no URL', async () => {
    const urls = [`${site}/docs/one`, `${site}/docs/two`, 'not a url'];
    const started = await client.startBatchScrape(urls, { options: { formats: ['markdown', 'links'] } });
    expect(started.invalidURLs).toEqual(['not a url']);
    const job = await client.batchScrape(urls.slice(0, 2), {
      options: { formats: ['markdown'] },
      pollInterval: 1,
    });
    expect([job.status, job.completed, job.total]).toEqual(['completed', 2, 2]);
    expect(urlsOf(job.data)).toEqual(['/docs/one', '/docs/two']);
  });

  it('refuses an idempotency key that was used', async () => {
    const options = { idempotencyKey: 'd290f1ee-6c54-4b01-90e6-d701748f0851' };
    const first = await client.startBatchScrape([`${site}/blog`], options);
    expect(first.id).toMatch(/^[0-9a-f-]{36}$/);
    await expect(client.startBatchScrape([`${site}/blog`], options)).rejects.toMatchObject({ status: 409 });
  });
});

describe('crawl', () => {
  it('is polled to its end', async () => {
    const job = await client.crawl(`${site}/`, {
      limit: 20,
      scrapeOptions: { formats: ['markdown'] },
      pollInterval: 1,
    });
    expect(job.status).toBe('completed');
    expect(urlsOf(job.data)).toEqual(['/', '/blog', '/docs', '/docs/one', '/docs/two', '/gone', '/imprint']);
    expect(job.completed).toBe(job.total);
  });

  it('stays below its start, and within the paths that are named', async () => {
    const below = await client.crawl(`${site}/docs`, { pollInterval: 1 });
    expect(urlsOf(below.data)).toEqual(['/docs', '/docs/one', '/docs/two']);
    const options = {
      crawlEntireDomain: true,
      includePaths: ['^/docs'],
      excludePaths: ['two$'],
      pollInterval: 1,
    };
    expect(urlsOf((await client.crawl(`${site}/docs`, options)).data)).toEqual(['/docs', '/docs/one']);
  });

  it('gives its documents page by page', async () => {
    const { id } = await client.startCrawl(`${site}/docs`);
    const whole = await client.crawl(`${site}/docs`, { pollInterval: 1 });
    expect(whole.data).toHaveLength(3);
    const headers = { authorization: `Bearer ${world.secret}` };
    const seen: string[] = [];
    await world.platform.jobs.waitFor(id, 60_000);
    let next: string | undefined = `${world.origin}/v2/crawl/${id}?limit=1`;
    for (let page = 0; next !== undefined && page < 10; page += 1) {
      const answer = (await (await fetch(next, { headers })).json()) as {
        success: boolean;
        data: { metadata: { sourceURL: string } }[];
        next?: string;
      };
      expect(answer.success).toBe(true);
      expect(answer.data.length).toBeLessThanOrEqual(1);
      seen.push(...urlsOf(answer.data));
      next = answer.next;
    }
    expect(seen.sort()).toEqual(['/docs', '/docs/one', '/docs/two']);
    const rest = await fetch(`${world.origin}/v2/crawl/${id}?skip=2`, { headers });
    expect(((await rest.json()) as { data: unknown[] }).data).toHaveLength(1);
  });

  it('tells a watcher of each document and of the end', async () => {
    const { id } = await client.startCrawl(`${site}/docs`, { scrapeOptions: { formats: ['markdown'] } });
    const watcher = client.watcher(id, { kind: 'crawl', pollInterval: 60 });
    const documents: { metadata: { sourceURL: string } }[] = [];
    watcher.on('document', (document: (typeof documents)[number]) => documents.push(document));
    const done = new Promise<{ status: string }>((resolve) => watcher.on('done', resolve));
    await watcher.start();
    expect((await done).status).toBe('completed');
    expect(urlsOf(documents)).toEqual(['/docs', '/docs/one', '/docs/two']);
  });

  it('can be cancelled while it goes on, and is among the active ones until then', async () => {
    const open = Promise.withResolvers<void>();
    world.small.pages.set('/slow', { body: 'slow', until: open.promise });
    const { id } = await client.startCrawl(`${site}/slow`);
    const { crawls } = await client.getActiveCrawls();
    expect(crawls.map((crawl: { id: string }) => crawl.id)).toContain(id);
    expect(await client.cancelCrawl(id)).toBe(true);
    open.resolve();
    await world.platform.jobs.waitFor(id, 60_000);
    expect((await client.getCrawlStatus(id)).status).toBe('cancelled');
    await expect(client.cancelCrawl(id)).rejects.toMatchObject({ status: 409 });
  });

  it('names what it did not fetch', async () => {
    const urls = [`${site}/private`, `${site}/loop`];
    const job = await client.batchScrape(urls, { pollInterval: 1 });
    expect(job.data).toEqual([]);
    const { errors, robotsBlocked } = await client.getBatchScrapeErrors(job.id);
    expect(robotsBlocked).toEqual([`${site}/private`]);
    expect(errors.map(({ url }: { url: string }) => url)).toEqual([`${site}/loop`]);
  });
});

it('maps a site', async () => {
  const { links } = await client.map(`${site}/`);
  const urls = links.map(({ url }: { url: string }) => url);
  expect(urls).toEqual(expect.arrayContaining([`${site}/docs`, `${site}/blog`]));
  const found = await client.map(`${site}/`, { search: 'docs', limit: 2 });
  expect(found.links).toHaveLength(2);
});

it('searches the pages that were scraped', async () => {
  await client.scrape(`${site}/docs/one`);
  await world.platform.settleReaders();
  const { web } = await client.search('turnips');
  expect(web[0]).toMatchObject({ url: `${site}/docs/one`, title: 'One', position: 1 });
});

it('tells what the account uses', async () => {
  expect(await client.getConcurrency()).toMatchObject({ maxConcurrency: 256 });
  expect(await client.getCreditUsage()).toMatchObject({ remainingCredits: 1_000_000_000 });
  expect(await client.getQueueStatus()).toMatchObject({ maxConcurrency: 256 });
  expect((await client.getCreditUsageHistorical()).periods[0]).toMatchObject({
    creditsUsed: expect.any(Number),
  });
  expect((await client.getTokenUsageHistorical()).success).toBe(true);
});
