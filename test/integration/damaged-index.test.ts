import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSearches } from '../../src/capabilities/query/search/searches.ts';
import type { ContentHash } from '../../src/core/model/ids.ts';
import { type CrawlInput, openWorld, type Scraper } from './world.ts';

const PAGES = 40;
const LIMIT_MS = 120_000;
const WAIT = { timeout: 30_000 };

/** Everything but the first page, which says how the others are to be read. */
function spoil(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(statSync(path).size - 4_096, 0xa5), 0, undefined, 4_096);
  closeSync(file);
}

const REQUEST = { q: 'page', limit: 100 };

const found = async ({ platform, account: accountId }: Scraper) =>
  (await createSearches(platform.store, platform.search).run({ accountId, hasPrivate: true }, REQUEST)).items;

describe('an installation with damaged derived files', { timeout: LIMIT_MS }, () => {
  it('has every body and finds every page again, and crawls on', async () => {
    const world = await openWorld({ site: { pages: PAGES } });
    const seeds: CrawlInput = { urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip', search: true };
    const job = await world.settled(await world.crawlNow(seeds));
    const before = (await found(world)).length;
    expect(before).toBeGreaterThan(0);
    await world.platform.close();
    spoil(join(world.dataDir, 'blobs/index.db'));
    spoil(join(world.dataDir, 'search.db'));
    const again = await world.reopen();
    for (const page of await again.pages(job)) {
      expect(await again.platform.blobs.get(page.contentHash as never)).not.toBeNull();
    }
    await again.platform.blobs.check();
    expect(again.warnings.join('')).toContain('index of stored bodies rebuilt');
    await vi.waitFor(async () => expect((await found(again)).length).toBe(before), WAIT);
    expect((await again.crawlNow(seeds)).counters).toMatchObject({ pages: PAGES, failed: 0 });
    await again.close();
    await world.site.close();
  });

  it('finds every page again after the file of the search is gone', async () => {
    const world = await openWorld({ site: { pages: PAGES } });
    const seeds: CrawlInput = { urls: [`${world.site.hostUrl(1)}/big/`], sitemap: 'skip', search: true };
    await world.settled(await world.crawlNow(seeds));
    const before = (await found(world)).length;
    expect(before).toBeGreaterThan(0);
    await world.platform.close();
    for (const ending of ['', '-wal', '-shm'])
      rmSync(join(world.dataDir, `search.db${ending}`), { force: true });
    const again = await world.reopen();
    await vi.waitFor(async () => expect((await found(again)).length).toBe(before), WAIT);
    expect(again.warnings.join('')).toContain('search index was empty');
    await again.close();
    await world.site.close();
  });

  it('says of a page that its body is lost, and of others nothing', async () => {
    const world = await openWorld({ site: { pages: 3 } });
    onTestFinished(world.close);
    const job = await world.crawlNow({
      urls: [`${world.site.hostUrl(1)}/big/`],
      sitemap: 'skip',
      options: { formats: ['rawHtml'] },
    });
    const [first] = await world.pages(job);
    await world.platform.blobs.delete([first?.contentHash as ContentHash]);
    const after = await world.pages(job);
    expect(after.map(({ url, rawHtml, lost }) => [url, rawHtml === null, lost])).toEqual(
      after.map(({ url }) => (url === first?.url ? [url, true, ['bodies']] : [url, false, undefined])),
    );
  });
});
