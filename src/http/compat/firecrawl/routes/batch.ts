import { z } from 'zod';
import { invalidUrlsOf } from '../../../../capabilities/jobs/accept/job-draft.ts';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { batchRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import { ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import { bodyOf, type FirecrawlDeps, givenBy, readFirst } from '../firecrawl-deps.ts';
import { webhookField } from '../request/crawl-options.ts';
import {
  bodyFields,
  cacheRequestOf,
  derivedRequestOf,
  pageRequestOf,
  scrapeFields,
  viewOf,
} from '../request/scrape-options.ts';
import { scrapeBodyOfV1 } from '../request/v1.ts';
import { jobWebhookOf } from '../webhook-message.ts';
import { addJobRoutes, addressOf } from './job-routes.ts';

const batchBody = z.strictObject({
  urls: z.array(z.string().max(8_192)).min(1).max(10_000),
  ignoreInvalidURLs: z.boolean().optional(),
  appendToId: z.string().optional(),
  maxConcurrency: z.number().int().min(1).max(10_000).optional(),
  webhook: webhookField,
  ...scrapeFields,
  ...bodyFields,
});

export function addBatchRoutes(app: App, deps: FirecrawlDeps): void {
  const { jobs, idempotency, isV1, settings } = deps;

  const wish = readFirst((request) => {
    const body = bodyOf(batchBody, isV1 ? scrapeBodyOfV1(request.body) : request.body);
    if (body.appendToId !== undefined) {
      throw new ScrapifieError(
        'UNSUPPORTED_OPTION',
        '`appendToId` is not available on this server: start another batch.',
      );
    }
    // v2 leaves invalid URLs out; v1 refuses the request unless `ignoreInvalidURLs` is set.
    const ignoresInvalid = body.ignoreInvalidURLs ?? !isV1;
    const asked = parseRequest(batchRequestSchema, {
      urls: body.urls,
      ignoreInvalidUrls: ignoresInvalid,
      options: { ...pageRequestOf(body), ...cacheRequestOf(body) },
      concurrency: body.maxConcurrency ?? null,
      ...derivedRequestOf(body, body.zeroDataRetention),
    });
    const given = {
      ...givenBy(request),
      shownAs: viewOf(body, body),
      ...jobWebhookOf(body.webhook, 'batch_scrape', apiKeyOf(request).accountId, settings),
    };
    return { asked, given, ignoresInvalid };
  });

  app.route({
    method: 'POST',
    url: '/batch/scrape',
    config: { access: 'jobs:write', creates: true },
    schema: { hide: true },
    preValidation: wish.preValidation,
    async handler(request) {
      const { asked, given, ignoresInvalid } = wish.of(request);
      const { accountId } = apiKeyOf(request);
      const job = await idempotency.once(request, (id) => jobs.batch(asked, accountId, { ...given, id }));
      return {
        success: true,
        id: job.id,
        url: `${addressOf(request)}/${job.id}`,
        ...(ignoresInvalid ? { invalidURLs: invalidUrlsOf(asked).map(({ url }) => url) } : {}),
      };
    },
  });

  addJobRoutes(app, '/batch/scrape', deps);
}
