import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { scrapeRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../../../../capabilities/jobs/results/job-reader.ts';
import type { Job } from '../../../../core/model/job.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import { bodyOf, type FirecrawlDeps, givenBy, jobOf, statusParts } from '../firecrawl-deps.ts';
import { webUrl } from '../request/crawl-options.ts';
import {
  bodyFields,
  cacheRequestOf,
  derivedRequestOf,
  pageRequestOf,
  scrapeFields,
  viewOf,
} from '../request/scrape-options.ts';
import { scrapeBodyOfV1 } from '../request/v1.ts';
import { changeTrackingOf } from '../view/change-tracking.ts';
import { documentOf, storedViewOf } from '../view/document.ts';

const scrapeBody = z.strictObject({
  url: webUrl,
  ...scrapeFields,
  ...bodyFields,
});

export function addScrapeRoutes(app: App, deps: FirecrawlDeps): void {
  const { jobs, isV1 } = deps;

  async function shown(request: FastifyRequest, result: ScrapeResult, job: Job) {
    const view = storedViewOf(job);
    const document = documentOf(result, { jobId: job.id, view, trace: result.trace, isV1 });
    const changeTracking = await changeTrackingOf(result, job, view, statusParts(request, deps));
    return { success: true, data: changeTracking === null ? document : { ...document, changeTracking } };
  }

  app.route({
    method: 'POST',
    url: '/scrape',
    config: { access: 'scrape' },
    schema: { hide: true },
    async handler(request, reply) {
      const body = bodyOf(scrapeBody, isV1 ? scrapeBodyOfV1(request.body) : request.body);
      const { accountId } = apiKeyOf(request);
      const asked = parseRequest(scrapeRequestSchema, {
        url: body.url,
        ...pageRequestOf(body),
        ...cacheRequestOf(body),
        ...derivedRequestOf(body, body.zeroDataRetention),
      });
      const given = { ...givenBy(request, reply), shownAs: viewOf(body, body) };
      const result = await jobs.scrapeNow(asked, accountId, given);
      return shown(request, result, await jobs.get(result.id, accountId));
    },
  });

  app.route({
    method: 'GET',
    url: '/scrape/:id',
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, ['scrape']);
      const result = await jobs.read.scraped(job.id, job.options.page, job.seeds[0] ?? '');
      return shown(request, result, job);
    },
  });
}
