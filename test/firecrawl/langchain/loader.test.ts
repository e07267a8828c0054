import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FirecrawlWorld, openFirecrawlWorld } from '../firecrawl-world.ts';

interface Loader {
  load(): Promise<{ readonly pageContent: string; readonly metadata: { readonly sourceURL?: string } }[]>;
}
/** A variable keeps the compiler from looking for a package that is installed by itself. */
const LOADER = '@langchain/community/document_loaders/web/firecrawl';

let world: FirecrawlWorld;
beforeAll(async () => {
  world = await openFirecrawlWorld();
});
afterAll(async () => {
  await world.close();
});

async function load(path: string, mode: 'scrape' | 'crawl' | 'map', params: object = {}) {
  const { FireCrawlLoader } = (await import(LOADER)) as { FireCrawlLoader: new (options: object) => Loader };
  const url = `${world.small.origin}${path}`;
  return new FireCrawlLoader({ url, apiKey: world.secret, apiUrl: world.origin, mode, params }).load();
}

it('loads a page, a crawl and a map with the loader of LangChain', async () => {
  const [page] = await load('/docs/one', 'scrape');
  expect(page?.pageContent).toContain('turnips');
  expect(page?.metadata).toMatchObject({ title: 'One', statusCode: 200 });
  const pages = await load('/docs', 'crawl', { limit: 10 });
  expect(pages.map(({ metadata }) => metadata.sourceURL?.replace(world.small.origin, '')).sort()).toEqual([
    '/docs',
    '/docs/one',
    '/docs/two',
  ]);
  const urls = (await load('/', 'map')).map(({ pageContent }) => JSON.parse(pageContent) as string);
  expect(urls).toContain(`${world.small.origin}/blog`);
});
