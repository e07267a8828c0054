import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalidUrlsOf } from '../../../../capabilities/jobs/accept/job-draft.ts';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { batchRequestSchema, crawlRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import type { JobError } from '../../../../capabilities/jobs/results/job-reader.ts';
import type { ErrorCode } from '../../../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import type { Job } from '../../../../core/model/job.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf, originOf } from '../../../server/caller.ts';
import { Refusal } from '../failure.ts';
import { bodyOf, type FirecrawlDeps, givenBy, jobOf, readFirst, statusParts } from '../firecrawl-deps.ts';
import { crawlBody, crawlRequestOf, webhookField } from '../request/crawl-options.ts';
import {
  bodyFields,
  cacheRequestOf,
  derivedRequestOf,
  pageRequestOf,
  scrapeFields,
  viewOf,
} from '../request/scrape-options.ts';
import { crawlBodyOfV1, scrapeBodyOfV1 } from '../request/v1.ts';
import { documentsOf, jobWebhookOf, progressOf } from '../view/job-status.ts';

const MOST_ACTIVE = 200;

export function addCrawlRoutes(app: App, deps: FirecrawlDeps): void {
  const { jobs, idempotency, isV1, settings } = deps;

  const wish = readFirst((request) => {
    const body = bodyOf(crawlBody, isV1 ? crawlBodyOfV1(request.body) : request.body);
    const { scrapeOptions } = body;
    const asked = parseRequest(crawlRequestSchema, {
      ...crawlRequestOf(body),
      ...derivedRequestOf(scrapeOptions, body.zeroDataRetention),
    });
    const given = {
      ...givenBy(request),
      shownAs: viewOf(scrapeOptions, body),
      ...jobWebhookOf(body.webhook, 'crawl', apiKeyOf(request).accountId, settings),
    };
    return { asked, given };
  });

  app.route({
    method: 'POST',
    url: '/crawl',
    config: { access: 'jobs:write', creates: true },
    schema: { hide: true },
    preValidation: wish.preValidation,
    async handler(request) {
      const { asked, given } = wish.of(request);
      const { accountId } = apiKeyOf(request);
      const job = await idempotency.once(request, (id) => jobs.crawl(asked, accountId, { ...given, id }));
      return { success: true, id: job.id, url: `${addressOf(request)}/${job.id}` };
    },
  });

  for (const url of ['/crawl/active', '/crawl/ongoing']) {
    app.route({
      method: 'GET',
      url,
      config: { access: 'jobs:read' },
      schema: { hide: true },
      async handler(request) {
        const { accountId } = apiKeyOf(request);
        const found = await Promise.all(
          (['queued', 'running'] as const).map((status) =>
            jobs.list({ accountId, status, limit: MOST_ACTIVE }),
          ),
        );
        const crawls = found.flatMap(({ items }) => items).filter(({ kind }) => kind === 'crawl');
        return { success: true, crawls: crawls.map(activeView) };
      },
    });
  }

  addJobRoutes(app, '/crawl', deps);
}

function activeView({ id, accountId, seeds, createdAt, options }: Job) {
  const { scope, budgets, shownAs } = options;
  return {
    id,
    teamId: accountId,
    team_id: accountId,
    url: seeds[0] ?? '',
    created_at: new Date(createdAt).toISOString(),
    options: {
      limit: budgets.maxPages,
      maxDiscoveryDepth: scope.maxDepth,
      sitemap: scope.sitemap,
      allowExternalLinks: scope.allowExternal,
      allowSubdomains: scope.allowSubdomains,
      scrapeOptions: { formats: shownAs?.formats ?? options.page.formats },
    },
  };
}

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

/** v1 asks for the status of a batch under the path of crawls. */
const KINDS = ['crawl', 'batch'] as const;
const ERRORS_STEP = 1_000;
const MOST_ERRORS = 10_000;

const statusQuery = z.object({
  skip: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(100_000).optional(),
  after: z.string().max(200).optional(),
});

/** The address of the request without its query, as the client has written it. */
export const addressOf = (request: FastifyRequest): string =>
  `${originOf(request)}${request.originalUrl.split('?', 1)[0]}`;

/** Status, errors and cancel of a crawl or a batch, below its path. */
export function addJobRoutes(app: App, path: '/crawl' | '/batch/scrape', deps: FirecrawlDeps): void {
  const { jobs, isV1 } = deps;

  app.route({
    method: 'GET',
    url: `${path}/:id`,
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, KINDS);
      const { skip, limit, after } = parseRequest(statusQuery, request.query);
      // `after` is where the documents behind `skip` begin.
      const from = after === undefined ? { skip } : { after, skip: 0 };
      const { documents, isMore, next } = await documentsOf(job, from, statusParts(request, deps), limit);
      const query = new URLSearchParams({
        skip: String(skip + documents.length),
        ...(limit === undefined ? {} : { limit: String(limit) }),
        after: next.after ?? '',
      });
      return {
        ...progressOf(job),
        // Clients of v1 go on for as long as the key is there.
        ...(isMore ? { next: `${addressOf(request)}?${query}` } : {}),
        data: documents,
      };
    },
  });

  app.route({
    // A client of v1 asks for errors by DELETE.
    method: isV1 ? ['GET', 'DELETE'] : 'GET',
    url: `${path}/:id/errors`,
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, KINDS);
      const found: JobError[] = [];
      let cursor: string | undefined;
      do {
        const slice = await jobs.read.errors(job, { cursor, limit: ERRORS_STEP });
        found.push(...slice.items);
        cursor = slice.nextCursor ?? undefined;
      } while (cursor !== undefined && found.length < MOST_ERRORS);
      return {
        errors: found
          .filter((each) => !isRobots(each) && !isShown(each))
          .map((each, at) => errorView(each, job.id, at)),
        robotsBlocked: found.filter(isRobots).map(({ url }) => url),
      };
    },
  });

  app.route({
    method: 'DELETE',
    url: `${path}/:id`,
    config: { access: 'jobs:write' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, KINDS);
      try {
        await jobs.cancel(job.id, apiKeyOf(request).accountId);
      } catch (error) {
        if (!isScrapifieError(error) || error.code !== 'CONFLICT') throw error;
        const what = path === '/crawl' ? 'Crawl' : 'Batch scrape';
        throw new Refusal(
          409,
          `${what} is already ${job.status === 'cancelled' ? 'cancelled' : 'completed'}`,
        );
      }
      return { success: true, status: 'cancelled' };
    },
  });
}

const isRobots = ({ code }: JobError): boolean => code === 'ROBOTS_DISALLOWED';

/** Pages that a site has answered are documents, with the status that they have. */
const ANSWERED: ReadonlySet<ErrorCode> = new Set([
  'HTTP_ERROR',
  'HOST_RATE_LIMITED',
  'BLOCKED',
  'CAPTCHA',
  'ACTION_FAILED',
]);
const isShown = ({ code, attempts }: JobError): boolean =>
  code !== null && ANSWERED.has(code) && attempts.at(-1)?.statusCode !== null;

const errorView = ({ sourceUrl, code, message, finishedAt }: JobError, jobId: string, at: number) => ({
  id: `${jobId}-${at}`,
  ...(finishedAt === null ? {} : { timestamp: finishedAt }),
  url: sourceUrl,
  ...(code === null ? {} : { code }),
  error: message,
});
