import { z } from 'zod';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { mapRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import { isScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import { Refusal } from '../failure.ts';
import { bodyOf, type FirecrawlDeps, givenBy } from '../firecrawl-deps.ts';
import { outsidePath, webUrl } from '../request/crawl-options.ts';
import { bodyFields, retentionRequestOf, scrapeFields } from '../request/scrape-options.ts';
import { mapBodyOfV1 } from '../request/v1.ts';

const mapBody = z.strictObject({
  url: webUrl,
  search: z.string().max(1_000).optional(),
  sitemap: z.enum(['only', 'include', 'skip']).default('include'),
  includeSubdomains: z.boolean().default(true),
  ignoreQueryParameters: z.boolean().default(true),
  limit: z.number().int().min(1).max(100_000).default(5_000),
  timeout: z.number().int().min(1_000).max(300_000).default(60_000),
  location: scrapeFields.location,
  headers: scrapeFields.headers,
  /** An option of v1: only URLs below the path of `url` are wanted. */
  filterByPath: z.boolean().default(false),
  ...bodyFields,
});

export function addMapRoutes(app: App, { jobs, isV1 }: FirecrawlDeps): void {
  app.route({
    method: 'POST',
    url: '/map',
    config: { access: 'scrape' },
    schema: { hide: true },
    async handler(request, reply) {
      const body = bodyOf(mapBody, isV1 ? mapBodyOfV1(request.body) : request.body);
      const { headers = {}, location } = body;
      const languages = location?.languages ?? [];
      const outside = body.filterByPath ? outsidePath(body.url) : null;
      const asked = parseRequest(mapRequestSchema, {
        url: body.url,
        sitemap: body.sitemap,
        allowSubdomains: body.includeSubdomains,
        ignoreQueryParameters: body.ignoreQueryParameters ? ['*'] : [],
        ...(outside === null ? {} : { exclude: [outside] }),
        search: body.search ?? null,
        ...retentionRequestOf(body.zeroDataRetention),
        limit: body.limit,
        timeoutMs: body.timeout,
        options: {
          headers: languages.length === 0 ? headers : { 'Accept-Language': languages.join(','), ...headers },
          ...(location?.country === undefined ? {} : { proxy: { country: location.country.toLowerCase() } }),
        },
      });
      const mapped = await jobs
        .mapNow(asked, apiKeyOf(request).accountId, givenBy(request, reply))
        .catch((error) => {
          const isLate = isScrapifieError(error) && error.code === 'REQUEST_TIMEOUT';
          throw isLate ? new Refusal(408, error.message, 'MAP_TIMEOUT') : error;
        });
      const { id, urls, pages, isTruncated } = mapped;
      return {
        success: true,
        id,
        links: isV1 ? urls : pages.map(({ url, title }) => ({ url, ...(title === null ? {} : { title }) })),
        ...(isTruncated ? { warning: `There are more URLs than the ${body.limit} of this answer.` } : {}),
      };
    },
  });
}
