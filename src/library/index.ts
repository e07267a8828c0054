import { createExtraction } from '../capabilities/jobs/extraction.ts';
import type { ScrapeResult } from '../capabilities/jobs/results/job-reader.ts';
import type { MapResult } from '../capabilities/jobs/results/map-result.ts';
import type { PageResult } from '../capabilities/jobs/results/page-result.ts';
import { OPENERS } from '../wiring/shell.ts';
import { type Crawl, type CrawlOptions, createCrawl } from './crawl.ts';
import {
  type ExtractOptions,
  librarySettings,
  type MapOptions,
  openScrapifie,
  openWithPlace,
  type PageInput,
  readGiven,
  type ScrapeOptions,
  type Scrapifie,
  type ScrapifieOptions,
} from './scrapifie.ts';

/**
 * The library: what `import … from 'scrapifie'` gives. Each function opens a Scrapifie for its call and closes it;
 * `openScrapifie` opens one for several calls.
 */

export type { ErrorCode } from '../core/errors/registry.ts';
export { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
export type { PageDocument } from '../extract/rules/page-document.ts';
export type { Crawl, CrawlOptions, CrawlSummary } from './crawl.ts';
export type { CrawledPage, PageHooks, PipelineStep } from './page-hooks.ts';
export {
  type ExtractOptions,
  type MapOptions,
  openScrapifie,
  type PageInput,
  type ScrapeOptions,
  type Scrapifie,
  type ScrapifieOptions,
} from './scrapifie.ts';
export type { MapResult, PageResult, ScrapeResult };

/** Fetches one page and closes everything afterwards. */
export function scrape(url: string, options: ScrapeOptions & ScrapifieOptions = {}): Promise<ScrapeResult> {
  const [opening, rest] = split(options);
  return once(opening, (scrapifie) => scrapifie.scrape(url, rest));
}

/** Lists the URLs of a site. */
export function map(url: string, options: MapOptions & ScrapifieOptions = {}): Promise<MapResult> {
  const [opening, rest] = split(options);
  return once(opening, (scrapifie) => scrapifie.map(url, rest));
}

/** Crawls a site, or several: `for await (const page of crawl(url))`. Leaving the loop stops the crawl. */
export function crawl<Extracted = Readonly<Record<string, unknown>>>(
  urls: string | readonly string[],
  options: CrawlOptions<Extracted> & ScrapifieOptions = {},
): Crawl<Extracted> {
  const [opening, rest] = split(options);
  return createCrawl(urls, rest, async () => {
    const { scrapifie, place } = await openWithPlace(opening);
    return { ...place, release: () => scrapifie.close() };
  });
}

/** Reads a page that is there already. Nothing is fetched or stored. */
export async function extract(
  page: PageInput,
  options: ExtractOptions & Pick<ScrapifieOptions, 'settings' | 'plugins'> = {},
): Promise<PageResult> {
  const [opening, rest] = split(options);
  const reader = await OPENERS.openExtractor(1, librarySettings(opening).plugins);
  try {
    return await readGiven(createExtraction({ reader, now: Date.now }), page, rest);
  } finally {
    await reader.close();
  }
}

function split<T extends ScrapifieOptions>({ dataDir, settings, plugins, ...rest }: T) {
  const opening = {
    ...(dataDir && { dataDir }),
    ...(settings && { settings }),
    ...(plugins && { plugins }),
  };
  return [opening, rest] as const;
}

async function once<T>(options: ScrapifieOptions, work: (scrapifie: Scrapifie) => Promise<T>): Promise<T> {
  const scrapifie = await openScrapifie(options);
  try {
    return await work(scrapifie);
  } finally {
    await scrapifie.close();
  }
}
