import { z } from 'zod';
import { ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import { deeperThan, outsidePath, pathDepth, pathPattern } from './path-pattern.ts';
import { bodyFields, pageRequestOf, scrapeOptionsField } from './scrape-options.ts';
import { webUrl } from './web-url.ts';
import { webhookField } from './webhook-field.ts';

const patterns = z.array(z.string().min(1).max(500)).max(50).default([]);

export const crawlBody = z.strictObject({
  url: webUrl,
  includePaths: patterns,
  excludePaths: patterns,
  regexOnFullURL: z.boolean().default(false),
  maxDiscoveryDepth: z.number().int().min(0).max(100_000).optional(),
  /** The name in v1 for the most parts of the path below the start. */
  maxDepth: z.number().int().min(0).max(100).optional(),
  limit: z.number().int().min(1).max(10_000_000).default(10_000),
  sitemap: z.enum(['include', 'skip', 'only']).default('include'),
  crawlEntireDomain: z.boolean().default(false),
  allowExternalLinks: z.boolean().default(false),
  allowSubdomains: z.boolean().default(false),
  ignoreRobotsTxt: z.boolean().default(false),
  robotsUserAgent: z.string().optional(),
  deduplicateSimilarURLs: z.boolean().default(true),
  ignoreQueryParameters: z.boolean().default(false),
  delay: z.number().positive().max(60).optional(),
  maxConcurrency: z.number().int().min(1).max(10_000).optional(),
  prompt: z.string().optional(),
  webhook: webhookField,
  scrapeOptions: scrapeOptionsField.prefault({}),
  ...bodyFields,
});

export type CrawlBody = z.output<typeof crawlBody>;

const cannot = (option: string, why: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', `\`${option}\` is not available on this server: ${why}`);

/** A crawl as our own requests have it. */
export function crawlRequestOf(body: CrawlBody): Record<string, unknown> {
  const { url, scrapeOptions } = body;
  if (body.prompt !== undefined) throw cannot('prompt', 'no language model chooses the options of a crawl.');
  if (body.robotsUserAgent !== undefined)
    throw cannot('robotsUserAgent', 'robots.txt is read as the crawler that asks.');
  if (body.delay !== undefined) throw cannot('delay', 'the pace on each host is set by its policy.');
  const pattern = body.regexOnFullURL ? (source: string) => `re:${source}` : pathPattern;
  const outside = body.crawlEntireDomain ? null : outsidePath(url);
  const { maxDepth } = body;
  return {
    urls: [url],
    maxPages: body.limit,
    maxDepth: body.maxDiscoveryDepth ?? null,
    include: body.includePaths.map(pattern),
    exclude: [
      ...body.excludePaths.map(pattern),
      ...(outside === null ? [] : [outside]),
      ...(maxDepth === undefined ? [] : [deeperThan(pathDepth(url) + maxDepth)]),
    ],
    sitemap: body.sitemap,
    allowExternal: body.allowExternalLinks,
    allowSubdomains: body.allowSubdomains,
    ignoreQueryParameters: body.ignoreQueryParameters ? ['*'] : [],
    followCanonical: body.deduplicateSimilarURLs,
    concurrency: body.maxConcurrency ?? null,
    options: { ...pageRequestOf(scrapeOptions), ...(body.ignoreRobotsTxt ? { obeyRobots: false } : {}) },
  };
}
